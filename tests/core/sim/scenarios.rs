//! Regression tests: scenarios of bugs that the simulation has found.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSpec, Command, Credentials, DisplayName, Fact, PlayerKind, Room, RoomId, RoomName, SeatSpec, Settings,
        Timestamp,
    },
    rules::{ByColor, Color},
    runtime::{Clock, Limits, NewRoom, Parts, Player, RandomSource, RoomError, Runtime},
};

use crate::sim::{
    dice::Dice,
    disk::{Disk, Fate},
    moment::{Log, What},
    world::{DAWN, encode},
};

/// Time for a move.
const LIMIT: Duration = Duration::from_secs(10);

/// How long the player thinks before the first server crashes.
const THOUGHT: Duration = Duration::from_secs(4);

/// Maximum age of the time that a crashed server noted last.
const ALIVE: Duration = Duration::from_secs(5);

/// A room in which a player must move against an AI, on a server that crashes meanwhile.
struct Table {
    log: Arc<Log>,
    disk: Arc<Disk>,
    room: RoomId,
}

impl Table {
    fn laid() -> Self {
        let log = Arc::new(Log::new());
        let disk = Disk::new(Dice::of(0, 0), Arc::clone(&log));
        let room = live(&disk, DAWN, async |runtime| {
            let runtime = runtime.expect("a start");
            let room = table(&runtime, &human(&runtime, "Ada").await).await;
            tokio::time::sleep(THOUGHT).await;
            room
        });
        Self { log, disk, room }
    }

    /// Runs another server, which starts this many seconds of wall time after the first.
    fn live<T>(&self, seconds: i64, script: impl AsyncFnOnce(std::io::Result<Runtime>) -> T) -> T {
        live(&self.disk, DAWN.shifted(seconds * 1_000_000), script)
    }

    /// The room as written in the journal.
    async fn room(&self) -> Room {
        let history = self.disk.store().journal.load(self.room).await.expect("a disk").expect("an open room");
        history.latest()
    }

    /// All facts written for the room.
    fn facts(&self) -> Vec<Fact> {
        let written = self.log.take().into_iter().filter_map(|moment| match moment.what {
            What::Wrote { room, events } if room == self.room => Some(events),
            _ => None,
        });
        written.flatten().map(|event| event.fact).collect()
    }
}

/// Runs one server on its own virtual time; it crashes when the script ends.
fn live<T>(disk: &Arc<Disk>, wall: Timestamp, script: impl AsyncFnOnce(std::io::Result<Runtime>) -> T) -> T {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    tokio.expect("a tokio runtime").block_on(async {
        let parts = Parts {
            clock: Clock::starting(wall),
            random: RandomSource::seeded(wall.0.cast_unsigned()),
            ai_threads: Some(0),
            ..Parts::new(disk.store(), encode)
        };
        script(Runtime::start(parts).await).await
    })
}

async fn table(runtime: &Runtime, ada: &Arc<Player>) -> RoomId {
    let mut settings = Settings::named(RoomName::parse("table").expect("a name"));
    settings.time.per_move = Some(LIMIT);
    let ai = AiSpec { kind: "random".into(), level: Some(1), seed: Some(1) };
    let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Ai(ai)) };
    let room = runtime.rooms.create(ada, new, None).await.expect("a room").room.id();
    runtime.rooms.command(ada, room, Command::Start).await.expect("a game");
    room
}

async fn human(runtime: &Runtime, name: &str) -> Arc<Player> {
    let name = DisplayName::parse(name).expect("a name");
    runtime.sessions.log_in(name, PlayerKind::Human, 0).await.expect("a log-in").0
}

/// The time left for the move, by the clock of the running server.
async fn left(table: &Table, runtime: &Runtime) -> Duration {
    let room = table.room().await;
    room.flag_falls().expect("a game that runs").since(runtime.clock().now())
}

#[test]
fn a_credit_of_unknown_outcome_is_given_once() {
    let table = Table::laid();
    // Written, but the answer is lost, and then the journal cannot be read for a while.
    table.disk.decide(&[Fate::Unknown(true)]);
    table.disk.decide_reads(&[false, false, false, false, true, true]);
    table.live(100, async |runtime| {
        let _runtime = runtime.expect("a start");
        tokio::time::sleep(Duration::from_secs(3)).await;
    });
    let credits = table.facts().iter().filter(|fact| matches!(fact, Fact::ClockCredited { .. })).count();
    assert_eq!(credits, 1);
}

