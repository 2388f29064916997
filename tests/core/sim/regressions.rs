//! Regression tests: scenarios of bugs that the simulation has found.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSpec, Command, Credentials, DisplayName, Fact, PlayerKind, Room, RoomId, RoomName, SeatSpec, Settings,
        Timestamp,
    },
    rules::{ByColor, Color},
    runtime::{Clock, Limits, NewRoom, Opponent, Parts, Player, RandomSource, RoomError, Runtime},
};

use crate::sim::{
    event_log::{Log, SimEvent},
    faulty_disk::{AppendOutcome, FaultyDisk},
    rng::Rng,
    simulation::{START_TIME, encode},
};

/// Time for a move.
const MOVE_TIME: Duration = Duration::from_secs(10);

/// How long the player thinks before the first server crashes.
const THINKING_TIME: Duration = Duration::from_secs(4);

/// Maximum age of the time that a crashed server noted last.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// A room in which a player must move against an AI, on a server that crashes meanwhile.
struct GameAtCrash {
    log: Arc<Log>,
    disk: Arc<FaultyDisk>,
    room: RoomId,
}

impl GameAtCrash {
    fn new() -> Self {
        let log = Arc::new(Log::new());
        let disk = FaultyDisk::new(Rng::seeded(0, 0), Arc::clone(&log));
        let room = run_server(&disk, START_TIME, async |runtime| {
            let runtime = runtime.expect("a started server");
            let room = create_game(&runtime, &human(&runtime, "Ada").await).await;
            tokio::time::sleep(THINKING_TIME).await;
            room
        });
        Self { log, disk, room }
    }

    /// Runs another server, which starts this many seconds of wall time after the first.
    fn run_server<T>(&self, seconds: i64, script: impl AsyncFnOnce(std::io::Result<Runtime>) -> T) -> T {
        run_server(&self.disk, START_TIME.shifted(seconds * 1_000_000), script)
    }

    /// The room as written in the journal.
    async fn room(&self) -> Room {
        let history = self.disk.store().journal.load(self.room).await.expect("readable").expect("an open room");
        history.latest()
    }

    /// All facts written for the room.
    fn facts(&self) -> Vec<Fact> {
        let written = self.log.take().into_iter().filter_map(|entry| match entry.what {
            SimEvent::Written { room, events } if room == self.room => Some(events),
            _ => None,
        });
        written.flatten().map(|event| event.fact).collect()
    }
}

/// A second, in microseconds.
const SECOND: i64 = 1_000_000;

fn credited(fact: &Fact) -> Option<i64> {
    if let Fact::ClockCredited { micros } = fact { Some(*micros) } else { None }
}

/// Runs one server on its own virtual time; it crashes when the script ends.
fn run_server<T>(
    disk: &Arc<FaultyDisk>,
    wall: Timestamp,
    script: impl AsyncFnOnce(std::io::Result<Runtime>) -> T,
) -> T {
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

async fn create_game(runtime: &Runtime, ada: &Arc<Player>) -> RoomId {
    let mut settings = Settings::named(RoomName::parse("room").expect("a name"));
    settings.time.per_move = Some(MOVE_TIME);
    let ai = AiSpec { kind: "random".into(), level: Some(1), seed: Some(1) };
    let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Ai(ai)) };
    let room = runtime.rooms.create(ada, new, None).await.expect("a room").room.id();
    runtime.rooms.command(ada, room, Command::Start(None)).await.expect("a game");
    room
}

async fn human(runtime: &Runtime, name: &str) -> Arc<Player> {
    let name = DisplayName::parse(name).expect("a name");
    runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in").0
}

/// The time left for the move, by the clock of the running server.
async fn time_left(crashed: &GameAtCrash, runtime: &Runtime) -> Duration {
    let room = crashed.room().await;
    room.flag_falls().expect("a game that runs").since(runtime.clock().now())
}

#[test]
fn a_credit_of_unknown_outcome_is_given_once() {
    let crashed = GameAtCrash::new();
    // Written, but the answer is lost, and then the journal cannot be read for a while.
    crashed.disk.set_append_outcomes(&[AppendOutcome::Unknown(true)]);
    crashed.disk.set_access_failures(&[false, false, false, false, true, true]);
    crashed.run_server(100, async |runtime| {
        let _runtime = runtime.expect("a started server");
        tokio::time::sleep(Duration::from_secs(3)).await;
    });
    let credits: Vec<_> = crashed.facts().iter().filter_map(credited).collect();
    // The downtime, and then the time until the journal could be read.
    assert!(credits.len() == 2 && (99 * SECOND..=106 * SECOND).contains(&credits.iter().sum()), "{credits:?}");
}

#[test]
fn a_credit_missed_by_a_crash_is_given_by_the_next_server() {
    let crashed = GameAtCrash::new();
    // The first try, and the next, half a second later.
    crashed.disk.set_append_outcomes(&[AppendOutcome::Refused; 2]);
    crashed.run_server(100, async |runtime| {
        let _runtime = runtime.expect("a started server");
        tokio::time::sleep(Duration::from_millis(700)).await;
    });
    crashed.run_server(200, async |runtime| {
        let runtime = runtime.expect("a started server");
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = time_left(&crashed, &runtime).await;
        assert!(
            (MOVE_TIME - THINKING_TIME..=MOVE_TIME - THINKING_TIME + ALIVE_INTERVAL)
                .contains(&(left + Duration::from_millis(10))),
            "{left:?}"
        );
    });
}

