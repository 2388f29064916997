//! Files that documents name.

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
