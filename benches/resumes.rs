//! The latency of commands while watchers resume: `cargo bench --bench resumes`.
//!
//! 500 watchers of one room resume at the same moment, each 200 events late, while its owner sends commands. Prints the
//! median latency of the commands without and with resuming watchers, in µs. The goal is a ratio of at most 2.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]

use std::{sync::Arc, time::Duration};

use reversi::{
    grpc,
    room::{Command, Credentials, DisplayName, PlayerKind, RoomId, SeatSpec, Seq, Settings},
    rules::ByColor,
    runtime::{NewRoom, Parts, Player, Runtime, Update, WatchStart},
    store::{SqliteStore, Store},
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

const WATCHERS: usize = 500;
const MISSED: u64 = 200;
const WATCHERS_PER_PLAYER: usize = 50;
const ROUNDS: usize = 10;

fn main() {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(compare());
}

async fn compare() {
    // A store in memory keeps too few events to resume from.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Store::of(SqliteStore::open(folder.path()).unwrap());
    let runtime = Runtime::start(Parts::new(store, grpc::encode)).await.unwrap();
    let mut owner = Owner::new(&runtime).await;
    while owner.last.0 <= MISSED {
        owner.command().await;
    }
    let mut players = Vec::new();
    for number in 0..WATCHERS / WATCHERS_PER_PLAYER {
        players.push(log_in(&runtime, &format!("watcher-{number}")).await);
    }
    for _ in 0..ROUNDS {
        let alone = owner.latencies(&mut JoinSet::new()).await;
        let (room, after) = (owner.room, Seq(owner.last.0 - MISSED));
        let mut watchers = JoinSet::new();
        for number in 0..WATCHERS {
            let (runtime, player) = (runtime.clone(), Arc::clone(&players[number / WATCHERS_PER_PLAYER]));
            watchers.spawn(async move { resume(&runtime, &player, room, after).await });
        }
        let resuming = owner.latencies(&mut watchers).await;
        let commands = resuming.len();
        let (alone, resuming) = (median(alone), median(resuming));
        println!("command p50: {alone:>6} us alone, {resuming:>6} us during resumes ({commands} commands)");
    }
}

async fn log_in(runtime: &Runtime, name: &str) -> Arc<Player> {
    runtime.sessions.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Bot, 1, None, None).await.unwrap().0
}

/// Reads the stream of a resuming watcher until it has all events.
async fn resume(runtime: &Runtime, player: &Arc<Player>, room: RoomId, after: Seq) {
    let mut watch = runtime.streams.room(player, room, Credentials::default(), WatchStart::After(after)).await.unwrap();
    for _ in 0..MISSED {
        assert!(matches!(watch.next().await, Ok(Update::Event(_))));
    }
}

/// The owner of a room, who is ready and not ready in turn.
struct Owner {
    runtime: Runtime,
    player: Arc<Player>,
    room: RoomId,
    ready: bool,
    last: Seq,
}

impl Owner {
    async fn new(runtime: &Runtime) -> Self {
        let player = log_in(runtime, "owner").await;
        let settings = Settings::named((&player.name).into());
        let seats = ByColor::new(SeatSpec::Me, SeatSpec::Open);
        let room = runtime.rooms.create(&player, NewRoom { settings, seats }, None).await.unwrap().room.id();
        Self { runtime: runtime.clone(), player, room, ready: false, last: Seq(1) }
    }

    /// Sends one command, which causes one event.
    async fn command(&mut self) {
        self.ready = !self.ready;
        let command = Command::SetReady(self.ready);
        self.last = self.runtime.rooms.command(&self.player, self.room, command).await.unwrap().seq;
    }

    /// The latencies of commands sent every millisecond, until the watchers have resumed; of 200 commands if there are
    /// none.
    async fn latencies(&mut self, watchers: &mut JoinSet<()>) -> Vec<Duration> {
        let (mut found, waits) = (Vec::new(), !watchers.is_empty());
        while if waits { !watchers.is_empty() } else { found.len() < 200 } {
            let start = Instant::now();
            self.command().await;
            found.push(start.elapsed());
            sleep(Duration::from_millis(1)).await;
            while watchers.try_join_next().map(Result::unwrap).is_some() {}
        }
        found
    }
}

fn median(mut latencies: Vec<Duration>) -> u128 {
    latencies.sort_unstable();
    latencies[latencies.len() / 2].as_micros()
}
