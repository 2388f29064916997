//! The cost of durability: `cargo bench --bench durable`.
//!
//! Bots of this process play on the real server, which stores everything in a file, then on one that stores nothing, in
//! turn. At the end it measures how fast a server opens a file with ten thousand open rooms.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

#[path = "../tests/server/storage/crash/bots.rs"]
#[allow(dead_code, reason = "what is right is for the tests")]
mod bots;
#[path = "../tests/server/harness/process.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod process;

/// The harness of the tests.
mod harness {
    pub(crate) use super::process;
}

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bots::{Acknowledged, Bots};
use process::{Player, Server};
use reversi::{
    proto::v1,
    room::{
        Command, Creation, DisplayName, Event, Fact, Issuer, JoinCode, Occupant, PlayerId, PlayerKind, Policy, Profile,
        Room, RoomId, RoomName, Seq, Settings, Timestamp,
    },
    rules::{ByColor, Color},
    store::{Append, Journal as _, PlayerStore as _, SqliteStore, StoredPlayer},
};

const ROUNDS: usize = 5;

/// Number of moves measured one after another, each after the answer to the last.
const TURNS: usize = 2_000;

/// Pairs of bots, which play as fast as they can. A bot holds at most 64 seats.
const PAIRS: usize = 8;
const ROOMS_OF_A_PAIR: usize = 63;
const SPAN: Duration = Duration::from_secs(8);

const OPEN_ROOMS: u64 = 10_000;

#[tokio::main]
async fn main() {
    let (mut medians, mut rates) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let durable = measure(true).await;
        let ephemeral = measure(false).await;
        println!("round {round}: in a file {durable}");
        println!("round {round}: in memory {ephemeral}");
        medians.push((durable.median.as_secs_f64() - ephemeral.median.as_secs_f64()) * 1e3);
        rates.push(durable.rate / ephemeral.rate);
    }
    println!("median turn, file less memory: {:.3} ms (of {ROUNDS}: {medians:.3?})", median(&mut medians));
    println!("moves a second, file to memory: {:.2} (of {ROUNDS}: {rates:.2?})", median(&mut rates));
    measure_start().await;
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Figures {
    median: Duration,
    p99: Duration,
    rate: f64,
    /// Mean number of writes in one commit.
    batch: f64,
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { median, p99, rate, batch } = self;
        write!(
            f,
            "median turn {median:.0?}, p99 {p99:.0?}; {rate:.0} moves a second in 504 rooms; {batch:.1} writes a commit"
        )
    }
}

async fn measure(durable: bool) -> Figures {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().to_str().unwrap();
    // All requests come from one address, as fast as possible.
    let unlimited = ["--rate-per-address", "0", "--game-rate", "0", "--game-rate-per-address", "0"];
    let mut options = [&["--log", "error", "--metrics", "127.0.0.1:0"][..], &unlimited].concat();
    if durable {
        options.extend(["--data", data]);
    }
    let mut server = Server::start(&options);
    let metrics = server.wait_for_line("metrics: ");
    let mut turns = turns(&server).await;
    turns.sort();
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        pairs.push(Bots::create(&server.url, ROOMS_OF_A_PAIR, &format!("{pair}")).await);
    }
    let before = commits(&metrics).await;
    let end = tokio::time::Instant::now() + SPAN;
    let mut playing = tokio::task::JoinSet::new();
    for mut bots in pairs {
        playing.spawn(async move {
            let mut acknowledged = Acknowledged::default();
            while tokio::time::timeout_at(end, bots.play(1, &mut acknowledged)).await.is_ok() {}
            bots.stop();
            acknowledged.count()
        });
    }
    let moves: usize = playing.join_all().await.into_iter().sum();
    let rate = moves as f64 / SPAN.as_secs_f64();
    let after = commits(&metrics).await;
    let batch = (after.0 - before.0) / (after.1 - before.1);
    Figures { median: turns[TURNS / 2], p99: turns[TURNS * 99 / 100], rate, batch }
}

/// The latency of each move of two players on an otherwise idle server.
async fn turns(server: &Server) -> Vec<Duration> {
    let [black, white] = [Player::bot(&server.url, "one", 1).await, Player::bot(&server.url, "other", 1).await];
    let settings = v1::RoomSettings { games: 1_000, swap_sides: Some(false), ..Default::default() };
    let room = black.create(settings, ["me", "open"]).await.room_id;
    white.join_and_sit(&room, 1).await;
    black.start(&room).await;
    let mut seconds = Vec::new();
    while seconds.len() < TURNS {
        let game = black.room(&room).await.game.unwrap();
        let position = game.position.clone().unwrap();
        // The game is over; the next one starts soon.
        let Some(square) = position.legal_moves.first() else { continue };
        let player = if position.side_to_move() == v1::Side::White { &white } else { &black };
        let began = Instant::now();
        player.play(&game.game_id, game.ply, square).await.unwrap();
        seconds.push(began.elapsed());
    }
    seconds
}