#[test]
fn a_credit_missed_by_a_crash_is_given_by_the_next_server() {
    let table = Table::laid();
    // The first try, and the next, half a second later.
    table.disk.decide(&[Fate::Refused; 2]);
    table.live(100, async |runtime| {
        let _runtime = runtime.expect("a start");
        tokio::time::sleep(Duration::from_millis(700)).await;
    });
    table.live(200, async |runtime| {
        let runtime = runtime.expect("a start");
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = left(&table, &runtime).await;
        assert!((LIMIT - THOUGHT..=LIMIT - THOUGHT + ALIVE).contains(&(left + Duration::from_millis(10))), "{left:?}");
    });
}

#[test]
fn a_failed_start_leaves_no_trace() {
    let table = Table::laid();
    // All reads succeed but the last, of the end of the rooms.
    table.disk.decide_reads(&[false, false, false, true]);
    table.live(100, async |runtime| {
        assert!(runtime.is_err());
        tokio::time::sleep(2 * LIMIT).await;
        assert!(table.room().await.running().is_some(), "the game ended without a server");
    });
}

#[test]
fn a_credit_is_given_once_after_a_clock_set_back_and_a_failed_start() {
    let table = Table::laid();
    // As above, after one more call that notes the new time.
    table.disk.decide_reads(&[false, false, false, false, true]);
    table.live(-100, async |runtime| assert!(runtime.is_err()));
    table.live(-98, async |runtime| {
        let runtime = runtime.expect("a start");
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(left(&table, &runtime).await + Duration::from_millis(10) >= LIMIT - THOUGHT);
    });
}

#[test]
fn a_seat_of_unknown_outcome_counts_for_the_quota() {
    let disk = Disk::new(Dice::of(0, 0), Arc::new(Log::new()));
    live(&disk, DAWN, async |runtime| {
        let runtime = runtime.expect("a start");
        let ada = human(&runtime, "Ada").await;
        let mut rooms = Vec::new();
        for name in ["Bob", "Eve"] {
            let settings = Settings::named(RoomName::parse(name).expect("a name"));
            let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Open, SeatSpec::Open) };
            let room = runtime.rooms.create(&human(&runtime, name).await, new, None).await.expect("a room").room.id();
            let join = Command::Join(ada.profile.clone(), Credentials::default());
            runtime.rooms.command(&ada, room, join).await.expect("a way in");
            rooms.push(room);
        }
        let sit = Command::TakeSeat(Color::Black);
        disk.decide(&[Fate::Unknown(true)]);
        disk.decide_reads(&[true, true]);
        assert_eq!(runtime.rooms.command(&ada, rooms[0], sit.clone()).await, Err(RoomError::StoreUnavailable));
        assert_eq!(runtime.rooms.command(&ada, rooms[1], sit.clone()).await, Err(RoomError::QuotaSeats));
        tokio::time::sleep(Duration::from_secs(2)).await;
        runtime.rooms.command(&ada, rooms[0], Command::LeaveSeat).await.expect("the seat that was given");
        // This time the seat is not given, as the journal shows later.
        disk.decide(&[Fate::Unknown(false)]);
        disk.decide_reads(&[true]);
        assert_eq!(runtime.rooms.command(&ada, rooms[0], sit.clone()).await, Err(RoomError::StoreUnavailable));
        tokio::time::sleep(Duration::from_secs(2)).await;
        runtime.rooms.command(&ada, rooms[1], sit).await.expect("a seat");
    });
}

#[test]
fn the_next_server_completes_an_unfinished_log_out() {
    let disk = Disk::new(Dice::of(0, 0), Arc::new(Log::new()));
    let room = live(&disk, DAWN, async |runtime| {
        let runtime = runtime.expect("a start");
        let ada = human(&runtime, "Ada").await;
        let settings = Settings::named(RoomName::parse("table").expect("a name"));
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Open, SeatSpec::Open) };
        let room = runtime.rooms.create(&ada, new, None).await.expect("a room").room.id();
        disk.decide(&[Fate::Refused]);
        assert_eq!(runtime.sessions.log_out(&ada).await, Err(RoomError::StoreUnavailable));
        room
    });
    live(&disk, DAWN.shifted(1_000_000), async |runtime| {
        let _runtime = runtime.expect("a start");
        tokio::time::sleep(3 * Limits::default().presence_grace).await;
        assert_eq!(disk.store().journal.load(room).await, Ok(None));
    });
}
