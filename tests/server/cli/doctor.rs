//! `reversi doctor`: what it says and does about a damaged file.

use std::path::Path;

use super::command::{Server, reversi, text};

/// The exit status of a command, and what it printed.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = reversi(arguments).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

/// Nine imported games.
fn fill(data: &str, folder: &Path) {
    let games = folder.join("games.txt");
    let lines = ["f5", "f5d6", "f5d6c3", "f5d6c4", "f5d6c5", "f5f4", "f5f4e3", "f5f6", "f5f6e6"].join("\n");
    std::fs::write(&games, lines).unwrap();
    let (status, said) = run(&["import", games.to_str().unwrap(), "--data", data]);
    assert!(status == 0 && said.contains("9 games imported"), "{said}");
}

#[test]
fn a_damaged_file_is_examined_exported_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data = path("data");
    let (status, said) = run(&["doctor", "--data", &data]);
    assert!(status == 1 && said.contains("cannot examine"), "{said}");
    fill(&data, folder.path());
    let (status, said) = run(&["doctor", "--data", &data]);
    assert!(status == 0 && said.contains("9 games") && said.contains("nothing is damaged"), "{said}");

    let file = format!("{data}/reversi.db");
    let tool = rusqlite::Connection::open(&file).unwrap();
    let damaged: String = tool
        .query_row("UPDATE games SET transcript = 'a1' WHERE transcript = 'f5d6c3' RETURNING id", [], |row| row.get(0))
        .unwrap();
    drop(tool);
    let (status, said) = run(&["doctor", "--data", &data]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains(&format!("game {damaged} is lost")) && said.contains("--repair"), "{said}");
    assert!(said.contains("8 games"), "{said}");

    let games = path("saved.ggf");
    let (status, said) = run(&["doctor", "--data", &data, "--repair", "--export", &games]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("8 games are in ") && said.contains("repaired: a new "), "{said}");
    assert!(said.contains("reversi.db.damaged"), "{said}");
    let kept = rusqlite::Connection::open(format!("{file}.damaged")).unwrap();
    let count = kept.query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0));
    assert_eq!(count.unwrap(), 9, "the damaged file is kept");
    assert_eq!(std::fs::read_to_string(&games).unwrap().lines().count(), 8);

    let (status, said) = run(&["doctor", "--data", &data]);
    assert!(status == 0 && said.contains("nothing is damaged"), "{said}");
    let (status, said) = run(&["import", &games, "--data", &path("other")]);
    assert!(status == 0 && said.contains("8 games imported"), "{said}");
    let server = Server::serve(&["--data", &data]);
    assert_eq!(server.output_of(&["games"], "").lines().count(), 8);
    let (status, said) = run(&["doctor", "--data", &data]);
    assert!(status == 1 && said.contains("another server uses it; stop that server first"), "{said}");
}
