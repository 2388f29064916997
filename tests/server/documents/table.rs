//! Lines that need another treatment than to be run to their end.

use super::page::begins;

/// Commands without an end, by their beginnings, and a part of the line by which they are seen to work.
pub(super) const LONG_RUNNING: &[(&str, &str)] = &[
    ("cargo run --release -- play", "; `help` lists the commands"),
    ("reversi play --name ada", "leaving"),
    ("reversi play", "; `help` lists the commands"),
    ("reversi demo", "reversi watch "),
    ("reversi rooms", "WATCHERS"),
    ("reversi watch ROOM", "room "),
    ("reversi bot --pool", "in tournament "),
    ("reversi bot", "waiting for "),
    // Its first meeting, of an arena of eight hours.
    ("reversi tournament watch Night", "meeting 1: "),
    // It ends, with the result.
    ("PYTHONPATH=proto .venv/bin/python first_bot.py", "GAME_END_REASON_DISCS"),
    ("call GameService/WatchTurns", "\"gameId\""),
];

/// Lines that are typed, and parts of the answers where the page does not print them.
pub(super) const ANSWERED: &[(&str, &[&str])] = &[
    ("set games 10", &["series of 10 games"]),
    ("set pause 1000", &["1000 ms after an AI's move"]),
    ("kick bob", &["bob was removed"]),
    ("seat white mcts:5", &["AI mcts:5 takes white", "black (ann) is ready"]),
];

/// Lines that are not run, by their beginnings, and why.
pub(super) const NOT_RUN: &[(&str, &str)] = &[
    ("cargo install", COMPILES),
    ("cargo build", COMPILES),
    ("install target/dist/reversi", "installs what the build would have made, for all users"),
    ("systemctl stop", "the test stops its server itself"),
    ("systemctl start", "no test machine runs the unit; the next `serve` starts the server"),
    ("systemctl enable", "no test machine runs the unit"),
    ("systemctl reload", "no test machine runs the unit; tests/server/operations/reload.rs sends the signal"),
    ("podman", "builds an image from packages that it fetches"),
    ("python3 -m venv", FETCHES),
    ("pip install", FETCHES),
    ("go install", FETCHES),
    ("protoc", "needs what the line above it fetches; .ci/run makes the same code"),
    ("go mod init", FETCHES),
    ("cd ../node && npm install", FETCHES),
];

const COMPILES: &str = "compiles the program once more, for minutes; the tests have compiled it";
const FETCHES: &str = "fetches packages; .ci/run has installed them";

pub(super) fn is_run(line: &str) -> bool {
    !NOT_RUN.iter().any(|(start, _)| begins(line, start))
}

/// A part of the line by which a command without an end is seen to work.
pub(super) fn long_running(line: &str) -> Option<&'static str> {
    let (_, seen) = LONG_RUNNING.iter().find(|(start, _)| begins(line, start))?;
    (!line.contains("--games ")).then_some(seen)
}
