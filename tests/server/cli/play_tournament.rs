//! `reversi play --tournament`: a person in a tournament, as a process.

use super::{
    command::{Running, Server, reversi, text},
    tournaments::{Kept, id, organise},
};
use crate::harness::process;

/// A server with a folder, which can be started again.
struct Restarted {
    server: process::Server,
    folder: tempfile::TempDir,
}

impl Restarted {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { server: Self::serve(&folder, "127.0.0.1:0"), folder }
    }

    fn serve(folder: &tempfile::TempDir, listen: &str) -> process::Server {
        process::Server::start(&["--data", folder.path().to_str().unwrap(), "--listen", listen, "--log", "error"])
    }

    fn restart(&mut self) {
        self.server.kill();
        self.server = Self::serve(&self.folder, &self.server.url.replace("http://", ""));
    }

    /// A command with a login that is kept in the folder.
    fn command(&self, keep: &str, arguments: &[&str]) -> std::process::Command {
        let mut command = reversi(arguments);
        command.env("REVERSI_SERVER", &self.server.url).env("REVERSI_KEEP", self.folder.path().join(keep));
        command
    }

    fn organise(&self, arguments: &[&str]) -> String {
        let output = self.command("organiser", &[&["tournament"], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

#[test]
fn a_person_plays_all_meetings_by_lines_and_over_restarts() {
    let mut server = Restarted::start();
    server.organise(&["create", "Cup", "--all-play-all", "--cycles=2", "--clock=600+0"]);
    let mut ada = Running::spawn(server.command("ada", &["play", "--tournament", "cup", "--name", "Ada"]));
    ada.wait_for("Ada is in tournament ");
    ada.wait_for("waiting until the organiser starts the tournament");
    let bot = ["bot", "--tournament", "Cup", "--name", "nova", "--ai", "greedy"];
    let mut nova = Running::spawn(server.command("nova", &bot));
    nova.wait_for("waiting for the start");
    server.restart();
    ada.wait_for("trying again");
    ada.wait_for("connected again");
    nova.wait_for("waiting for the start");
    server.organise(&["start", "Cup"]);
    for meeting in [1, 2] {
        ada.wait_for("your move");
        if meeting == 2 {
            server.restart();
            ada.wait_for("trying again");
            ada.wait_for("connected again");
        }
        // The moves of a script wait for their turns, also over the two games of a meeting.
        ada.send_line("resign\nresign");
        if meeting == 1 {
            ada.wait_for("rank 2 of 2: 0 points, 0 won, 0 drawn, 2 lost");
        }
    }
    let end = ada.wait_for_exit();
    let rows = ["completed; 2 of 2 meetings finished", "RANK  ENTRANT  NAME", "0-0-4", "4-0-0"];
    assert!(end.contains("the tournament is completed: rank 2 of 2\n"), "{end}");
    assert!(rows.iter().all(|row| end.contains(row)), "{end}");
    nova.wait_for("the tournament is completed: rank 1 of 2");
    let mut late = Running::spawn(server.command("ada", &["play", "--tournament", "Cup"]));
    let shown = late.wait_for_exit();
    assert!(shown.starts_with("the tournament is completed: rank 2 of 2\nCup ("), "{shown}");
}

#[test]
fn a_person_comes_back_to_a_tournament_and_leaves_it() {
    let server = Server::start();
    let [organiser, ada] = ["tournament-host", "tournament-person"].map(Kept::new);
    let id = id(&organise(&server, &organiser, &["create", "Cup", "--all-play-all", "--password=sesame"]));
    let play = |password| ["play", "--tournament", &id, "--keep", &ada.0, "--name=Ada", "--password", password];
    let error = server.error_of(&play("wrong"));
    assert!(error.contains("the tournament asks for a password"), "{error}");
    let stays = server.output_of(&play("sesame"), "");
    let back = format!("reversi play --tournament {id} --keep {} --server {}\n", ada.0, server.url);
    assert!(stays.ends_with(&format!("you are still an entrant; to come back: {back}")), "{stays}");
    let left = server.output_of(&play(""), "quit\n");
    assert!(left.contains("you have left the tournament\n"), "{left}");
    let mut again = Running::start(&server, &play("sesame"));
    again.wait_for("Ada is in tournament ");
    organise(&server, &ada, &["leave", &id]);
    let end = again.wait_for_exit();
    assert!(end.contains("no longer an entrant of the tournament\n"), "{end}");
    let mut back = Running::start(&server, &play("sesame"));
    back.wait_for("Ada is in tournament ");
    organise(&server, &organiser, &["exclude", &id, "Ada"]);
    let end = back.wait_for_exit();
    assert!(end.contains("excluded from the tournament by the organiser"), "{end}");
    let nova = ["bot", "--tournament", &id, "--name=nova", "--ai=greedy", "--password=sesame"];
    let mut bot = Running::start(&server, &nova);
    bot.wait_for("waiting for the start");
    organise(&server, &organiser, &["exclude", &id, "nova"]);
    assert_eq!(bot.next_line(), None);
    assert_eq!(bot.child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_rated_game_is_played_to_its_end_after_that_of_its_tournament() {
    let server = Server::start();
    let [organiser, kept] = ["tournament-rated", "tournament-rated-person"].map(Kept::new);
    let create = ["create", "Cup", "--all-play-all", "--rated"];
    let id = id(&organise(&server, &organiser, &create));
    let mut nova = Running::start(&server, &["bot", "--tournament", &id, "--name=nova", "--ai=greedy"]);
    nova.wait_for("waiting for the start");
    let mut ada = Running::start(&server, &["play", "--tournament", &id, "--keep", &kept.0]);
    ada.wait_for("waiting until the organiser starts");
    organise(&server, &organiser, &["start", &id]);
    let turn = ada.wait_for("your move");
    organise(&server, &organiser, &["end", &id]);
    nova.wait_for("the tournament is stopped");
    let (_, moves) = turn.split_once("): ").unwrap();
    ada.send_line(moves.split(' ').next().unwrap());
    ada.wait_for("your move");
    ada.send_line("resign");
    ada.wait_for("the tournament is stopped");
    let end = nova.wait_for_exit();
    assert_eq!(end.matches("by resignation").count(), 1, "the second game of the meeting is not played: {end}");
}

/// Neither this nor an invitation takes an entrant away from its meetings.
#[test]
fn the_end_of_another_tournament_does_not_end_the_one_that_is_played() {
    let server = Server::start();
    let [organiser, kept] = ["tournament-both", "tournament-moves-on"].map(Kept::new);
    let create = |arguments: &[&str]| id(&organise(&server, &organiser, &[&["create"], arguments].concat()));
    let night = create(&["Night", "--arena=1h", "--enter=random", "--enter=greedy"]);
    organise(&server, &kept, &["join", &night, "--name", "Ada"]);
    organise(&server, &organiser, &["start", &night]);
    organise(&server, &kept, &["leave", &night]);
    let delayed = ["--clock=600+0", "--spectator-delay=1m", "--enter=random"];
    let cup = create(&[&["Cup", "--all-play-all", "--cycles=2"], &delayed[..]].concat());
    let mut ada = Running::start(&server, &["play", "--tournament", &cup, "--keep", &kept.0]);
    ada.wait_for("waiting until the organiser starts");
    organise(&server, &organiser, &["start", &cup]);
    ada.wait_for("your move");
    let mut host = Running::start(&server, &["host", "--name", "bob", "--white", "random"]);
    host.wait_for("`help` lists");
    host.send_and_wait("invite Ada", "the seat of black is kept for Ada");
    assert!(organise(&server, &organiser, &["end", &night]).contains(" is stopped, "));
    ada.send_line("resign\nresign");
    // The room of the second meeting.
    ada.wait_for("; `help` lists the commands");
    ada.wait_for("your move");
    ada.send_line("resign\nresign");
    let end = ada.wait_for_exit();
    assert!(end.contains("the tournament is completed: rank 2 of 2\nCup ("), "{end}");
    let late = format!("\nshown 1m late; for the end, later: reversi tournament standings {cup}\n");
    assert!(end.contains(&late), "{end}");
    let seen = ada.seen.join("\n");
    assert!(!seen.contains("invites") && !seen.contains("stopped"), "{seen}");
}

#[test]
fn of_lines_before_a_meeting_only_moves_wait_for_it() {
    let server = Server::start();
    let [organiser, kept] = ["tournament-lines", "tournament-types"].map(Kept::new);
    let id = id(&organise(&server, &organiser, &["create", "Cup", "--all-play-all", "--enter=random"]));
    let mut ada = Running::start(&server, &["play", "--tournament", &id, "--keep", &kept.0]);
    ada.wait_for("waiting until the organiser starts");
    ada.send_line("a1");
    for line in ["resign", "quti"] {
        ada.send_and_wait(line, &format!("`{line}`: no game runs; "));
    }
    organise(&server, &organiser, &["start", &id]);
    ada.wait_for("; the moves are ");
    ada.send_line("quit");
    let end = ada.wait_for_exit();
    assert!(end.contains("you have left the tournament\n"), "{end}");
    let seen = ada.seen.join("\n");
    assert!(!seen.contains("resigns") && !seen.contains("game over"), "{seen}");
}
