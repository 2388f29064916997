//! `reversi host` as a user runs it: the real binary, a room, bots that join it, and all commands of the owner.

use super::command::{Running, Server};

/// A host that has created its room and reads commands.
fn start_host(server: &Server, arguments: &[&str]) -> (Running, String) {
    let mut host = Running::start(server, &[&["host"], arguments].concat());
    let line = host.wait_for("join code");
    host.wait_for("`help` lists");
    (host, line.split([' ', ',']).nth(1).unwrap().to_owned())
}

fn start_bot(server: &Server, room: &str, name: &str, games: &str) -> Running {
    Running::start(server, &["bot", "--room", room, "--name", name, "--ai", "greedy", "--games", games])
}

#[test]
fn a_host_starts_games_of_bots_and_of_ais() {
    let server = Server::start();
    let (mut host, room) = start_host(&server, &["--name", "ada", "--room-name", "Cup"]);
    host.send_and_wait("start", "both seats must be filled and ready");
    let mut ann = start_bot(&server, &room, "ann", "1");
    host.wait_for("ann came in");
    host.wait_for("black (ann) is ready");
    let mut bob = start_bot(&server, &room, "bob", "1");
    host.wait_for("white (bob) is ready");
    host.send_and_wait("seat white random", "the seat is taken: `kick bob` frees it");
    host.send_and_wait("start", "game 1 begins: black is ann, white is bob");
    host.wait_for("1. black ");
    let result = host.wait_for("game over: ");
    assert!(result.contains(&format!("reversi watch {room}-1")), "{result}");
    host.wait_for(" left");
    host.wait_for(" left");
    ann.wait_for_exit();
    bob.wait_for_exit();

    host.send_and_wait("seat white nobody", "this server has random");
    host.send_and_wait("seat white random", "AI random:1 takes white");
    host.send_and_wait("seat black greedy:1", "AI greedy:1 takes black");
    host.send_and_wait("set games 2", "series of 2 games");
    host.send_and_wait("set pause 1000000", "ai_pause must be");
    host.send_and_wait("set limit 2.5", "2.5 s for a move");
    host.send_and_wait("set name Monday", "\"Monday\"");
    host.send_and_wait("start", "game 2 begins (1 of 2)");
    host.wait_for("game over: ");
    host.wait_for("game 3 begins (2 of 2)");
    host.wait_for("game over: ");
    host.send_and_wait("close", "the room closes");
    assert_eq!(host.wait_for_exit(), "");
}

#[test]
fn a_host_removes_members_and_transfers_the_room() {
    let server = Server::start();
    let (mut host, room) = start_host(&server, &["--name", "ada", "--white", "random"]);
    let mut bot = start_bot(&server, &room, "Carl", "0");
    host.wait_for("black (Carl) is ready");
    host.send_and_wait("swap", "the sides are swapped");
    host.send_and_wait("kick zed", "no member is named `zed`; the members are ada, Carl");
    host.send_and_wait("ban carl", "Carl was removed for good");
    assert_eq!(bot.child.wait().unwrap().code(), Some(1), "it has played no game");

    let (mut heir, _) = start_host(&server, &["--name", "dora", "--room", &room]);
    host.wait_for("dora came in");
    heir.send_and_wait("start", "only the room's owner may do this");
    let _elsewhere = start_host(&server, &["--name", "eve"]);
    host.send_and_wait("seat white for eve", "the seat of white is kept for eve");
    host.send_and_wait("seat white for DORA", "the seat of white is kept for dora");
    host.send_and_wait("transfer dora", "dora owns the room now; you stay as a member");
    heir.wait_for("you own the room now");
    host.send_and_wait("start", "only the room's owner may do this");
    host.send_and_wait("say good luck", "<ada> good luck");
    heir.wait_for("<ada> good luck");
    let members = heir.send_and_wait("who", "members:");
    assert!(members.contains("dora (owner, you)"), "{members}");
    host.send_and_wait("leave", "leaving");
    host.wait_for_exit();
    heir.wait_for("ada left");
    heir.send_and_wait("abort", "no game is being played");
    heir.send_and_wait("seat white roxanne", "AI roxanne");
    heir.send_and_wait("set auto-start on", "game 1 begins");
    heir.wait_for("game over: ");
    heir.send_and_wait("close", "the room closes");
    heir.wait_for_exit();
}

#[test]
fn after_the_end_of_a_script_its_games_are_completed() {
    let server = Server::start();
    let (mut host, _) =
        start_host(&server, &["--black", "greedy", "--white", "random", "--games", "2", "--opening", "f5d6c3"]);
    host.send_line("start");
    drop(host.child.stdin.take());
    host.wait_for("game 1 begins (1 of 2): black is AI greedy:1, white is AI random:1, after f5 d6 c3");
    host.wait_for("4. white ");
    host.wait_for("game 2 begins (2 of 2)");
    host.wait_for("game over: ");
    host.wait_for("no more input: leaving");
    assert_eq!(host.wait_for_exit(), "");
}

#[test]
fn a_host_ends_a_series_during_a_game() {
    let server = Server::start();
    let options = ["--black", "random", "--white", "random", "--games", "50", "--pause", "20"];
    let (mut host, _) = start_host(&server, &options);
    host.send_and_wait("start", "game 1 begins (1 of 50)");
    host.send_and_wait("end-series", "this is the last game of the series");
    let over = host.wait_for("game over");
    assert!(over.contains("to see it again"), "{over}");
    host.send_and_wait("end-series", "no series is running");
}

#[test]
fn a_host_with_a_seat_plays_by_commands() {
    let server = Server::start();
    let (mut host, _) =
        start_host(&server, &["--black", "me", "--white", "random", "--private", "--password", "sesame"]);
    host.send_and_wait("start", "your move: d3 c4 f5 e6");
    host.send_and_wait("move a1", "the moves are d3 c4 f5 e6");
    host.send_and_wait("move d3", "1. black d3");
    host.send_and_wait("close", "not while");
    host.send_and_wait("resign", "game over: white wins (by resignation)");
    host.send_and_wait("leave", "leaving");
    host.wait_for_exit();
}

#[test]
fn a_host_comes_back_by_a_kept_login() {
    let server = Server::start();
    let keep = super::command::file("host-login");
    // A person may hold one seat: the second room needs that the first one was left.
    for arguments in [&["--name", "ada"][..], &[]] {
        let (mut host, _) = start_host(&server, &[arguments, &["--keep", &keep, "--black", "me"]].concat());
        let members = host.send_and_wait("who", "members:");
        assert!(members.contains("ada (owner, you)"), "{members}");
        host.send_and_wait("leave", "leaving");
        host.wait_for_exit();
    }
    std::fs::remove_file(keep).unwrap();
}
