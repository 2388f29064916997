//! Clients behind a relay that forwards nothing more of its old connections, without their end, and serves new ones:
//! each is on again soon, and its game goes on. And clients that know a second relay, while the first is cut.

use std::{path::Path, process::Command, time::Duration};

use reversi::proto::v1::{self, play_event::Event};
use reversi_needs::needs;
use tokio::time::{Instant, timeout};
use tonic::Streaming;

use super::{
    bots::{GO_BOT, PYTHON, program},
    command::{Running, Server, reversi},
};
use crate::harness::{cable::Cable, process::Player};

/// Two heartbeats of 3 s, for which each client asks, and the wait before it tries again.
const SOON: Duration = Duration::from_secs(10);

/// Timeout of the other waits.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A room in which the test waits for the client, which connects through the cable.
struct Table {
    opponent: Player,
    turns: Streaming<v1::WatchTurnsResponse>,
    room: String,
    cable: Cable,
    /// Another address of the server.
    second: Cable,
    server: Server,
}

impl Table {
    async fn set() -> Self {
        let server = Server::start();
        let [cable, second] = [(); 2].map(|()| Cable::to(server.url.strip_prefix("http://").unwrap().to_owned()));
        let (cable, second) = (cable.await, second.await);
        let opponent = Player::bot(&server.url, "opponent", 1).await;
        let turns = opponent.turns().await;
        let room = opponent.quick_start_with_anyone().await.room_id;
        Self { opponent, turns, room, cable, second, server }
    }

    /// Waits for the game, and moves first if the opponent has black: sides are drawn.
    async fn begin(&mut self) {
        loop {
            let message = timeout(TIMEOUT, self.turns.message()).await.expect("the game begins");
            match message.unwrap().unwrap().event.unwrap().event.unwrap() {
                Event::GameStarted(started) if started.side() == v1::Side::White => return,
                Event::TurnRequested(turn) => return self.play(&turn).await,
                _ => {}
            }
        }
    }

    /// The opponent's next turn: the client has moved.
    async fn turn(&mut self) -> v1::TurnRequested {
        loop {
            let message = timeout(TIMEOUT, self.turns.message()).await.expect("the client has moved");
            match message.unwrap().unwrap().event.unwrap().event.unwrap() {
                Event::TurnRequested(turn) => return turn,
                Event::GameEnded(ended) => panic!("the client has lost: {ended:?}"),
                _ => {}
            }
        }
    }

    async fn play(&self, turn: &v1::TurnRequested) {
        let square = &turn.position.as_ref().unwrap().legal_moves[0];
        self.opponent.play(&turn.game_id, turn.ply, square).await.unwrap();
    }

    /// Plays against a bot whose connection falls silent before it hears of its turn.
    async fn play_with_a_bot(&mut self, command: Command) {
        self.play_while(command, Cable::silence).await;
    }

    /// Plays against a bot that knows both addresses, and loses the first, where it is.
    async fn play_with_a_bot_at_two(&mut self, command: Command) {
        self.play_while(command, Cable::cut).await;
    }

    async fn play_while(&mut self, command: Command, lose: fn(&Cable)) {
        let mut bot = Running::spawn(command);
        for _ in 0..2 {
            let turn = self.turn().await;
            self.play(&turn).await;
        }
        let turn = self.turn().await;
        lose(&self.cable);
        let silent = Instant::now();
        self.play(&turn).await;
        let turn = self.turn().await;
        assert!(silent.elapsed() < SOON, "it was away for {:?}", silent.elapsed());
        let resignation = v1::ResignRequest { game_id: turn.game_id };
        self.opponent.games().resign(resignation).await.unwrap();
        assert!(bot.child.wait().unwrap().success());
    }

    /// A list of three servers: a closed port, the relay, and the second server.
    fn addresses(&self) -> String {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        format!("{closed},{},{}", self.cable.address, self.second.address)
    }

    fn client(&self, arguments: &[&str]) -> Command {
        let mut command = reversi(arguments);
        command.env("REVERSI_SERVER", format!("http://{}", self.cable.address));
        command
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bot_of_the_command_line_is_on_again() {
    let mut table = Table::set().await;
    let bot = table.client(&["bot", "--quick", "--ai", "greedy", "--games", "1"]);
    table.play_with_a_bot(bot).await;
}

#[needs(python)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_in_python_is_on_again() {
    let python = program(PYTHON);
    let mut table = Table::set().await;
    let mut bot = Command::new(python);
    bot.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/bot.py")).arg(&table.cable.address);
    table.play_with_a_bot(bot).await;
}

#[needs(go_bot)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_in_go_is_on_again() {
    let bot = program(GO_BOT);
    let mut table = Table::set().await;
    let mut bot = Command::new(bot);
    bot.arg(&table.cable.address);
    table.play_with_a_bot(bot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bot_of_the_command_line_plays_on_at_the_next_server() {
    let mut table = Table::set().await;
    let bot = reversi(&["bot", "--quick", "--ai", "greedy", "--games", "1", "--server", &table.addresses()]);
    table.play_with_a_bot_at_two(bot).await;
}

#[needs(python)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_in_python_plays_on_at_the_next_server() {
    let python = program(PYTHON);
    let mut table = Table::set().await;
    let mut bot = Command::new(python);
    bot.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/bot.py")).arg(table.addresses());
    table.play_with_a_bot_at_two(bot).await;
}

#[needs(go_bot)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_in_go_plays_on_at_the_next_server() {
    let bot = program(GO_BOT);
    let mut table = Table::set().await;
    let mut bot = Command::new(bot);
    bot.arg(table.addresses());
    table.play_with_a_bot_at_two(bot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_follows_at_the_next_server_after_silence() {
    let table = Table::set().await;
    let mut watcher = Running::spawn(reversi(&["watch", &table.room, "--server", &table.addresses()]));
    watcher.wait_for("waiting for the game");
    table.cable.hold();
    let mut player = Running::start(&table.server, &["play", "--anyone", "--name", "late"]);
    player.wait_for("room");
    let lost = watcher.wait_for("trying again");
    let named = format!("(at http://{}, next http://{})", table.cable.address, table.second.address);
    assert!(lost.contains(&named), "{lost}");
    watcher.wait_for("late");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_of_a_person_is_repeated() {
    let mut table = Table::set().await;
    let mut person = Running::spawn(table.client(&["play", "--anyone"]));
    table.begin().await;
    for silences in 0..2 {
        let moves = person.wait_for("your move (");
        if silences > 0 {
            table.cable.silence();
        }
        let square = moves.split(' ').nth(3).unwrap();
        person.send_line(square);
        let turn = table.turn().await;
        table.play(&turn).await;
    }
    person.wait_for("trying again");
    person.wait_for("your move (");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_and_hosts_follow_again() {
    let table = Table::set().await;
    let room = &table.room;
    let mut watcher = Running::spawn(table.client(&["watch", room]));
    let mut visitor = Running::spawn(table.client(&["rooms"]));
    let mut host = Running::spawn(table.client(&["host", "--room", room]));
    watcher.wait_for("waiting for the game");
    visitor.wait_for(room);
    host.wait_for("lists the commands");
    table.cable.silence();
    let silent = Instant::now();
    let mut player = Running::start(&table.server, &["play", "--anyone", "--name", "late"]);
    player.wait_for("room");
    for client in [&mut watcher, &mut visitor, &mut host] {
        client.wait_for("trying again");
        client.wait_for("late");
    }
    assert!(silent.elapsed() < SOON, "they were away for {:?}", silent.elapsed());
}