/// Total number of writes and of commits so far.
async fn commits(metrics: &str) -> (f64, f64) {
    let url = metrics.to_owned();
    let text = tokio::task::spawn_blocking(move || process::http_get(&url).1).await.unwrap();
    let figure = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(f64::NAN)
    };
    (figure("reversi_journal_commit_writes_sum"), figure("reversi_journal_commit_writes_count"))
}

/// Measures the start of a server with [`OPEN_ROOMS`] rooms, a tenth of them with a running game.
async fn measure_start() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fill(folder.path()).await;
    let bytes = std::fs::metadata(folder.path().join(SqliteStore::FILE)).unwrap().len();
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let server = Server::start(&["--log", "error", "--data", folder.path().to_str().unwrap()]);
        seconds.push(began.elapsed().as_secs_f64());
        assert_eq!(
            server.log_in(&format!("v{}", seconds.len()), 1 << 20).await.info().await.rooms,
            i32::try_from(OPEN_ROOMS).unwrap()
        );
        assert!(server.stop().await.0);
    }
    println!(
        "{OPEN_ROOMS} rooms of {} MiB are loaded after {:.2} s (of {ROUNDS}: {seconds:.2?})",
        bytes >> 20,
        median(&mut seconds)
    );
}

async fn fill(folder: &Path) {
    let store = SqliteStore::open(folder).unwrap();
    let at = Timestamp(reversi::runtime::Clock::system().now().0);
    for number in 0..OPEN_ROOMS {
        let owner = profile(2 * number, &format!("owner {number}"));
        let seen = StoredPlayer {
            profile: owner.clone(),
            seats: 1,
            token: token(number),
            seen: at,
            claimed: false,
            availability: None,
            played: false,
        };
        store.put_player(seen).await.unwrap();
        let events = history(number, &owner, at, number % 10 == 0);
        let id = RoomId::from_random(number);
        store.append(Append { room: id, expected: Seq(0), events: &events, games: &[] }).await.unwrap();
    }
    store.mark_alive(at).await.unwrap();
}

fn token(number: u64) -> [u8; 32] {
    let mut token = [0; 32];
    token[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    token
}

fn profile(number: u64, name: &str) -> Profile {
    Profile {
        id: PlayerId::from_random(number),
        name: DisplayName::parse(name).unwrap(),
        kind: PlayerKind::Bot,
        engine_version: None,
    }
}

/// The events of a room: created by its owner, and with a game of twenty plies if `plays`.
fn history(number: u64, owner: &Profile, at: Timestamp, plays: bool) -> Vec<Event> {
    let creation = Creation {
        id: RoomId::from_random(number),
        code: JoinCode::from_random(number),
        owner: owner.clone(),
        settings: Settings::named(RoomName::parse("a room").unwrap()),
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(7_200), members: 64 },
        seats: ByColor::new(Occupant::Player(owner.clone()), Occupant::Open),
        meeting: None,
        request: None,
    };
    let mut events = vec![Event { seq: Seq(1), at, fact: Fact::Created(Box::new(creation.clone())) }];
    if !plays {
        return events;
    }
    let mut room = Room::new(creation, at);
    let guest = profile(2 * number + 1, &format!("guest {number}"));
    let wishes = [
        (&guest, Command::Join(guest.clone(), Default::default())),
        (&guest, Command::TakeSeat(Color::White)),
        (&guest, Command::SetReady(true)),
        (owner, Command::Start(None)),
    ];
    for (player, wish) in wishes {
        execute(&mut room, &mut events, player.id, wish);
    }
    for _ in 0..20 {
        let game = room.running().unwrap();
        let mover = room.seats()[game.position.turn()].occupant.player().unwrap();
        let square = game.position.legal_moves().into_iter().next().unwrap();
        let play = Command::Play { game: game.number, ply: game.ply(), square, thought: None };
        execute(&mut room, &mut events, mover, play);
    }
    events
}

fn execute(room: &mut Room, events: &mut Vec<Event>, player: PlayerId, command: Command) {
    let caused = room.decide(events[0].at, Issuer::Player(player), command).unwrap();
    caused.iter().for_each(|event| room.apply(event));
    events.extend(caused);
}