#[test]
fn a_failed_start_leaves_no_trace() {
    let crashed = GameAtCrash::new();
    // All reads succeed but the last, of the end of the rooms.
    crashed.disk.set_access_failures(&[false, false, false, true]);
    crashed.run_server(100, async |runtime| {
        assert!(runtime.is_err());
        tokio::time::sleep(2 * MOVE_TIME).await;
        assert!(crashed.room().await.running().is_some(), "the game ended without a server");
    });
}

#[test]
fn a_credit_is_given_once_after_a_clock_set_back_and_a_failed_start() {
    let crashed = GameAtCrash::new();
    // As above, after one more call that notes the new time.
    crashed.disk.set_access_failures(&[false, false, false, false, true]);
    crashed.run_server(-100, async |runtime| assert!(runtime.is_err()));
    crashed.run_server(-98, async |runtime| {
        let runtime = runtime.expect("a started server");
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(time_left(&crashed, &runtime).await + Duration::from_millis(10) >= MOVE_TIME - THINKING_TIME);
    });
}

#[test]
fn a_seat_of_unknown_outcome_counts_for_the_quota() {
    let disk = FaultyDisk::new(Rng::seeded(0, 0), Arc::new(Log::new()));
    run_server(&disk, START_TIME, async |runtime| {
        let runtime = runtime.expect("a started server");
        let ada = human(&runtime, "Ada").await;
        let mut rooms = Vec::new();
        for name in ["Bob", "Eve"] {
            let settings = Settings::named(RoomName::parse(name).expect("a name"));
            let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Open, SeatSpec::Open) };
            let room = runtime.rooms.create(&human(&runtime, name).await, new, None).await.expect("a room").room.id();
            let join = Command::Join(ada.profile(), Credentials::default());
            runtime.rooms.command(&ada, room, join).await.expect("joined");
            rooms.push(room);
        }
        let take_seat = Command::TakeSeat(Color::Black);
        disk.set_append_outcomes(&[AppendOutcome::Unknown(true)]);
        disk.set_access_failures(&[true, true]);
        assert_eq!(runtime.rooms.command(&ada, rooms[0], take_seat.clone()).await, Err(RoomError::StoreUnavailable));
        assert_eq!(runtime.rooms.command(&ada, rooms[1], take_seat.clone()).await, Err(RoomError::QuotaSeats));
        tokio::time::sleep(Duration::from_secs(2)).await;
        runtime.rooms.command(&ada, rooms[0], Command::LeaveSeat).await.expect("the seat that was given");
        // This time the seat is not given, as the journal shows later.
        disk.set_append_outcomes(&[AppendOutcome::Unknown(false)]);
        disk.set_access_failures(&[true]);
        assert_eq!(runtime.rooms.command(&ada, rooms[0], take_seat.clone()).await, Err(RoomError::StoreUnavailable));
        tokio::time::sleep(Duration::from_secs(2)).await;
        runtime.rooms.command(&ada, rooms[1], take_seat).await.expect("a seat");
    });
}

#[test]
fn a_player_who_is_banned_leaves_a_waiting_room_to_others() {
    let disk = FaultyDisk::new(Rng::seeded(0, 0), Arc::new(Log::new()));
    run_server(&disk, START_TIME, async |runtime| {
        let runtime = runtime.expect("a started server");
        let [ada, bob, eve] = ["Ada", "Bob", "Eve"].map(|name| human(&runtime, name));
        let (ada, bob, eve) = (ada.await, bob.await, eve.await);
        let _turns = runtime.streams.turns(&ada).await.expect("a stream");
        let start = async |player: &Arc<Player>| {
            runtime.rooms.quick_start(player, Opponent::Anyone, None, None, None).await.expect("a room").room.id()
        };
        let waits = start(&ada).await;
        let ban = Command::Kick { player: bob.id(), ban: true };
        runtime.rooms.command(&ada, waits, ban).await.expect("banned");
        assert_ne!(start(&bob).await, waits);
        assert_eq!(start(&eve).await, waits);
    });
}

#[test]
fn the_next_server_completes_an_unfinished_log_out() {
    let disk = FaultyDisk::new(Rng::seeded(0, 0), Arc::new(Log::new()));
    let room = run_server(&disk, START_TIME, async |runtime| {
        let runtime = runtime.expect("a started server");
        let ada = human(&runtime, "Ada").await;
        let settings = Settings::named(RoomName::parse("room").expect("a name"));
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Open, SeatSpec::Open) };
        let room = runtime.rooms.create(&ada, new, None).await.expect("a room").room.id();
        disk.set_append_outcomes(&[AppendOutcome::Refused]);
        assert_eq!(runtime.sessions.log_out(&ada, false).await, Err(RoomError::StoreUnavailable));
        room
    });
    run_server(&disk, START_TIME.shifted(1_000_000), async |runtime| {
        let _runtime = runtime.expect("a started server");
        tokio::time::sleep(3 * Limits::default().presence_grace).await;
        assert_eq!(disk.store().journal.load(room).await, Ok(None));
    });
}
