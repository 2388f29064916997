//! `reversi backup`, `reversi restore` and `reversi store`, with the real binary.

use std::{fs, process::Command};

use super::command::{Server, reversi, text};

/// Whether a command succeeds, and what it prints.
fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn a_backup_is_restored_by_the_guide_and_refused_by_a_mere_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, copy) = (path("data"), path("copy.db"));
    let command = |name: &str| run(&mut reversi(&[name, "--data", &data, &copy]));
    let server = Server::serve(&["--data", &data]);
    server.output_of(&["bot", "--ai", "random", "--vs", "random", "--games", "1"], "");
    let (done, said) = command("backup");
    assert!(done && said.contains(&format!("the backup of {data}/reversi.db is {copy}")), "{said}");
    let (done, said) = command("backup");
    assert!(!done && said.contains("cannot write "), "nothing is overwritten: {said}");
    server.output_of(&["bot", "--ai", "random", "--vs", "random", "--games", "1"], "");
    let (done, said) = command("restore");
    let hint = "/reversi.db: another server uses it; stop that server first: only `reversi backup` works while it runs";
    assert!(!done && said.contains(hint), "{said}");
    // Kills it.
    drop(server);

    fs::copy(&copy, path("data/reversi.db")).unwrap();
    let (done, said) = run(&mut reversi(&["serve", "--data", &data, "--listen", "127.0.0.1:0"]));
    assert!(!done && said.contains("`reversi restore`") && said.contains("-wal"), "{said}");
    let (done, said) = command("restore");
    assert!(done && said.contains("restored: ") && said.contains("reversi.db.replaced"), "{said}");
    let server = Server::serve(&["--data", &data]);
    assert_eq!(server.output_of(&["games"], "").lines().count(), 1, "the game before the backup");
}

#[test]
fn a_database_has_backups_of_its_own() {
    for (name, tool) in [("backup", "pg_dump"), ("restore", "pg_restore")] {
        let (done, said) = run(reversi(&[name, "copy.db"]).env("REVERSI_STORE", "postgres://nowhere/reversi"));
        assert!(!done && said.contains(tool), "{said}");
    }
}

#[test]
fn what_is_only_read_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, typo, new) = (path("data"), path("typo"), path("new"));
    fs::write(path("moves"), "f5d6c3\n").unwrap();
    fs::write(path("text"), "no games\n").unwrap();
    fs::create_dir(path("folder")).unwrap();
    fs::write(path("folder/reversi.db"), "").unwrap();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/reversi.db"), "no database\n".repeat(1_000)).unwrap();
    for arguments in [
        ["store", "copy", &typo, &new],
        ["store", "copy", &path("moves"), &new],
        ["store", "copy", &path("folder"), &new],
        ["store", "copy", &path("other"), &new],
        ["import", "--data", &new, &typo],
        ["import", "--data", &new, &path("text")],
        ["import", "--data", &new, &path("folder")],
        ["backup", "--data", &typo, &new],
        ["restore", "--data", &new, &typo],
        ["doctor", "--data", &typo, "--export=new"],
    ] {
        let (done, said) = run(reversi(&arguments).current_dir(&folder));
        assert!(!done, "{arguments:?}: {said}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "{arguments:?}: {said}");
    }
    assert!(run(&mut reversi(&["import", "--data", &data, &path("moves")])).0);
    let (done, said) = run(&mut reversi(&["store", "copy", &data, &new]));
    assert!(done && said.contains("copied: 1 games"), "{said}");
    let (done, said) = run(&mut reversi(&["store", "copy", &data, &new]));
    assert!(!done && said.contains("the store to write is not empty"), "{said}");
}
