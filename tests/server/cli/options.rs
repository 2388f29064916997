//! The options of each command, its `--help`, and the usage in errors.

use super::command::{reversi, text};

const CONNECTING: [&str; 10] = ["rooms", "play", "watch", "host", "bot", "games", "name", "analyze", "admin", "demo"];

const LOCAL: [&str; 5] = ["serve", "engine", "import", "train", "arena"];

fn help_of(command: &str) -> String {
    text(&reversi(&[command, "--help"]).output().unwrap().stdout)
}

fn error_of(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = reversi(arguments).envs(variables.iter().copied()).output().unwrap();
    assert!(!output.status.success(), "{arguments:?} did not fail");
    text(&output.stderr)
}

#[test]
fn only_commands_that_connect_have_the_options_of_a_connection() {
    for command in CONNECTING {
        let (_, connection) =
            help_of(command).split_once("\nConnection:\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        for option in ["--server <", "--tls-ca <", "--tls-client-cert <", "--tls-client-key <"] {
            assert!(connection.contains(option), "{command}: {connection}");
        }
    }
    for command in LOCAL {
        let help = help_of(command);
        assert!(!help.contains("--server <") && !help.contains("--tls-ca <"), "{help}");
        for option in ["--server", "--tls-ca"] {
            let error = error_of(&[command, option, "x"], &[]);
            assert!(error.contains(&format!("unexpected argument '{option}' found")), "{error}");
        }
    }
    assert!(!text(&reversi(&["--help"]).output().unwrap().stdout).contains("--server"));
    let error = error_of(&["--server", "x", "rooms"], &[]);
    assert!(error.contains("'rooms --server' exists"), "{error}");
}

#[test]
fn options_are_grouped_under_headings() {
    let help = help_of("serve");
    let part = |heading: &str| {
        help.split(&format!("\n{heading}:\n")).nth(1).unwrap().split("\n\n  -h").next().unwrap().to_owned()
    };
    assert!(part("Options").contains("--data <DIR>"), "{help}");
    assert!(part("Connection").contains("--listen <") && part("Limits").contains("--max-rooms <"), "{help}");
    let options = help.split("\nOptions:\n").nth(1).unwrap().split("\nConnection:\n").next().unwrap();
    assert!(!options.contains("--tls-cert <") && !options.contains("--max-rooms <"), "{options}");
    let help = help_of("play");
    let connection = help.split("\nConnection:\n").nth(1).unwrap();
    assert!(
        connection.contains("--name <") && connection.contains("--keep <") && !connection.contains("--ai <"),
        "{help}"
    );
}

#[test]
fn a_wrong_command_line_has_one_exit_status() {
    for arguments in [
        &["nonsense"][..],
        &["play", "--nonsense"],
        &["play", "--ai", "nonsense"],
        &["bot", "--ai", "mcts", "--level", "77"],
        &["openings"],
        &["nodes"],
        &["nodes", "--store", "folder"],
        &["explore", "nonsense"],
        &["serve", "--ephemeral", "--log", "reversi=loud"],
        &["serve", "--ephemeral", "--listen", "0.0.0.0:0"],
        &["serve", "--settings", "/nowhere/settings"],
        &["serve", "--max-rooms", "0"],
        &["serve", "--store", "postgres://db/games?sslmode=sometimes"],
        &["doctor", "--store", "postgres://me:pass@word@db/games"],
    ] {
        let output = reversi(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn completions_and_man_pages_have_all_commands() {
    let script = text(&reversi(&["completions", "bash"]).output().unwrap().stdout);
    assert!(script.contains("--max-rooms") && script.contains("reversi__subcmd__watch"), "{script}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let output = reversi(&["man", pages.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("reversi.1").contains("reversi\\-watch(1)") && page("reversi-serve.1").contains("max\\-rooms"));
    assert!(page("reversi-admin-kick.1").contains("Take a player out of a room"));
}

#[test]
fn ids_are_shown_in_a_list_of_games_only() {
    for other in [&["--json"][..], &["--export", "json"], &["--stats", "ada"]] {
        let error = error_of(&[&["games", "--ids"], other].concat(), &[]);
        assert!(error.contains("cannot be used with"), "{error}");
    }
}

#[test]
fn the_usage_in_an_error_has_no_options_that_variables_set() {
    let variables = [("REVERSI_SERVER", "http://127.0.0.1:1"), ("REVERSI_NAME", "ada")];
    for arguments in [&["play", "--nonsense"][..], &["admin", "--admin-token", "x", "close"], &["host", "--nonsense"]] {
        let error = error_of(arguments, &variables);
        assert!(
            error.contains("Usage: reversi ") && !error.contains("--server") && !error.contains("--name"),
            "{error}"
        );
    }
}

#[test]
fn a_server_is_named_with_the_option_or_the_variable_only_where_it_is_used() {
    let output = reversi(&["analyze", "f5d6c3", "--depth", "1"]).env("REVERSI_SERVER", "nonsense").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
