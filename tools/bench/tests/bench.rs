//! The bench as a user runs it, and whether the baseline sends the same messages as a server.

#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "../../../tests/server/harness/process.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod process;

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Output, Stdio},
};

use process::{Player, Server};
use reversi::proto::v1::{self, play_event::Event};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

fn reversi_bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reversi-bench"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("REVERSI_")) {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

/// Runs a bench with a fixed number of moves. Returns its output and its JSON report.
fn bench(options: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.json");
    let bounds = ["--moves", "300", "--warm-up", "0", "--seconds", "600", "--json", file.to_str().unwrap()];
    let output = reversi_bench(&[&bounds, options].concat()).output().unwrap();
    let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("{output:?}"));
    (output, serde_json::from_str(&text).unwrap())
}

#[test]
fn a_small_load_is_played_without_errors() {
    let (output, report) = bench(&["--rooms", "2", "--watchers", "3", "--watched", "2", "--in-step"]);
    assert!(output.status.success(), "{output:?}");
    let figures = &report["measured"][0]["figures"];
    assert!(figures["moves"].as_f64().unwrap() >= 300.0, "{figures}");
    for name in ["seconds", "moves_per_second", "turn_p50_ms", "turn_p99_ms", "deliveries", "last_watcher_max_ms"] {
        assert!(figures[name].as_f64().unwrap() > 0.0, "{name}: {figures}");
    }
    #[cfg(target_os = "linux")]
    for name in ["server_cpu_s_per_1000_moves", "memory_start_mib", "memory_kib_per_room", "memory_kib_per_watcher"] {
        assert!(figures[name].is_number(), "{name}: {figures}");
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("moves_per_second"));
}

