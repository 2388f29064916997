//! Invitations by the command line: a bot that accepts them, and people who invite it.

use super::command::{Running, Server, text};

/// A bot that waits for invitations.
fn accepting_bot(server: &Server, options: &[&str]) -> Running {
    let mut bot =
        Running::start(server, &[&["bot", "--accept", "--ai", "random", "--name", "botty"], options].concat());
    bot.wait_for("waiting for invitations");
    bot
}

/// A host of a room with an AI, which has white.
fn host(server: &Server, name: &str) -> Running {
    let mut host = Running::start(server, &["host", "--name", name, "--white", "random"]);
    host.wait_for("`help` lists");
    host
}

#[test]
fn a_bot_is_not_invited_by_a_player_whose_rating_is_not_in_its_range() {
    let server = Server::start();
    let _bot = accepting_bot(&server, &["--rating", "1600-"]);
    let refusal = server.error_of(&["invite", "botty", "--name", "ada"]);
    assert!(refusal.contains("the player does not accept so low a rating (at least 1600)"), "{refusal}");
}

#[test]
fn a_bot_says_why_it_leaves_a_room_whose_terms_have_changed() {
    let server = Server::start();
    let mut bot = accepting_bot(&server, &["--clock", "60+1"]);
    let mut host = host(&server, "ada");
    host.send_and_wait("invite botty", "so long a time for all moves, or none (at most 60 s)");
    host.send_line("set total 60 1");
    host.send_and_wait("invite botty", "the seat of black is kept for botty");
    host.wait_for("black (botty) is ready");
    host.send_line("set total 60 2");
    bot.wait_for("ada invites to room");
    bot.wait_for("after a change of its settings: I play with the clock 60+1");
}

#[test]
fn a_bot_accepts_as_many_invitations_as_it_has_seats() {
    let server = Server::start();
    let mut bot = accepting_bot(&server, &["--seats", "2", "--games", "2"]);
    let mut hosts = ["ada", "bea", "cleo"].map(|name| host(&server, name));
    for host in &mut hosts[..2] {
        host.send_and_wait("invite BOTTY", "the seat of black is kept for botty");
        host.wait_for("botty takes black");
        host.wait_for("black (botty) is ready");
    }
    hosts[2].send_and_wait("invite botty", "the player does not accept a further game now");
    hosts[2].send_and_wait("invite nobody", "no player has this id or name");
    hosts[2].send_and_wait("seat black greedy", "takes black");
    hosts[2].send_and_wait("invite botty", "no seat is open");
    for host in &mut hosts[..2] {
        host.send_line("start");
    }
    for host in &mut hosts[..2] {
        host.wait_for("game over");
    }
    let said = bot.wait_for_exit();
    for host in ["ada", "bea"] {
        assert!(said.contains(&format!("{host} invites to room")), "{said}");
    }
    assert!(!said.contains("cleo"), "{said}");
}

#[test]
fn a_person_invites_a_bot_that_accepts_some_games() {
    let server = Server::start();
    let _bot = accepting_bot(&server, &["--clock", "60+1", "--rated", "--rating", "1400-"]);
    let listed = server.output_of(&["players", "--bots", "--free"], "");
    assert!(
        listed.contains(
            "botty  bot: random 1  -       0 of 1  rated, 60 s for a side, 1 s of increment, rating at least 1400"
        ),
        "{listed}"
    );
    assert!(server.output_of(&["players", "--people"], "").contains("no player is online, or none of this kind"));
    for (terms, why) in [
        (&["--clock", "60+2", "--rated"][..], "the player does not accept so long an increment (at most 1 s)"),
        (&["--clock", "60+1"], "the player does not accept this choice of rated or unrated (rated games only)"),
        (&["--rated"], "the player does not accept so long a time for all moves, or none (at most 60 s)"),
    ] {
        let output = server.run(&[&["invite", "botty", "--name", "ada"], terms].concat(), "");
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
    assert!(server.error_of(&["invite", "nobody"]).contains("no player has the name `nobody` now"));
    let terms = ["--clock", "60+1", "--rated", "--side", "black"];
    let mut ada = Running::start(&server, &[&["invite", "botty", "--name", "ada"], &terms[..]].concat());
    ada.wait_for("botty accepts");
    ada.wait_for("your move (black)");
    ada.send_and_wait("d3", "black (ada) plays d3");
    ada.send_and_wait("resign", "game over");
    ada.send_line("quit");
    ada.wait_for_exit();
}

/// The host invites a person, who is told so.
fn invite(host: &mut Running, bea: &mut Running) {
    host.send_and_wait("invite bea", "the seat of black is kept for bea");
    bea.wait_for("ada invites you to an unrated game: y accepts");
}

/// A person who waits in a new room.
fn waiting_person(server: &Server, options: &[&str]) -> Running {
    let mut person = Running::start(server, &[&["play", "--new", "--name", "bea"], options].concat());
    person.wait_for("`help` lists");
    person.wait_for("waiting");
    person
}

#[test]
fn a_person_who_waits_in_a_room_answers_an_invitation_there() {
    let server = Server::start();
    let mut bea = waiting_person(&server, &[]);
    let mut host = host(&server, "ada");
    invite(&mut host, &mut bea);
    bea.send_line("decline");
    host.wait_for("bea declined; the seat of black is open");
    let mut eve = Running::start(&server, &["invite", "bea", "--name", "eve", "--side", "white", "--rated"]);
    bea.wait_for("eve invites you to a rated game");
    bea.send_and_wait("y", "you have accepted the invitation");
    eve.wait_for("bea accepts");
    bea.wait_for("your move (black)");
    bea.send_and_wait("d3", "black (bea) plays d3");
    eve.wait_for("your move (white)");
}

#[test]
fn an_invitation_that_ends_with_its_terms_is_told_to_both() {
    let server = Server::start();
    let mut bea = waiting_person(&server, &[]);
    let mut host = host(&server, "ada");
    invite(&mut host, &mut bea);
    host.send_and_wait("set limit 30", "the invitation of bea has ended; the seat of black is open");
    bea.wait_for("the invitation has ended: its terms have changed");
}

#[test]
fn a_kept_login_leaves_its_waiting_room_for_the_one_that_is_named() {
    let server = Server::start();
    let keep = super::command::file("waits.token");
    let mut first = waiting_person(&server, &["--keep", &keep]);
    let mut host = Running::start(&server, &["host", "--name", "ada", "--white", "random"]);
    let line = host.wait_for("join code");
    let room = line.trim_start_matches("room ").split(',').next().unwrap();
    host.wait_for("`help` lists");
    let mut second = Running::start(&server, &["play", "--room", room, "--keep", &keep, "--name", "cleo"]);
    second.wait_for(&format!("room {room}"));
    host.wait_for("bea takes black");
    first.wait_for_exit();
}

#[test]
fn a_kept_bot_offers_no_more_seats_than_it_has_and_keeps_its_name() {
    let server = Server::start();
    let keep = super::command::file("one-seat.token");
    server.output_of(&["bot", "--keep", &keep, "--name", "botty", "--vs", "greedy", "--games", "1"], "");
    let renamed = server.run(&["bot", "--keep", &keep, "--name", "other", "--vs", "greedy", "--games", "1"], "");
    let warning = text(&renamed.stderr);
    assert!(warning.contains("keeps the login of botty: --name is not used"), "{warning}");
    let mut bot = Running::start(&server, &["bot", "--accept", "--seats", "4", "--keep", &keep]);
    bot.wait_for("waiting for invitations");
    let listed = server.output_of(&["players"], "");
    assert!(listed.contains("0 of 1  at most 1 game at once"), "{listed}");
}
