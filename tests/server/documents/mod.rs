//! What the documents print for a shell is run, page by page and in their order.

mod lines;
mod page;
mod table;

use std::{fs, path::Path};

use reversi_needs::needs;

use self::{
    lines::{Line, blocks},
    page::{Page, begins},
    table::{ANSWERED, LONG_RUNNING, NOT_RUN},
};
use crate::cli::bots::{GO_BOT, PYTHON, program};
#[cfg(feature = "postgres")]
use crate::harness::postgres::database;

/// The pages that the tests here run.
const PAGES: &[&str] = &[
    "README.md",
    "clients/python/README.md",
    "docs/clients.md",
    "docs/cluster.md",
    "docs/matches.md",
    "docs/operations.md",
    "docs/records.md",
    "docs/tournaments.md",
    "docs/tutorial.md",
];

/// The folder of a server's data, by default.
const DATA: &str = "~/.local/share/reversi";

/// The bot of the README calls the server of the test.
const FIRST_BOT: (&str, &str) = ("first_bot.py", "<(sed 's/127.0.0.1:50051/{address}/' first_bot.py)");

#[test]
fn all_pages_with_commands_are_run_and_no_rule_is_left_over() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = fs::read_dir(root.join("docs")).unwrap().map(|page| page.unwrap().file_name());
    let mut names: Vec<_> = documents.map(|page| format!("docs/{}", page.to_str().unwrap())).collect();
    names.extend(["README.md", "clients/python/README.md"].map(str::to_owned));
    names.sort_unstable();
    let pages = names.iter().map(|name| (name, blocks(&fs::read_to_string(root.join(name)).unwrap())));
    let (names, blocks): (Vec<_>, Vec<_>) = pages.filter(|(_, blocks)| !blocks.is_empty()).unzip();
    assert_eq!(names, PAGES);
    let lines: Vec<_> = blocks.into_iter().flatten().flatten().collect();
    let is_printed = |start: &str| lines.iter().any(|line| matches!(line, Line::Run(line) if begins(line, start)));
    for (start, _) in LONG_RUNNING.iter().chain(NOT_RUN) {
        assert!(is_printed(start), "no document prints {start:?}");
    }
    for (typed, _) in ANSWERED {
        assert!(lines.contains(&Line::Type((*typed).to_owned())), "no document prints {typed:?}");
    }
}

#[needs(python)]
#[test]
fn the_readme() {
    first_bot("README.md", &[("cargo run --release -- ", "reversi "), ("cargo run --release", "reversi")]);
}

#[needs(python)]
#[test]
fn the_tutorial() {
    first_bot("docs/tutorial.md", &[]);
}

