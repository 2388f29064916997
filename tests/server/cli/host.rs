//! `reversi host` as a user runs it: the real binary, a room, bots that join it, and all commands of the owner.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

/// Timeout of each wait; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A running command, killed when this is dropped: its output by line, and its input.
struct Running {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    fn start(arguments: &[&str], server: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reversi"));
        // Without the variables of the tests' environment.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("REVERSI_")) {
            command.env_remove(name);
        }
        let mut child = command
            .args(arguments)
            .args(server.iter().flat_map(|server| ["--server", server]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(10_000);
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Self { name: arguments.join(" "), child, input, lines, seen: vec![] }
    }

    /// Waits for a line that contains this text.
    #[track_caller]
    fn wait_for(&mut self, part: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(TIMEOUT) else {
                panic!("`{}` never said {part:?}, but\n{}", self.name, self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Writes a line, and waits for a line that contains `part`.
    #[track_caller]
    fn send_and_wait(&mut self, line: &str, part: &str) -> String {
        self.send_line(line);
        self.wait_for(part)
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the command to succeed. Returns the rest of its output.
    #[track_caller]
    fn wait_for_exit(&mut self) -> String {
        let mut rest = String::new();
        // The channel closes when the output ends.
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            rest += &line;
            rest.push('\n');
        }
        assert!(self.child.wait().unwrap().success(), "`{}` failed after\n{rest}", self.name);
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server, and commands run against it.
struct Server {
    _process: Running,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut process = Running::start(&["serve", "--ephemeral", "--listen", "127.0.0.1:0", "--log", "error"], None);
        let line = process.wait_for("listening on ");
        let (_, address) = line.split_once("listening on ").unwrap();
        let url = format!("http://{}", address.split_whitespace().next().unwrap());
        Self { _process: process, url }
    }

    fn run(&self, arguments: &[&str]) -> Running {
        Running::start(arguments, Some(&self.url))
    }

    /// A host that has created its room and reads commands.
    fn host(&self, arguments: &[&str]) -> (Running, String) {
        let mut host = self.run(&[&["host"], arguments].concat());
        let line = host.wait_for("join code");
        host.wait_for("`help` lists");
        (host, line.split([' ', ',']).nth(1).unwrap().to_owned())
    }

    fn bot(&self, room: &str, name: &str, games: &str) -> Running {
        self.run(&["bot", "--room", room, "--name", name, "--ai", "greedy", "--games", games])
    }
}

#[test]
fn a_host_starts_games_of_bots_and_of_ais() {
    let server = Server::start();
    let (mut host, room) = server.host(&["--name", "ada", "--room-name", "Cup"]);
    host.send_and_wait("start", "both seats must be filled and ready");
    let mut ann = server.bot(&room, "ann", "1");
    host.wait_for("ann came in");
    host.wait_for("black (ann) is ready");
    let mut bob = server.bot(&room, "bob", "1");
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
    host.send_and_wait("seat white random", "AI random 1 takes white");
    host.send_and_wait("seat black greedy:1", "AI greedy 1 takes black");
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
    let (mut host, room) = server.host(&["--name", "ada", "--white", "random"]);
    let mut bot = server.bot(&room, "Carl", "0");
    host.wait_for("black (Carl) is ready");
    host.send_and_wait("swap", "the sides are swapped");
    host.send_and_wait("kick zed", "no member is named `zed`; the members are ada, Carl");
    host.send_and_wait("ban carl", "Carl was removed for good");
    assert_eq!(bot.child.wait().unwrap().code(), Some(1), "it has played no game");

    let (mut heir, _) = server.host(&["--name", "dora", "--room", &room]);
    host.wait_for("dora came in");
    heir.send_and_wait("start", "only the room's owner may do this");
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
    let (mut host, _) = server.host(&["--black", "greedy", "--white", "random", "--games", "2", "--opening", "f5d6c3"]);
    host.send_line("start");
    host.close_input();
    host.wait_for("game 1 begins (1 of 2): black is AI greedy 1, white is AI random 1, after f5 d6 c3");
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
    let (mut host, _) = server.host(&options);
    host.send_and_wait("start", "game 1 begins (1 of 50)");
    host.send_and_wait("end-series", "this is the last game of the series");
    let over = host.wait_for("game over");
    assert!(over.contains("to see it again"), "{over}");
    host.send_and_wait("end-series", "no series is running");
}

#[test]
fn a_host_with_a_seat_plays_by_commands() {
    let server = Server::start();
    let (mut host, _) = server.host(&["--black", "me", "--white", "random", "--private", "--password", "sesame"]);
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
        let (mut host, _) = server.host(&[arguments, &["--keep", &keep, "--black", "me"]].concat());
        let members = host.send_and_wait("who", "members:");
        assert!(members.contains("ada (owner, you)"), "{members}");
        host.send_and_wait("leave", "leaving");
        host.wait_for_exit();
    }
    std::fs::remove_file(keep).unwrap();
}