#[test]
fn unary_calls_and_own_connections_are_compared_with_the_baseline() {
    let options = ["--rooms", "2", "--unary", "--own-connections", "--watchers", "1", "--compare", "--rounds", "2"];
    let (output, report) = bench(&options);
    assert!(output.status.success(), "{output:?}");
    let targets: Vec<_> = (0..4).map(|round| report["measured"][round]["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["server, ephemeral", "limit", "limit", "server, ephemeral"]);
    assert_eq!(report["ratios"]["moves_per_second"]["rounds"].as_array().unwrap().len(), 2);
}

#[test]
fn a_running_server_can_be_loaded_repeatedly() {
    let server = Server::start(&["--log", "error"]);
    let pid = server.id().to_string();
    let options = ["--server", &server.url, "--running", "--pid", &pid, "--rooms", "2"];
    for further in [[].as_slice(), &["--own-connections"]] {
        let (output, report) = bench(&[&options, further].concat());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(report["measured"][0]["target"], server.url.as_str());
    }
}

#[test]
fn invalid_options_are_refused() {
    for (options, complaint) in [
        (["--rooms", "0"].as_slice(), "without a room"),
        (&["--rooms", "1", "--watchers", "2", "--watched", "2"], "there are 1 rooms"),
        (&["--ai-rooms", "1", "--compare"], "no AIs"),
        (&["--seconds", "1000000"], "3600"),
    ] {
        let output = reversi_bench(options).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && printed.contains(complaint), "{options:?}: {printed}");
    }
}

/// The baseline server with which a bench compares.
struct BaselineServer {
    child: Child,
    url: String,
}

impl BaselineServer {
    fn start() -> Self {
        let mut child = reversi_bench(&["limit"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit(' ').next().unwrap();
        Self { url: format!("http://{address}"), child }
    }
}

impl Drop for BaselineServer {
    fn drop(&mut self) {
        // It ends when its standard input is closed.
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// A bot with its `Play` stream, and all events that it has received.
struct Bot {
    player: Player,
    down: Streaming<v1::PlayResponse>,
    up: mpsc::Sender<v1::PlayRequest>,
    received: Vec<Event>,
}

impl Bot {
    async fn start(url: &str, name: &str) -> Self {
        let player = Player::bot(url, name, 1).await;
        let (up, moves) = mpsc::channel(1);
        let down = player.games().play(ReceiverStream::new(moves)).await.unwrap().into_inner();
        Self { player, down, up, received: Vec::new() }
    }

    /// Reads events up to a turn request, which is returned, or to the end of the game.
    async fn read(&mut self) -> Option<v1::TurnRequested> {
        loop {
            let event = self.down.message().await.unwrap().unwrap().event.unwrap().event.unwrap();
            if matches!(event, Event::Heartbeat(_)) {
                continue;
            }
            self.received.push(event.clone());
            match event {
                Event::TurnRequested(turn) => return Some(turn),
                Event::GameEnded(_) => return None,
                _ => {}
            }
        }
    }

    /// Answers turn requests until the end of the game, with the given moves or with any square.
    async fn play(&mut self, moves: Option<&[String]>) {
        let mut made = 0;
        while let Some(turn) = self.read().await {
            let square = moves.map_or("a1".to_owned(), |moves| moves[made].clone());
            made += 1;
            self.up.send(v1::PlayRequest { game_id: turn.game_id, ply: turn.ply, square }).await.unwrap();
        }
    }

    /// The moves that the bot has made.
    fn moves(&self) -> Vec<String> {
        let closed = self.received.iter().filter_map(|event| match event {
            Event::TurnClosed(closed) => Some(closed.square.clone()),
            _ => None,
        });
        closed.collect()
    }
}

/// All events that two bots receive for a game, without ids and times.
async fn bot_events(url: &str, moves: Option<[Vec<String>; 2]>) -> [Bot; 2] {
    let (mut black, mut white) = (Bot::start(url, "black 1000.50000").await, Bot::start(url, "white 1000.50000").await);
    let settings = v1::RoomSettings { games: 1_000, swap_sides: Some(false), auto_start: true, ..Default::default() };
    let room = black.player.create(settings, ["me", "open"]).await.room_id;
    white.player.join_and_sit(&room, 1).await;
    black.player.rooms().set_ready(v1::SetReadyRequest { room_id: room, ready: true }).await.unwrap();
    let [first, second] = moves.map_or([None, None], |moves| moves.map(Some));
    tokio::join!(black.play(first.as_deref()), white.play(second.as_deref()));
    for event in black.received.iter_mut().chain(&mut white.received) {
        anonymise(event);
    }
    [black, white]
}

fn anonymise(event: &mut Event) {
    match event {
        Event::TurnRequested(turn) => {
            assert!(turn.clocks.take().is_some());
            (turn.game_id, turn.room_id) = (id_length(&turn.game_id), id_length(&turn.room_id));
        }
        Event::TurnClosed(closed) => closed.game_id = id_length(&closed.game_id),
        Event::GameStarted(started) => {
            (started.game_id, started.room_id) = (id_length(&started.game_id), id_length(&started.room_id));
            let Some(v1::Seat { occupant: Some(v1::seat::Occupant::Player(player)), .. }) = &mut started.opponent
            else {
                panic!("the opponent is a player");
            };
            player.player_id = id_length(&player.player_id);
        }
        Event::GameEnded(ended) => {
            (ended.game_id, ended.room_id) = (id_length(&ended.game_id), id_length(&ended.room_id));
            assert!(ended.series.as_mut().and_then(|series| series.next_game_at.take()).is_some());
        }
        other => panic!("{other:?}"),
    }
}

/// Replaces an id by its length.
fn id_length(id: &str) -> String {
    id.len().to_string()
}

#[tokio::test]
async fn the_baseline_sends_the_messages_of_a_server() {
    let limit = BaselineServer::start();
    let of_limit = bot_events(&limit.url, None).await;
    let server = Server::start(&["--log", "error"]);
    let of_server = bot_events(&server.url, Some([of_limit[0].moves(), of_limit[1].moves()])).await;
    for (one, other) in of_limit.iter().zip(&of_server) {
        assert!(one.received.len() > 50, "{} events", one.received.len());
        for (limit, server) in one.received.iter().zip(&other.received) {
            assert_eq!(limit, server);
        }
        assert_eq!(one.received.len(), other.received.len());
    }
}
