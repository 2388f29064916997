//! Rules of the repository, as tests: imports between layers, names and lengths of files, and where files belong.

mod circles;
mod documents;
mod source;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use reversi_needs::needs;

use source::{module_of, names, split, tokens};

/// A folder of `src`, here or in the engine's crate, and the layers and crates that it may name. A layer may name only
/// layers above it in the table, and `room`, `store` and `client`, which are crates of their own.
struct Layer {
    name: &'static str,
    layers: &'static [&'static str],
    crates: &'static [&'static str],
    /// Further permitted crates, each with the reason.
    also: &'static [(&'static str, &'static str)],
}

const LAYERS: &[Layer] = &[
    Layer { name: "rules", layers: &[], crates: &[], also: &[] },
    Layer { name: "search", layers: &[], crates: &["rand"], also: &[] },
    Layer {
        name: "ai",
        layers: &["rules", "search"],
        crates: &["rand"],
        also: &[("rand_pcg", "a seed gives the same game in every version")],
    },
    Layer { name: "match_statistics", layers: &[], crates: &[], also: &[] },
    Layer {
        name: "runtime",
        layers: &["rules", "search", "room", "store", "tournament", "match_statistics", "ai"],
        crates: &["tokio", "tokio_util", "dashmap", "tracing", "metrics"],
        also: &[
            ("thiserror", "one error enum per operation"),
            ("bytes", "an event is encoded once and shared by its watchers"),
            ("foldhash", "finds rooms and players by their ids"),
            ("rand", "randomness is drawn here and passed down"),
            ("rand_pcg", "the generators that are passed down"),
            ("sha2", "tokens are kept hashed"),
            ("argon2", "passwords are kept hashed"),
            ("subtle", "hashes of tokens are compared in constant time"),
            ("arc_swap", "limits and bans that can be replaced"),
            ("ipnet", "banned networks"),
            ("governor", "rate limits per player and per address"),
            ("unicode_security", "names that look alike"),
            ("thread_priority", "search threads yield to those that serve players"),
        ],
    },
    Layer {
        name: "proto",
        layers: &["rules", "match_statistics", "room"],
        crates: &["tonic", "prost"],
        also: &[
            ("tonic_prost", "the generated code names it"),
            ("prost_types", "timestamps and durations"),
            ("prost_reflect", "the fields that an update mask names"),
            ("serde_json", "messages as JSON"),
            ("bytes", "a message that is encoded once"),
            ("reversi_client", "the messages are generated there"),
        ],
    },
    Layer {
        name: "grpc",
        layers: &["rules", "room", "tournament", "runtime", "proto"],
        crates: &[
            "tonic",
            "tonic_web",
            "tonic_health",
            "tonic_reflection",
            "tonic_types",
            "tower",
            "tokio_stream",
            "tracing",
        ],
        also: &[
            ("ai", "the kinds and levels that GetServerInfo lists, and the results of analyses"),
            ("axum", "serves the page; tonic routes with it anyway"),
            ("tower_http", "answers INTERNAL for a call that panics; CORS"),
            ("arc_swap", "certificates that can be replaced"),
            ("ipnet", "networks of trusted proxies"),
            ("ppp", "headers of the PROXY protocol"),
            ("rustix", "looks at the first bytes of a UNIX socket's connection"),
            ("tokio_rustls", "TLS with both HTTP/2 and HTTP/1.1 by ALPN"),
            ("x509_cert", "when a certificate expires"),
            ("futures_util", "streams made from a state"),
            ("http", "the headers of calls and answers, and CORS"),
            ("httpdate", "the dates of answers"),
            ("http_body", "the end of an answer, and the bodies of streams"),
            ("tokio", "the listener, and the timers of heartbeats"),
            ("tokio_util", "every stream ends with the shutdown token"),
            ("prost", "streams send messages"),
            ("prost_types", "timestamps and durations"),
            ("bytes", "messages that are encoded once"),
            ("thiserror", "one error enum per operation"),
            ("serde_json", "exports games as JSON"),
            ("sha2", "a page token has the hash of its filter"),
        ],
    },
    Layer {
        name: "web",
        layers: &[],
        crates: &["axum", "bytes", "http"],
        also: &[
            ("include_dir", "the files of the page, in the binary"),
            ("flate2", "compresses them"),
            ("crc32fast", "identifies versions of a file"),
            ("tower_http", "the headers of each answer"),
        ],
    },
    Layer {
        name: "cli",
        layers: &[
            "rules",
            "search",
            "ai",
            "match_statistics",
            "room",
            "store",
            "tournament",
            "runtime",
            "proto",
            "grpc",
            "client",
            "web",
        ],
        crates: &["clap", "anyhow", "ratatui", "indicatif"],
        also: &[
            ("crossterm", "the keys of the terminal screens"),
            ("clap_complete", "completions for shells"),
            ("clap_mangen", "man pages"),
            ("strsim", "finds the variable that was meant"),
            ("toml_edit", "the settings of a tournament in a file"),
            ("prost_types", "when a tournament starts"),
            ("prost_reflect", "tests that each setting has a command"),
            ("rustix", "stops the process for Ctrl-Z"),
            ("axum", "serves the page of metrics"),
            ("metrics", "reads the descriptions, for the reference"),
            ("metrics_exporter_prometheus", "writes what the runtime counts"),
            ("tokio", "starts the runtime and handles signals"),
            ("tokio_stream", "reads the streams of the client"),
            ("tokio_util", "the shutdown token"),
            ("tracing", "logs what it does"),
            ("tracing_subscriber", "sets up the log"),
            ("tracing_appender", "writes the log on a thread of its own"),
            ("sd_notify", "tells systemd that the server is ready, reloads or stops"),
            ("rlimit", "a connection is an open file"),
            ("procfs", "what the process uses, for its metrics"),
            ("directories", "the system's folder for application data"),
            ("tracing_opentelemetry", "exports the spans of the log, with the feature `otel`"),
            ("opentelemetry", "the spans of the feature `otel`"),
            ("opentelemetry_sdk", "collects them"),
            ("opentelemetry_otlp", "sends them"),
            ("futures_util", "positions are analysed in parallel, and printed in order"),
            ("rand", "draws seeds that no option sets"),
            ("rand_pcg", "the arena repeats games by seed"),
            ("thiserror", "one error enum per operation"),
            ("serde_json", "results of the arena and of analyses, for other programs"),
            ("shlex", "splits the command lines of engines"),
            ("sha2", "identifies games that are imported twice, by hash"),
            ("tonic", "its URIs, of servers"),
            ("tonic_health", "asks a server for its health"),
            ("tempfile", "files for tests"),
        ],
    },
    // src/main.rs and src/lib.rs.
    Layer { name: "main", layers: &["cli"], crates: &[], also: &[] },
    Layer {
        name: "lib",
        layers: &[],
        crates: &["reversi_client", "reversi_engine", "reversi_room", "reversi_store", "reversi_tournament"],
        also: &[],
    },
];

