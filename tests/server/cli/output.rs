//! Standard output that cannot be written: a full disk, and a closed pipe.

use std::{fs::OpenOptions, io::Write as _, process::Stdio};

use super::command::{Server, reversi, text};

/// Runs a command whose standard output is on a full disk; returns its exit status and its errors.
fn run_on_full_disk(server: &Server, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = reversi(arguments);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.env("REVERSI_SERVER", &server.url).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may have exited already.
    let _ = child.stdin.take().unwrap().write_all(b"nboard 2\nping 1\nname\nlist\n");
    let output = child.wait_with_output().unwrap();
    (output.status.code(), text(&output.stderr))
}

/// The commands that `reversi --help` lists.
fn commands() -> Vec<String> {
    let help = text(&reversi(&["--help"]).output().unwrap().stdout);
    let listed = help.split("\nOptions:\n").next().unwrap();
    let names = listed.lines().filter(|line| line.starts_with("  "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_fails_whose_output_is_cut_off_by_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("games.txt"), "f5d6c3\n").unwrap();
    let [data, games, token, keep, guest] = ["data", "games.txt", "admin.token", "ada.token", "guest.token"].map(path);
    let server = Server::start_with(&["--admin-token", &token]);
    let bot = ["bot", "--name", "Robo", "--ai", "roxanne", "--vs", "greedy", "--games", "1", "--keep", &keep];
    server.output_of(&bot, "");
    server.output_of(&["play", "--name", "Ann", "--keep", &guest], "resign\nquit\n");
    let ended = server.output_of(&["games", "--player", "Robo"], "");
    let game = ended.split(' ').next().unwrap();
    let me = server.output_of(&["games", "--ids"], "").split(['(', ')']).nth(1).unwrap().to_owned();
    let [copied, backup, restored] = ["copied", "backup.db", "restored"].map(path);
    let run: &[&[&str]] = &[
        &["import", &games, "--data", &data],
        &["doctor", "--data", &data],
        &["doctor", "--data", &data, "--export", &path("saved.ggf")],
        &["store", "copy", &data, &copied],
        &["backup", &backup, "--data", &data],
        &["restore", &backup, "--data", &restored],
        &["rooms"],
        &["rooms", "--once"],
        &["players"],
        &["invite", "Ann"],
        &["play", "--side", "black"],
        &["watch", game],
        &["tournament", "list"],
        &["tournament", "create", "Cup", "--swiss=3", "--print"],
        &["host"],
        &["host", "--black", "greedy", "--white", "greedy"],
        &["bot", "--vs", "greedy", "--games", "1"],
        &["engine", "--nboard"],
        &["engine", "--gtp"],
        &["games"],
        &["games", "--json"],
        &["games", "--export", "ggf"],
        &["games", "--export", "json"],
        &["games", "--stats", "roxanne:1"],
        &["games", "--ranking"],
        &["explore"],
        &["explore", "--json"],
        &["health"],
        &["name", "--keep", &keep, "show"],
        &["name", "--keep", &keep, "play-token"],
        &["me", "--keep", &keep],
        &["analyze", "f5d6c3", "--depth", "1"],
        &["analyze", "f5d6c3", "--depth", "1", "--json"],
        &["analyze", "--game", game, "--depth", "1", "--json"],
        &["arena", "random", "random", "--games", "2"],
        &["admin", "--admin-token", &token, "log-out", &me],
        &["demo", "--rooms", "1"],
        &["completions", "bash"],
        &["man", &path("man")],
    ];
    for arguments in run {
        let (status, error) = run_on_full_disk(&server, arguments);
        let said = error.matches("reversi: cannot write to standard output: No space left on device").count();
        assert_eq!((status, said), (Some(1), 1), "{arguments:?}: {error}");
    }
    // Those that need a database, or long: they print as all others do.
    let untried = ["serve", "nodes", "train"];
    for command in commands().into_iter().filter(|command| command != "help") {
        let (status, error) = run_on_full_disk(&server, &[&command, "--help"]);
        assert!(status == Some(1) && error.contains("No space left"), "{command} --help: {status:?} {error}");
        let tried = run.iter().any(|arguments| arguments[0] == command) || untried.contains(&&*command);
        assert!(tried, "`{command}` is not tried with a full disk");
    }
    assert_eq!(run_on_full_disk(&server, &["--version"]).0, Some(1));
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_a_command_quietly_as_sigpipe_does() {
    let server = Server::start();
    server.output_of(&["bot", "--ai", "roxanne", "--vs", "greedy", "--games", "1"], "");
    for arguments in
        [&["games", "--export", "ggf"][..], &["rooms"], &["explore", "--json"], &["analyze", "f5d6c3"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = reversi(arguments).env("REVERSI_SERVER", &server.url).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(141), ""), "{arguments:?}");
    }
}
