//! Files and headings that documents name, and addresses in example commands.

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

/// Tokens and passwords must not go over a network in plain text because someone copied an example. A port of a container is
/// published on all interfaces unless an address stands before it.
#[needs(git)]
#[test]
fn example_commands_serve_other_machines_by_tls_only() {
    let files = tracked_files();
    let examples = files.lines().filter(|file| file.ends_with(".md") || file.starts_with("deploy/"));
    no_problems(examples.flat_map(|path| {
        let text = read(&root().join(path)).replace("\\\n", "");
        let open = text.lines().filter(|line| is_open(line)).map(|line| format!("{path}: in plain text: {line}"));
        open.collect::<Vec<_>>()
    }));
}

fn is_open(line: &str) -> bool {
    let words: Vec<&str> = line.split([' ', '=', '"', '[', ']', '`']).collect();
    let follows = |option: &str, is_value: &dyn Fn(&str) -> bool| {
        words.windows(2).any(|pair| pair[0] == option && is_value(pair[1]))
    };
    let is_any = |address: &str| ["0.0.0.0:", "*:", ":"].iter().any(|any| address.starts_with(any));
    let is_port = |ports: &str| ports.split(':').take(2).all(|port| port.parse::<u16>().is_ok());
    let listens =
        follows("--listen", &is_any) || ["--listen [::]", "--listen=[::]"].iter().any(|any| line.contains(any));
    listens && !line.contains("--tls-cert") || follows("-p", &is_port) || follows("ports:", &is_port)
}

#[test]
fn open_example_commands_are_found() {
    for open in
        ["reversi serve --listen 0.0.0.0:1 --insecure", "x --listen=[::]:1", "docker run -p 50051:50051 reversi"]
    {
        assert!(is_open(open), "{open}");
    }
    for closed in [
        "reversi serve --listen 0.0.0.0:1 --tls-cert a --tls-key b",
        "reversi serve --listen 10.0.0.1:1 --insecure",
        "docker run -p 127.0.0.1:1:1 reversi",
        "ports: [\"127.0.0.1:1:1\"]",
    ] {
        assert!(!is_open(closed), "{closed}");
    }
}