/// Crates that tests inside `src` may also name.
const TEST_CRATES: [&str; 6] = ["proptest", "tokio", "metrics_util", "rand", "rand_pcg", "rcgen"];

/// The source folders of the libraries.
const SOURCES: [&str; 6] = [
    "src",
    "crates/reversi-client/src",
    "crates/reversi-engine/src",
    "crates/reversi-room/src",
    "crates/reversi-store/src",
    "crates/reversi-tournament/src",
];

const MAX_LINES: usize = 600;

/// Maximum number of source files in a folder.
const MAX_FILES: usize = 20;

/// Maximum number of types with the same name, except `Args` of commands. The client's types are not counted.
const MAX_MEANINGS: usize = 2;

/// Names that do not say what a file has.
const VAGUE_NAMES: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "manager", "info", "data"];

/// In parts, so that a search for them finds only real ones.
const UNFINISHED_COMMENTS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const UNFINISHED_MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

const TOP_LEVEL: [&str; 23] = [
    ".ci",
    // How SQLite is compiled.
    ".cargo",
    ".clippy.toml",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "benches",
    "build.rs",
    "clients",
    "crates",
    "deploy",
    "docs",
    "fuzz",
    "proto",
    "rustfmt.toml",
    "src",
    "tests",
    "tools",
    "web",
];

