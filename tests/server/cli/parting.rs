//! How the commands end during a game: a signal never gives the game up, and Ctrl-C asks first.

use std::{
    fs,
    io::{Read, Write as _},
    process::{Child, Command, Stdio},
};

use reversi::{
    client::{Client, PlayerKind},
    rules::Color,
};

use super::command::{Running, Server, file, reversi};
use crate::harness::cable::Cable;

/// The line of `play` when the host is to move.
const BEGUN: &str = "black to move";

/// A room with its host, who plays black.
struct HostedGame {
    server: Server,
    host: Running,
    room: String,
}

impl HostedGame {
    fn new() -> Self {
        let mut game = Self::not_ready();
        game.tell_host("ready");
        game
    }

    fn not_ready() -> Self {
        let server = Server::start();
        let mut host = Running::start(&server, &["host", "--name", "ann", "--black", "me", "--auto-start"]);
        let room = host.wait_for("join code").split([' ', ',']).nth(1).unwrap().to_owned();
        Self { server, host, room }
    }

    fn tell_host(&mut self, line: &str) {
        self.host.send_line(line);
    }

    /// Lets a player join by this command, which says `begun` when the game has begun.
    fn join(&mut self, command: &[&str], begun: &str) -> Running {
        let place = ["--room", self.room.as_str()];
        let mut player = Running::start(&self.server, &[command, &place].concat());
        player.wait_for(begun);
        // The host may hear of the game later.
        self.host.wait_for("your move: ");
        player
    }

    /// Plays the host's next move, which must still be possible.
    fn goes_on(&mut self) {
        self.tell_host("move d3");
        self.host.wait_for("black d3");
    }
}

