//! `reversi arena` as scripts use it: the real binary.

use std::{fs, path::Path};

use serde_json::Value;

use super::command::reversi;

struct ArenaRun {
    success: bool,
    said: String,
    complained: String,
    json: String,
    transcripts: String,
}

fn arena(folder: &Path, arguments: &[&str]) -> ArenaRun {
    let (json, transcripts) = (folder.join("result.json"), folder.join("games.txt"));
    let mut command = reversi(&["arena"]);
    command.args(arguments).arg("--json").arg(&json).arg("--transcripts").arg(&transcripts);
    let output = command.output().unwrap();
    ArenaRun {
        success: output.status.success(),
        said: String::from_utf8(output.stdout).unwrap(),
        complained: String::from_utf8(output.stderr).unwrap(),
        json: fs::read_to_string(json).unwrap_or_default(),
        transcripts: fs::read_to_string(transcripts).unwrap_or_default(),
    }
}

#[test]
fn the_same_seed_gives_the_same_files_with_any_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let play = |threads, seed| {
        arena(folder.path(), &["greedy", "random", "--games", "4", "--seed", seed, "--concurrency", threads])
    };
    let (alone, together, other) = (play("1", "7"), play("3", "7"), play("1", "8"));
    assert!(alone.success, "{}", alone.complained);
    assert_eq!((&alone.json, &alone.transcripts), (&together.json, &together.transcripts));
    assert_ne!(alone.transcripts, other.transcripts);

    let result: Value = serde_json::from_str(&alone.json).unwrap();
    assert_eq!(result["played"], 4);
    let games = result["games"].as_array().unwrap();
    let black: Vec<_> = games.iter().map(|game| game["black"].as_str().unwrap()).collect();
    assert_eq!(black, ["a", "b", "a", "b"]);
    for pair in games.chunks(2) {
        assert_eq!(pair[0]["opening"], pair[1]["opening"]);
    }
    let moves: Vec<_> = games.iter().map(|game| game["moves"].as_str().unwrap()).collect();
    assert_eq!(alone.transcripts.lines().collect::<Vec<_>>(), moves);
    assert!(alone.said.contains("4 of 4 games: greedy "), "{}", alone.said);
}

#[test]
fn an_external_engine_plays_the_same_games_as_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let play = |player: &str| arena(folder.path(), &[player, "greedy", "--games", "2", "--seed", "3"]);
    let at_home = play("expert:9");
    assert_eq!(at_home.transcripts.lines().count(), 2, "{}", at_home.complained);
    for protocol in ["gtp", "nboard"] {
        let guest = format!("{protocol}:'{}' engine --{protocol} --level 9@60s", env!("CARGO_BIN_EXE_reversi"));
        let played = play(&guest);
        assert!(played.success, "{}", played.complained);
        assert_eq!(played.transcripts, at_home.transcripts, "{protocol}: {}", played.said);
    }
}

#[test]
fn an_engine_that_fails_loses_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let mute = r#"gtp:sh -c 'while read line; do case "$line" in *genmove*) ;; *) echo =; echo;; esac; done'@50ms"#;
    let played = arena(folder.path(), &[mute, "random", "--games", "2", "--seed", "1"]);
    assert!(
        played.said.contains("0 won, 0 drawn, 2 lost (2 by a player's fault)"),
        "{}{}",
        played.said,
        played.complained
    );
}

#[test]
fn an_engine_that_ends_or_plays_illegally_loses_its_game_and_plays_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for (fault, why) in [("exit 3", "has ended"), (r#"printf "= a1\n\n""#, "plays a1, which is illegal")] {
        // It fails at its first move, and after a restart no more.
        let mark = folder.path().join(fault.len().to_string());
        let fault = format!(r#"if [ ! -e "{0}" ]; then : > "{0}"; {fault}; continue; fi"#, mark.display());
        let engine = env!("CARGO_BIN_EXE_reversi");
        let script = format!(
            r#"exec 3>&1; while read -r line; do case "$line" in *genmove*) {fault};; esac; echo "$line"; done |
            "{engine}" engine --gtp --level 1 >&3"#
        );
        let script = script.replace(r#"printf "= a1\n\n""#, r#"printf "= a1\n\n" >&3"#);
        let faulty = format!("gtp:sh -c '{script}'");
        let played = arena(folder.path(), &[&faulty, "random", "--games", "2", "--seed", "1", "--concurrency", "1"]);
        assert!(played.said.contains("(1 by a player's fault)"), "{}{}", played.said, played.complained);
        assert!(played.complained.contains(why), "{}", played.complained);
        let result: Value = serde_json::from_str(&played.json).unwrap();
        assert_eq!(result["games"][0]["winner"], "b", "{result}");
        assert!(result["games"][0]["fault"].as_str().unwrap().contains(why) && result["games"][1]["fault"].is_null());
    }
}

#[test]
fn a_test_ends_a_match_early() {
    let folder = tempfile::tempdir().unwrap();
    let played = arena(folder.path(), &["roxanne", "random", "--games", "1000", "--seed", "1", "--sprt", "-100,0"]);
    assert!(played.success, "{}", played.complained);
    let result: Value = serde_json::from_str(&played.json).unwrap();
    assert!(result["played"].as_u64().unwrap() < 1000 && result["sprt"]["believed"] == 0.0, "{}", played.said);
    assert!(played.said.contains("+0 Elo is accepted"), "{}", played.said);
}

#[test]
fn an_unwritable_file_is_reported_before_the_games() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing");
    let played = arena(&nowhere, &["random", "random", "--games", "2"]);
    assert!(!played.success && played.complained.contains("cannot write"), "{}", played.complained);
    assert!(!played.said.contains("2 of 2 games"), "it is said before they are played: {}", played.said);
}

#[test]
fn invalid_matches_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        (&["greedy", "nobody"][..], "no AI is called `nobody`"),
        (&["greedy", "random", "--games", "3"], "must be an even number"),
        (&["greedy", "random", "--games", "1002"], "the same games again"),
        (&["greedy", "random", "--sprt", "5"], "two differences"),
        (&["greedy@now", "random"], "no time for a move"),
        (&["gtp:/nowhere/engine", "random"], "cannot be started"),
    ] {
        let played = arena(folder.path(), arguments);
        assert!(!played.success && played.complained.contains(part), "{arguments:?}: {}", played.complained);
    }
}