#[test]
fn layers_name_only_what_they_may() {
    let dependencies = dependencies(&read(&root().join("Cargo.toml")));
    no_problems(
        sources(&["src", "crates/reversi-engine/src"])
            .iter()
            .flat_map(|file| import_problems(&file.path, &file.text, &dependencies)),
    );
}

#[test]
fn layers_depend_only_on_layers_above() {
    for (row, layer) in LAYERS.iter().enumerate() {
        for named in layer.layers {
            assert!(!LAYERS[row..].iter().any(|below| below.name == *named), "{} before {named}", layer.name);
        }
    }
}

#[test]
fn files_are_short_finished_and_specifically_named() {
    no_problems(sources(&["src", "crates", "tools", "tests", "benches", "fuzz/fuzz_targets"]).iter().flat_map(
        |file| {
            let checks = [length_problems, name_problems, unfinished_problems];
            checks.into_iter().flat_map(|check| check(&file.path, &file.text))
        },
    ));
}

#[test]
fn type_names_have_few_meanings() {
    no_problems(meaning_problems(&sources(&["src", "crates/reversi-engine/src"])).into_iter());
}

#[test]
fn folders_start_with_documentation() {
    no_problems(contract_problems(&sources(&SOURCES)).into_iter());
}

#[needs(git)]
#[test]
fn files_are_in_their_folders() {
    no_problems(place_problems(tracked_files().lines()).into_iter());
}

struct File {
    /// From the root of the repository, with `/`.
    path: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust files below `folders`, sorted; a folder that does not exist has none.
fn sources(folders: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("a readable folder").path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).expect("below the root");
                let name = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
                found.push(File { path: name.join("/"), text: read(&path) });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn tracked_files() -> String {
    let listed = Command::new("git").arg("ls-files").current_dir(root()).output().expect("git");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).expect("text")
}

fn no_problems(problems: impl Iterator<Item = String>) {
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// The names of all crates in the dependency tables, as spelled in code.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            let (table, name) = table.trim_end_matches(']').split_once("dependencies").unwrap_or((table, "."));
            inside = name.is_empty() && (table.is_empty() || table.ends_with(['-', '.']));
            found.extend(name.strip_prefix('.').map(str::to_owned));
        } else if inside
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(['=', '.'])
        {
            found.insert(name.trim().to_owned());
        }
    }
    found.iter().filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

fn import_problems(path: &str, text: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let module = module_of(path);
    let name = match path {
        "src/main.rs" => "main",
        _ => module.first().map_or("lib", String::as_str),
    };
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return vec![format!("{path}: `{name}` is not in the table of layers")];
    };
    let test_file = path.ends_with("/tests.rs") || path.contains("/tests/");
    let mut problems = Vec::new();
    for named in names(text, &module) {
        let it = named.path[0].as_str();
        let allowed = layer.also.iter().any(|(also, _)| *also == it)
            || if named.is_local {
                it == name || layer.layers.contains(&it)
            } else {
                !dependencies.contains(it)
                    || layer.crates.contains(&it)
                    || (named.in_test || test_file) && TEST_CRATES.contains(&it)
            };
        if !allowed {
            problems.push(format!("{path}:{}: `{name}` may not name `{it}`", named.line));
        }
    }
    problems
}

fn length_problems(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let problem = (lines > MAX_LINES).then(|| format!("{path}: {lines} lines, at most {MAX_LINES}"));
    problem.into_iter().collect()
}

fn name_problems(path: &str, _: &str) -> Vec<String> {
    let parts = path.trim_end_matches(".rs").split('/');
    parts.filter(|part| VAGUE_NAMES.contains(part)).map(|part| format!("{path}: `{part}` says nothing")).collect()
}

