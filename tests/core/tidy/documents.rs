//! Files and headings that documents name.

use reversi_needs::needs;

use super::{TOP_LEVEL, no_problems, read, root, tracked_files};

#[needs(git)]
#[test]
fn documents_name_files_that_exist() {
    let files = tracked_files();
    let documents = files.lines().filter(|file| file.ends_with(".md"));
    no_problems(documents.flat_map(|path| {
        let named = named_files(path, &read(&root().join(path)));
        let missing = named.into_iter().filter(|file| !root().join(file).exists());
        missing.map(move |file| format!("{path}: {file} does not exist")).collect::<Vec<_>>()
    }));
}

#[needs(git)]
#[test]
fn links_lead_to_headings_that_exist() {
    let files = tracked_files();
    let documents = files.lines().filter(|file| file.ends_with(".md"));
    no_problems(documents.flat_map(|path| {
        let text = read(&root().join(path));
        let missing = named_headings(path, &text).into_iter().filter(|(file, heading)| {
            let is_there = |text: &str| headings(text).any(|there| there == *heading);
            let target = root().join(file);
            target.extension().is_some_and(|end| end == "md") && target.exists() && !is_there(&read(&target))
        });
        missing.map(move |(file, heading)| format!("{path}: {file} has no heading {heading}")).collect::<Vec<_>>()
    }));
}

/// The files and headings of a document's relative links with a `#`.
fn named_headings(path: &str, text: &str) -> Vec<(String, String)> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let links = targets.filter(|target| !target.contains(':')).filter_map(|target| target.split_once('#'));
    let file = |file: &str| match file {
        "" => path.to_owned(),
        _ => format!("{folder}/{file}").trim_start_matches('/').to_owned(),
    };
    links.map(|(target, heading)| (file(target), heading.to_owned())).collect()
}

/// The headings of a document as links name them: in lower case, without punctuation, with `-` for spaces.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let lines = text.split("```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with('#'));
    lines.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
    })
}

/// The targets of a document's relative links. At the top level and in `docs` also the paths in backticks that begin
/// with a folder of the top level; other documents name paths from their own folders.
fn named_files(path: &str, text: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let links = targets.filter(|target| !target.is_empty() && !target.contains(':'));
    let is_path_letter = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let is_path = |code: &&str| {
        let top = code.split_once('/').map_or("", |(top, _)| top);
        ["", "docs"].contains(&folder) && TOP_LEVEL.contains(&top) && code.chars().all(is_path_letter)
    };
    let paths = text.split('`').skip(1).step_by(2).filter(is_path).map(str::to_owned);
    links.map(|link| format!("{folder}/{link}").trim_start_matches('/').to_owned()).chain(paths).collect()
}

#[test]
fn links_and_paths_of_documents_are_found() {
    let text =
        "[a](b.md#c) [d](../e/f.rs) [g](https://h.org/i) [j](#k) `src/l.rs`\n```sh\ncat `m`\n```\n`src/n m` `o/p`";
    assert_eq!(named_files("docs/q.md", text), ["docs/b.md", "docs/../e/f.rs", "src/l.rs"]);
    assert_eq!(named_files("web/r.md", text), ["web/b.md", "web/../e/f.rs"]);
    assert_eq!(named_files("s.md", "[t](u)"), ["u"]);
}

#[test]
fn linked_headings_are_found() {
    let text = "# A `b`, c\n```sh\n# d\n```\n## E-f\n[g](h.md#i) [j](#a-b-c) [k](https://l.org/m#n) [o](p.md)";
    assert_eq!(headings(text).collect::<Vec<_>>(), ["a-b-c", "e-f"]);
    let named = [("docs/h.md", "i"), ("docs/q.md", "a-b-c")].map(|(file, heading)| (file.into(), heading.into()));
    assert_eq!(named_headings("docs/q.md", text), named);
}