fn first_bot(name: &str, table: &[(&'static str, &str)]) {
    let mut page = Page::open(name, &[table, &[FIRST_BOT]].concat());
    let bot = include_str!("../../../README.md").split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    page.write("first_bot.py", bot);
    page.link(program(PYTHON).parent().unwrap().parent().unwrap(), ".venv");
    page.run();
}

#[needs(python)]
#[test]
fn the_readme_of_the_bot_in_python() {
    let python = program(PYTHON).display().to_string();
    let table = [
        ("python clients/", &format!("{python} clients/")[..]),
        ("python -m", &format!("{python} -m")),
        ("roxanne 1", "roxanne 0"),
        ("127.0.0.1:50051", "{address}"),
    ];
    let mut page = Page::open("clients/python/README.md", &table);
    page.serve("reversi serve");
    page.run();
}

#[needs(python)]
#[needs(go_bot)]
#[needs(node_bot)]
#[test]
fn the_page_for_clients() {
    let (python, go, node) = (program(PYTHON), program(GO_BOT), program("REVERSI_NODE_BOT"));
    let mut page = Page::open(
        "docs/clients.md",
        &[
            ("python clients/", &format!("{} clients/", python.display())),
            ("roxanne 1", "roxanne 0"),
            ("go run .", go.to_str().unwrap()),
            ("bot.mjs", node.to_str().unwrap()),
            ("127.0.0.1:50051", "{address}"),
            // A name is kept after its first game.
            ("--name ada --keep ada.token", "--name ada --keep ada.token --side black <<< $'resign\nquit'"),
            ("https://a.example.org:50051,https://b.example.org:50051", "{url},{url}"),
            ("a.example.org:50051,b.example.org:50051", "{address},{address}"),
        ],
    )
    .only_last_block(false);
    page.serve("reversi serve");
    page.run_line("", "reversi bot --name nova --keep nova.token --vs greedy --games 1");
    page.run();
}

#[needs(buf)]
#[test]
fn the_calls_by_hand() {
    let buf = program("REVERSI_BUF");
    let table = [("npx buf", buf.to_str().unwrap()), ("127.0.0.1:50051", "{address}")];
    let mut page = Page::open("docs/clients.md", &table).only_last_block(true);
    page.serve("reversi serve");
    page.run();
}

#[test]
fn the_page_about_matches() {
    let mut page = Page::open(
        "docs/matches.md",
        &[
            ("edax -nboard", "reversi engine --nboard --level 1"),
            ("./engine --gtp", "reversi engine --gtp --level 1"),
            // Strong AIs take minutes.
            ("alphabeta", "greedy"),
            ("expert:16@100ms", "expert:2@1ms"),
            ("mcts-roxanne@100ms", "mcts-roxanne@1ms"),
            ("expert:9", "expert:2"),
            ("expert:7", "expert:1"),
            ("expert:12", "expert:1"),
            ("--sprt 0,50", "--sprt 0,400"),
        ],
    );
    page.serve("reversi serve");
    page.open_room("--white random", "room ");
    page.run();
}

#[test]
fn the_page_about_tournaments() {
    let mut page = Page::open(
        "docs/tournaments.md",
        &[
            ("./nova1 --gtp", "reversi engine --gtp --level 1"),
            ("./nova2 --gtp", "reversi engine --gtp --level 2"),
            // Strong AIs and long meetings take minutes.
            ("alphabeta", "greedy"),
            ("mcts:5", "mcts:1"),
            ("--ai mcts", "--ai roxanne"),
            ("--games 100", "--games 2"),
        ],
    );
    page.serve("reversi serve");
    page.run();
}

#[test]
fn the_page_about_records() {
    records(&[]);
}

#[cfg(feature = "postgres")]
#[needs(postgres)]
#[test]
fn the_page_about_records_with_postgresql() {
    let url = database().url();
    records(&[("--data DIR", &format!("--store '{url}'"))]);
}

/// Runs the page on the store of an option if there is one.
fn records(store: &[(&'static str, &str)]) {
    let mut page = Page::open("docs/records.md", &[store, &[("DIR", DATA)]].concat());
    page.write("game.ggf", "(;GM[Othello]PB[ann]PW[alphabeta-4]RE[?]TY[8]B[f5]W[f4]B[e3]W[f6];)");
    // Of 2004, with one game.
    let (head, game) =
        ([20, 4, 1, 2, 1, 0, 0, 0, 0, 0, 0xD4, 0x07, 8, 0, 22, 0], [1, 0, 1, 0, 0, 0, 40, 40, 56, 64, 33]);
    page.write("WTH_2004.wtb", [&head[..], &game, &[0; 57]].concat());
    let stored = store.first().map_or("", |(_, option)| option);
    page.serve(&format!("reversi serve {stored}"));
    page.run_line("", "reversi bot --name ada --vs greedy --games 1");
    page.run();
}

#[cfg(feature = "postgres")]
#[needs(postgres)]
#[needs(openssl)]
#[test]
fn the_page_about_several_servers() {
    let url = format!("'{}'", database().url());
    let table = [
        ("postgres://reversi@db.example.org/reversi", &url[..]),
        ("0.0.0.0:50051", "0.0.0.0:0"),
        ("10.0.0.1:50061", "127.0.0.1:0"),
        ("10.0.0.1", "127.0.0.1"),
        ("drain 7", "drain 1"),
    ];
    let mut page = Page::open("docs/cluster.md", &table);
    certificate(&page);
    page.run();
}

#[cfg(feature = "postgres")]
#[needs(postgres)]
#[needs(openssl)]
#[needs(sqlite3)]
#[test]
fn the_page_about_operations() {
    let (database, folder) = (database(), database().server.folder().display().to_string());
    let host = folder.replace('/', "%2F");
    let mut page = Page::open(
        "docs/operations.md",
        &[
            ("psql reversi", &format!("psql '{}'", database.url())),
            ("createdb reversi", &format!("createdb -h {folder} -U reversi operations")),
            ("db.example.org/reversi?sslmode=verify-full", "db.example.org/reversi"),
            ("db.example.org/reversi", &format!("{host}/operations")),
            (" reversi.db ", &format!(" {DATA}/reversi.db ")),
            ("DIR", DATA),
            ("/backup/", "backup/"),
            ("/etc/", "etc/"),
            ("/run/", "run/"),
            ("127.0.0.1:9464", "127.0.0.1:0"),
            ("0.0.0.0:50051", "0.0.0.0:0"),
            ("127.0.0.1:50051", "127.0.0.1:0"),
            ("https://reversi.example.org:50051", "{url}"),
            ("https://192.168.1.5:50051", "{url}"),
            ("https://one.example.org:50051,https://two.example.org:50051", "{url},{url}"),
        ],
    );
    certificate(&page);
    for folder in ["backup", "etc/systemd/system", "run/reversi"] {
        page.write(&format!("{folder}/empty"), "");
    }
    // Its tables are asked before the page makes a database.
    page.serve(&format!("reversi serve --store '{}'", database.url()));
    page.run();
}

/// A certificate as of an authority, for which it stands as well.
#[cfg(feature = "postgres")]
fn certificate(page: &Page) {
    let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    page.write("chain.pem", key.cert.pem());
    page.write("key.pem", key.signing_key.serialize_pem());
}