fn signal(running: &Running, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &running.child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_signal_keeps_the_seat() {
    let play: &[&str] = &["play", "--name", "bob"];
    let bot: &[&str] = &["bot", "--name", "bob", "--ai", "greedy"];
    for (command, begun) in [(play, BEGUN), (bot, "game ")] {
        for name in ["TERM", "HUP"] {
            let mut game = HostedGame::new();
            let mut player = game.join(command, begun);
            signal(&player, name);
            player.wait_for("your seat is kept");
            assert!(player.child.wait().unwrap().success());
            game.goes_on();
        }
    }
}

#[test]
fn the_end_of_the_input_keeps_the_seat_in_a_game() {
    let mut game = HostedGame::new();
    let mut player = game.join(&["play", "--name", "bob"], "no way back to this seat");
    player.wait_for(BEGUN);
    drop(player.child.stdin.take());
    game.goes_on();
    player.wait_for("your seat is kept");
    assert!(player.child.wait().unwrap().success());
    assert_eq!(game.host.wait_for("bob"), "bob lost the connection");
}

#[test]
fn a_kept_login_returns_after_a_signal() {
    let (mut game, keep) = (HostedGame::new(), file("parting"));
    let mut player = game.join(&["play", "--keep", &keep], BEGUN);
    signal(&player, "TERM");
    let line = player.wait_for("to come back: ");
    assert!(line.ends_with(&format!("reversi play --keep {keep}")), "{line}");
    game.goes_on();
    let mut back = Running::start(&game.server, &["play", "--keep", &keep]);
    back.wait_for("your move (white)");
    fs::remove_file(keep).unwrap();
}

#[test]
fn ctrl_c_asks_during_a_game() {
    let mut game = HostedGame::new();
    let mut player = game.join(&["play", "--name", "bob"], BEGUN);
    signal(&player, "INT");
    let question = player.wait_for("`quit` leaves and loses it");
    assert!(question.ends_with("without --keep FILE there is no way back"), "{question}");
    signal(&player, "INT");
    player.wait_for("your seat is kept");
    assert_eq!(player.child.wait().unwrap().code(), Some(130));
    signal(&game.host, "INT");
    game.host.wait_for("`leave` leaves and loses it");
    game.goes_on();
    signal(&game.host, "TERM");
    game.host.wait_for("your seat is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_does_not_leave_a_game_that_begins_at_the_same_time() {
    let server = Server::start();
    let cable = Cable::to(server.url.strip_prefix("http://").unwrap().to_owned()).await;
    let mut host = reversi(&["host", "--black", "me", "--auto-start"]);
    host.env("REVERSI_SERVER", format!("http://{}", cable.address));
    let mut host = Running::spawn(host);
    let room = host.wait_for("join code").split([' ', ',']).nth(1).unwrap().to_owned();
    host.send_and_wait("ready", "is ready");
    let (bob, id) = (Client::connect(&server.url).await.unwrap(), room.parse().unwrap());
    let bob = bob.log_in("bob", PlayerKind::Human).await.unwrap();
    bob.join(&id, "").await.unwrap();
    bob.take_seat(&id, Color::White).await.unwrap();
    host.wait_for("takes white");
    cable.hold();
    drop(host.child.stdin.take());
    // The host is about to leave.
    cable.holds(room.as_bytes()).await;
    bob.set_ready(&id, true).await.unwrap();
    cable.open();
    host.wait_for("your move: ");
    assert!(bob.room(&id).await.unwrap().running().is_some());
}

/// Lets a player be about to leave by `parts` when the game begins, of which it has not heard; the game must go on.
async fn parts_as_a_game_begins(command: &[&str], lines: &str, status: i32, parts: impl FnOnce(&mut Running)) {
    let mut game = HostedGame::not_ready();
    let cable = Cable::to(game.server.url.strip_prefix("http://").unwrap().to_owned()).await;
    let mut player = reversi(&[command, &["--name", "bob", "--room", &game.room]].concat());
    player.env("REVERSI_SERVER", format!("http://{}", cable.address));
    let mut player = Running::spawn(player);
    player.child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    match command[0] {
        "play" => player.wait_for("waiting for the game to begin"),
        "host" => player.wait_for("white (bob) is ready"),
        _ => player.wait_for("in room"),
    };
    game.host.wait_for("white (bob) is ready");
    cable.hold();
    parts(&mut player);
    cable.holds(game.room.as_bytes()).await;
    game.tell_host("ready");
    game.host.wait_for("your move: ");
    cable.open();
    player.wait_for("your seat is kept");
    assert_eq!(player.child.wait().unwrap().code(), Some(status));
    game.goes_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_input_loses_no_game_that_begins_at_the_same_time() {
    parts_as_a_game_begins(&["play"], "", 0, |player| drop(player.child.stdin.take())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_loses_no_game_that_begins_at_the_same_time() {
    let bot: &[&str] = &["bot", "--ai", "greedy"];
    for (command, lines, name, status) in [
        (&["play"][..], "", "INT", 130),
        (&["play"], "", "TERM", 0),
        (&["host"], "seat white me\nready\n", "INT", 130),
        (bot, "", "TERM", 0),
        (bot, "", "INT", 130),
    ] {
        parts_as_a_game_begins(command, lines, status, |player| signal(player, name)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_leaves_loses_no_game_that_begins_at_the_same_time() {
    for (command, lines, leave) in [("play", "", "quit"), ("host", "seat white me\nready\n", "leave")] {
        parts_as_a_game_begins(&[command], lines, 0, |player| player.send_line(leave)).await;
    }
}

#[test]
fn a_newer_process_of_the_same_player_ends_the_older() {
    let (mut game, keep) = (HostedGame::new(), file("superseded"));
    let mut first = game.join(&["play", "--keep", &keep], BEGUN);
    let mut second = Running::start(&game.server, &["play", "--keep", &keep]);
    first.wait_for("another process plays as the same player");
    assert!(first.child.wait().unwrap().success());
    game.goes_on();
    second.wait_for("your move (white)");
    fs::remove_file(keep).unwrap();
}

/// A terminal with this program for the shell, in which `{}` is the command that plays.
#[cfg(target_os = "linux")]
fn play_in_terminal(game: &HostedGame, program: &str) -> Child {
    let play = format!("{} play --name bob --room {}", env!("CARGO_BIN_EXE_reversi"), game.room);
    let program = format!("stty rows 24 cols 90; {}", program.replace("{}", &play));
    Command::new("script")
        .args(["--quiet", "--flush", "--return", "--command", &program, "/dev/null"])
        .env("REVERSI_SERVER", &game.server.url)
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(target_os = "linux")]
fn wait_until_shown(screen: &mut impl Read, text: &str) {
    // Byte by byte, as the rest of the screen is for the next wait.
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(text.as_bytes()) {
        screen.read_exact(&mut byte).unwrap();
        shown.extend(byte);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_that_is_gone_keeps_the_seat() {
    // On the screen, and by lines.
    for (program, begun, keys) in
        [("exec {}", "\x1b[?1049h", "thello\r"), ("{} | cat", "your move (white)", "say hello\r")]
    {
        let mut game = HostedGame::new();
        let mut terminal = play_in_terminal(&game, program);
        game.host.wait_for("your move: ");
        game.goes_on();
        wait_until_shown(terminal.stdout.as_mut().unwrap(), begun);
        terminal.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
        game.host.wait_for("<bob> hello");
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        assert_eq!(game.host.wait_for("bob"), "bob lost the connection", "{program}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_that_is_gone_leaves_a_room_without_a_game() {
    let mut game = HostedGame::not_ready();
    let mut terminal = play_in_terminal(&game, "exec {}");
    game.host.wait_for("bob) is ready");
    wait_until_shown(terminal.stdout.as_mut().unwrap(), "\x1b[?1049h");
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    assert_eq!(game.host.wait_for("bob"), "white (bob) is not ready");
    assert_eq!(game.host.wait_for("bob"), "bob left");
}

#[test]
#[cfg(target_os = "linux")]
fn keys_with_ctrl_are_no_letters_on_the_screen() {
    let mut game = HostedGame::new();
    let mut terminal = play_in_terminal(&game, "exec {}");
    let mut keys = terminal.stdin.take().unwrap();
    let mut screen = terminal.stdout.take().unwrap();
    game.host.wait_for("your move: ");
    // Ctrl-R would begin to resign, and Ctrl-T to talk.
    keys.write_all(b"\x12r\x14").unwrap();
    wait_until_shown(&mut screen, "give up this game?");
    keys.write_all(b"x\x03").unwrap();
    wait_until_shown(&mut screen, "leave?");
    game.goes_on();
    keys.write_all(b"\x03").unwrap();
    let mut parting = String::new();
    screen.read_to_string(&mut parting).unwrap();
    assert!(parting.contains("your seat is kept"), "{parting}");
    assert_eq!(terminal.wait().unwrap().code(), Some(130));
}

#[test]
fn the_list_of_rooms_shows_that_a_seated_player_is_away() {
    let server = Server::start();
    let mut bea = Running::start(&server, &["play", "--new", "--name", "bea", "--side", "black"]);
    bea.wait_for("waiting");
    let mut rooms = Running::start(&server, &["rooms"]);
    rooms.wait_for("bea - open");
    drop(bea);
    rooms.wait_for("bea (away) - open");
}