fn unfinished_problems(path: &str, text: &str) -> Vec<String> {
    let split = split(text);
    let mut found = Vec::new();
    for (line, comment) in (1..).zip(split.comments.lines()) {
        found.extend(UNFINISHED_COMMENTS.iter().filter(|word| comment.contains(**word)).map(|word| (line, *word)));
    }
    for pair in tokens(&split.code).windows(2).filter(|pair| pair[1].text == "!") {
        found.extend(UNFINISHED_MACROS.iter().filter(|name| pair[0].text == **name).map(|name| (pair[0].line, *name)));
    }
    found.iter().map(|(line, word)| format!("{path}:{line}: {word}: finish it or leave it out")).collect()
}

/// The types that are defined in more than [`MAX_MEANINGS`] places of `files`.
fn meaning_problems(files: &[File]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files {
        for line in split(&file.text).code.lines() {
            let is_visibility = |word: &&str| word.starts_with("pub") || word.ends_with(')');
            let words: Vec<_> = line.split_whitespace().skip_while(is_visibility).collect();
            if let ["struct" | "enum" | "trait" | "type", name, ..] = words[..]
                && !line.starts_with(' ')
            {
                let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(name);
                places.entry(name.to_owned()).or_default().push(&file.path);
            }
        }
    }
    let crowded = places.iter().filter(|(name, places)| places.len() > MAX_MEANINGS && *name != "Args");
    crowded.map(|(name, places)| format!("`{name}` means {} things: {}", places.len(), places.join(", "))).collect()
}

/// The folders without a contract: each needs a `mod.rs`, or `lib.rs` for `src`, that starts with documentation.
fn contract_problems(files: &[File]) -> Vec<String> {
    let folders: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0)).collect();
    let heads = folders.into_iter().map(|folder| {
        let head = if folder == "src" || folder.ends_with("/src") { "lib.rs" } else { "mod.rs" };
        format!("{folder}/{head}")
    });
    heads
        .filter(|head| !files.iter().any(|file| file.path == *head && file.text.starts_with("//! ")))
        .map(|head| format!("{head}: does not open with a `//!` contract"))
        .collect()
}

fn place_problems<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut problems = BTreeSet::new();
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let top = file.split('/').next().unwrap_or(file);
        if !TOP_LEVEL.contains(&top) {
            problems.insert(format!("{top}: not at the top level"));
        }
        if file.ends_with(".proto") && top != "proto" {
            problems.insert(format!("{file}: the contract lies in proto/"));
        }
        if [".rs", ".ts", ".tsx"].iter().any(|extension| file.ends_with(extension)) {
            *sources.entry(file.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
        }
    }
    let large = sources.into_iter().filter(|(_, files)| *files > MAX_FILES);
    problems.extend(large.map(|(folder, files)| format!("{folder}: {files} sources, at most {MAX_FILES}")));
    problems.into_iter().collect()
}

/// Checks that there is one problem for each text, in order, that contains it.
#[track_caller]
fn expect(problems: &[String], expected: &[&str]) {
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, part) in problems.iter().zip(expected) {
        assert!(problem.contains(part), "{problem:?} is not about {part:?}");
    }
}

#[track_caller]
fn expect_imports(path: &str, text: &str, expected: &[&str]) {
    let manifest =
        "[dependencies]\ntokio-util = \"1\"\nrand = { version = \"1\" }\n[dev-dependencies]\nproptest = \"1\"";
    expect(&import_problems(path, text, &dependencies(manifest)), expected);
}

#[test]
fn a_forbidden_import_is_found() {
    expect_imports("src/rules/square.rs", "use std::fmt;\nuse crate::rules::Board;\nuse super::Side;", &[]);
    expect_imports(
        "src/rules/square.rs",
        "\n\nuse crate::{rules::Board, room::Room};",
        &["square.rs:3: `rules` may not name `room`"],
    );
    expect_imports("src/rules/mod.rs", "pub use super::room::*; use super::*;", &["`room`", "`*`"]);
    expect_imports(
        "src/ai/mod.rs",
        "use crate::rules::Board; use rand::Rng; use tokio_util::sync::X;",
        &["`tokio_util`"],
    );
    expect_imports("src/ai/mod.rs", "// use crate::room;\nconst A: &str = \"crate::room\"; use serde::X;", &[]);
    expect_imports("src/ai/mod.rs", "use crate::Shortcut;", &["Shortcut"]);
    expect_imports("crates/reversi-engine/src/rules/mod.rs", "use crate::search::Game;", &["`rules` may not name"]);
    expect_imports("src/main.rs", "fn main() { reversi::cli::main(); reversi::room::f(); }", &["room"]);
    expect_imports("src/lib.rs", "pub mod rules; pub mod room;", &[]);
}

