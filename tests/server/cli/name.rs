//! `reversi name`, and players who have logged out.

use std::path::Path;

use super::command::{Server, file};

const GAME: &str = "d3\nmove\nresign\nquit\n";

#[test]
fn a_name_is_claimed_by_the_file_of_its_login() {
    let server = Server::start();
    let keep = file("name");
    let name = |command: &str| server.output_of(&["name", "--keep", &keep, command], "");
    assert!(server.error_of(&["name", "--keep", &keep, "claim"]).contains(&format!("there is no file {keep};")));
    server.output_of(&["games", "--name", "ada", "--keep", &keep], "");
    assert!(server.error_of(&["name", "--keep", &keep, "claim"]).contains("finish a game first"));
    server.output_of(&["play", "--keep", &keep, "--side", "black"], GAME);
    assert!(name("show").starts_with("ada (") && name("show").trim().ends_with("not claimed"));
    assert!(name("claim").starts_with("ada is yours"));
    let old = std::fs::read_to_string(&keep).unwrap();
    assert!(name("new-token").contains("has a new token"));
    assert_ne!(std::fs::read_to_string(&keep).unwrap(), old);
    assert!(name("show").trim().ends_with(", claimed"));

    // As after an interruption before the new token took the place of the old one.
    std::fs::rename(&keep, format!("{keep}.new")).unwrap();
    std::fs::write(&keep, old).unwrap();
    assert!(name("show").trim().ends_with(", claimed"));
    assert!(name("give-up").contains("ada is free for others") && !Path::new(&keep).exists());
}

#[test]
fn another_server_does_not_cost_a_player_the_kept_login() {
    let (home, other) = (Server::start(), Server::start());
    let keep = file("two-servers");
    let read = |file: &str| std::fs::read_to_string(file).unwrap();
    let visit = ["games", "--name", "ada", "--keep", &keep];
    home.output_of(&visit, "");
    let (old, kept) = (format!("{keep}.old"), read(&keep));

    let noted = super::command::text(&other.run(&visit, "").stderr);
    assert!(noted.contains("does not know the login in") && noted.contains(&old), "{noted}");
    let second = read(&keep);
    assert!(read(&old) == kept && second != kept);
    assert!(other.output_of(&["name", "--keep", &keep, "show"], "").starts_with("ada ("));

    assert!(home.output_of(&["name", "--keep", &keep, "show"], "").starts_with("ada ("));
    assert_eq!((read(&keep), read(&old)), (kept, second));
    [keep, old].iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[test]
fn results_of_a_player_who_has_logged_out_are_found_by_name() {
    let server = Server::start();
    for _ in 0..2 {
        server.output_of(&["play", "--name", "ada", "--side", "black"], GAME);
    }
    let output = server.run(&["games", "--stats", "ADA"], "");
    let (printed, noted) = (super::command::text(&output.stdout), super::command::text(&output.stderr));
    assert!(printed.starts_with("ada: not rated yet"), "{printed}");
    assert!(noted.contains("others had the name earlier"), "{noted}");
    let earlier = noted.trim().rsplit(' ').next().unwrap();
    assert!(server.output_of(&["games", "--stats", earlier], "").starts_with("ada: not rated yet"));
    let listed = server.output_of(&["games", "--player", earlier], "");
    assert_eq!(listed.matches("ada - AI").count(), 1, "{listed}");
}