#[test]
fn tests_may_import_more_than_code() {
    let tests = "#[cfg(test)]\n#[allow(dead_code)]\nmod tests { use proptest::prelude::*; use crate::room; }\n";
    expect_imports("src/rules/square.rs", tests, &["square.rs:3: `rules` may not name `room`"]);
    expect_imports("src/rules/square.rs", &format!("{tests}use proptest::a;"), &["room", "square.rs:4"]);
    expect_imports("src/rules/tests.rs", "use proptest::prelude::*; use tokio_util::sync;", &["tokio_util"]);
}

#[test]
fn an_unknown_layer_is_found() {
    expect_imports("src/games/mod.rs", "", &["`games` is not in the table"]);
    expect_imports("src/games.rs", "", &["`games` is not in the table"]);
}

#[test]
fn dependencies_are_read_from_every_table() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\n# a = b\na-b = \"1\"\nc.version = \"1\"\n\n[dependencies.d]\ne = 1\n\
                    [target.'cfg(unix)'.dev-dependencies]\nf = \"1\"\n[lints.rust]\ng = \"warn\"";
    assert_eq!(dependencies(manifest).iter().collect::<Vec<_>>(), ["a_b", "c", "d", "f"]);
}

#[test]
fn long_vague_and_unfinished_files_are_found() {
    expect(&length_problems("a.rs", &"\n".repeat(MAX_LINES)), &[]);
    expect(&length_problems("a.rs", &"\n".repeat(MAX_LINES + 1)), &["601 lines"]);
    expect(&name_problems("src/rules/information.rs", ""), &[]);
    expect(&name_problems("src/common/utils.rs", ""), &["`common`", "`utils`"]);
    let ([first, second], [name, ..]) = (UNFINISHED_COMMENTS, UNFINISHED_MACROS);
    expect(&unfinished_problems("a.rs", &format!("fn todo() {{ f(\"{first}\"); if !dbg {{}} }}")), &[]);
    expect(
        &unfinished_problems("a.rs", &format!("// {first}\n/* {second} */ fn f() {{ {name}!() }}")),
        &[&format!("a.rs:1: {first}"), second, name],
    );
}

#[test]
fn a_folder_without_documentation_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let good =
        [file("src/lib.rs", "//! A map."), file("src/rules/mod.rs", "//! Rules."), file("src/rules/side.rs", "")];
    expect(&contract_problems(&good), &[]);
    let bad =
        [file("src/lib.rs", "mod a;"), file("src/a/mod.rs", "// No.\n//! Late."), file("src/a/b/c.rs", "//! Yes.")];
    expect(&contract_problems(&bad), &["src/lib.rs", "src/a/mod.rs", "src/a/b/mod.rs"]);
}

#[test]
fn a_misplaced_file_is_found() {
    expect(&place_problems("src/lib.rs\nproto/reversi/v1/a.proto\nREADME.md".lines()), &[]);
    let crowd: Vec<_> = (0..=MAX_FILES).map(|number| format!("web/{number}.ts")).collect();
    expect(&place_problems(crowd.iter().map(String::as_str)), &["web: 21 sources, at most 20"]);
    expect(&place_problems("notes/a.md\nnotes/b.md\nclients/a.proto".lines()), &["clients/a.proto", "notes: not at"]);
}

#[test]
fn a_type_name_with_many_meanings_is_found() {
    let text = "pub(crate) struct Game<T>(T);\nmod inner {\n    struct Row;\n}\nenum Row { A }\ntype Args = ();\n";
    let files = [1, 2, 3].map(|number| File { path: format!("src/{number}.rs"), text: text.to_owned() });
    expect(&meaning_problems(&files[..2]), &[]);
    expect(&meaning_problems(&files), &["`Game` means 3 things: src/1.rs, src/2.rs, src/3.rs", "`Row` means 3"]);
}
