//! Time in which the server is stopped, or its disk does not write, is nobody's loss.

use std::{cell::Cell, sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSpec, ChatText, Command, Credentials, DisplayName, EndReason, Fact, GameId, PlayerKind, Room, RoomName,
        SeatSpec, Settings,
    },
    rules::{ByColor, Color, Square},
    runtime::{Accepted, Clock, NewRoom, Opponent, Parts, Player, RandomSource, RoomError, Runtime},
};
use tokio::time::{advance, sleep};
use tracing::{Event, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry};

use crate::sim::{
    event_log::{Log, LogEntry, SimEvent},
    faulty_disk::{AppendOutcome, FaultyDisk},
    rng::Rng,
    simulation::{START_TIME, encode},
};

/// Time for a move: longer than the interval in which the server notes that it runs.
const MOVE_TIME: Duration = Duration::from_secs(10);

/// How long the side to move has thought when the stall begins.
const THOUGHT: Duration = Duration::from_secs(4);

/// How long the stall lasts.
const STALL: Duration = Duration::from_secs(30);

/// The most that is credited beyond a stall: the interval of the notes, or the time in which a refused client tries
/// again.
const EXCESS: Duration = Duration::from_secs(1);

/// Two players in a game, in which it is black's turn.
struct Stalled {
    runtime: Runtime,
    disk: Arc<FaultyDisk>,
    log: Arc<Log>,
    players: ByColor<Arc<Player>>,
    game: GameId,
}

/// Runs a server with a game on its own virtual time.
fn run(script: impl AsyncFnOnce(&Stalled)) {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    tokio.expect("a tokio runtime").block_on(async { script(&Stalled::start().await).await });
}

impl Stalled {
    async fn start() -> Self {
        let log = Arc::new(Log::new());
        let disk = FaultyDisk::new(Rng::seeded(0, 0), Arc::clone(&log));
        let parts = Parts {
            clock: Clock::starting(START_TIME),
            random: RandomSource::seeded(1),
            ai_threads: Some(0),
            ..Parts::new(disk.store(), encode)
        };
        let runtime = Runtime::start(parts).await.expect("a started server");
        let mut players = Vec::new();
        for name in ["Ada", "Bob"] {
            let name = DisplayName::parse(name).expect("a name");
            players.push(runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in").0);
        }
        let [ada, bob] = [Arc::clone(&players[0]), Arc::clone(&players[1])];
        let mut settings = Settings::named(RoomName::parse("room").expect("a name"));
        settings.time.per_move = Some(MOVE_TIME);
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Open) };
        let room = runtime.rooms.create(&ada, new, None).await.expect("a room").room.id();
        for (player, command) in [
            (&bob, Command::Join(bob.profile(), Credentials::default())),
            (&bob, Command::TakeSeat(Color::White)),
            (&bob, Command::SetReady(true)),
            (&ada, Command::Start(None)),
        ] {
            runtime.rooms.command(player, room, command).await.expect("accepted");
        }
        let game = GameId { room, number: 1 };
        Self { runtime, disk, log, players: ByColor::new(ada, bob), game }
    }

    async fn play(&self, side: Color, ply: u16, square: &str) -> Result<Accepted, RoomError> {
        let square: Square = square.parse().expect("a square");
        self.runtime.rooms.play(&self.players[side], self.game, ply, square).await
    }

    async fn chat(&self) -> Result<Accepted, RoomError> {
        let chat = Command::Chat(ChatText::parse("hello").expect("a text"));
        self.runtime.rooms.command(&self.players.white, self.game.room, chat).await
    }

    async fn room(&self) -> Room {
        let history = self.disk.store().journal.load(self.game.room).await.expect("readable").expect("an open room");
        history.latest()
    }

    /// The time left for the move.
    async fn time_left(&self) -> Duration {
        let room = self.room().await;
        room.flag_falls().expect("a game that runs").since(self.runtime.clock().now())
    }

    /// The sum of all credits of the room.
    fn credits(&self) -> Duration {
        let written = self.log.take().into_iter().filter_map(|entry| match entry.what {
            SimEvent::Written { room, events } if room == self.game.room => Some(events),
            _ => None,
        });
        let micros = written.flatten().map(|event| match event.fact {
            Fact::ClockCredited { micros } => micros.unsigned_abs(),
            _ => 0,
        });
        Duration::from_micros(micros.sum())
    }
}

/// Checks that after a stall there is as much time left as before it, or a little more.
#[track_caller]
fn as_before(left: Duration, before: Duration) {
    let least = before.saturating_sub(Duration::from_millis(20));
    assert!((least..=before + EXCESS).contains(&left), "{left:?} left, {before:?} before");
}

#[test]
fn a_stopped_server_credits_the_time_of_the_stop() {
    run(async |stalled| {
        sleep(THOUGHT).await;
        advance(STALL).await;
        sleep(Duration::from_millis(10)).await;
        as_before(stalled.time_left().await, MOVE_TIME - THOUGHT);
        stalled.play(Color::Black, 0, "d3").await.expect("in time");
        let credits = stalled.credits();
        assert!((STALL..=STALL + EXCESS).contains(&credits), "{credits:?}");
    });
}

/// Should it end meanwhile, the next start credits the stop.
#[test]
fn the_mark_stays_before_a_stop_until_the_clocks_are_credited() {
    run(async |stalled| {
        sleep(THOUGHT).await;
        let before = stalled.runtime.clock().now();
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(STALL)]);
        advance(STALL).await;
        let mark = async || stalled.disk.store().journal.last_alive().await.expect("readable").expect("a mark");
        sleep(STALL / 2).await;
        assert!(mark().await <= before, "the credit is not written yet");
        sleep(STALL).await;
        assert!(mark().await > before.after(STALL));
    });
}

#[test]
fn a_command_right_after_a_stop_comes_after_the_credit() {
    let stop = Duration::from_secs(5);
    run(async |stalled| {
        sleep(THOUGHT).await;
        let ((), played) = tokio::join!(advance(stop), stalled.play(Color::Black, 0, "d3"));
        played.expect("in time");
        sleep(Duration::from_millis(10)).await;
        as_before(stalled.time_left().await, MOVE_TIME);
        let credits = stalled.credits();
        assert!((stop..=stop + EXCESS).contains(&credits), "{credits:?}");
    });
}

#[test]
fn a_stop_between_two_games_is_not_credited_in_the_next_one() {
    run(async |stalled| {
        let room = stalled.game.room;
        let command = async |side: Color, command| {
            stalled.runtime.rooms.command(&stalled.players[side], room, command).await.expect("accepted");
        };
        command(Color::White, Command::Resign { game: 1 }).await;
        advance(STALL).await;
        sleep(Duration::from_millis(10)).await;
        command(Color::White, Command::SetReady(true)).await;
        command(Color::Black, Command::Start(None)).await;
        stalled.chat().await.expect("a line");
        as_before(stalled.time_left().await, MOVE_TIME);
        assert_eq!(stalled.credits(), Duration::ZERO);
    });
}

#[test]
fn a_slow_write_of_a_move_is_not_the_opponents_loss() {
    run(async |stalled| {
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(STALL)]);
        stalled.play(Color::Black, 0, "d3").await.expect("in time");
        sleep(Duration::from_millis(10)).await;
        as_before(stalled.time_left().await, MOVE_TIME);
        assert_eq!(stalled.credits(), STALL);
    });
}

#[test]
fn a_slow_write_among_quick_ones_is_credited_to_its_room() {
    run(async |stalled| {
        let (rooms, name) = (&stalled.runtime.rooms, DisplayName::parse("Eve").expect("a name"));
        let (eve, _) = stalled.runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in");
        let settings = Settings::named(RoomName::parse("other").expect("a name"));
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Open) };
        let other = rooms.create(&eve, new, None).await.expect("a room").room.id();
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(STALL)]);
        let (played, ()) = tokio::join!(stalled.play(Color::Black, 0, "d3"), async {
            for second in 1..STALL.as_secs() {
                sleep(Duration::from_secs(1)).await;
                rooms.command(&eve, other, Command::SetReady(second % 2 == 1)).await.expect("a change");
            }
        });
        played.expect("in time");
        sleep(Duration::from_millis(10)).await;
        as_before(stalled.time_left().await, MOVE_TIME);
        assert_eq!(stalled.credits(), STALL);
    });
}

#[test]
fn a_move_that_waits_for_the_disk_is_in_time() {
    run(async |stalled| {
        sleep(MOVE_TIME - Duration::from_millis(500)).await;
        // Less than a stall, so that there is no credit.
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(Duration::from_millis(900))]);
        let (chat, played) = tokio::join!(stalled.chat(), async {
            sleep(Duration::from_millis(400)).await;
            stalled.play(Color::Black, 0, "d3").await
        });
        chat.expect("a line");
        played.expect("in time");
        assert_eq!(stalled.credits(), Duration::ZERO);
    });
}

#[test]
fn a_move_behind_a_frozen_disk_is_in_time() {
    run(async |stalled| {
        sleep(THOUGHT).await;
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(STALL)]);
        let (chat, played) = tokio::join!(stalled.chat(), async {
            // After the end of the time for the move, if the disk were not frozen.
            sleep(2 * MOVE_TIME).await;
            stalled.play(Color::Black, 0, "d3").await
        });
        chat.expect("a line");
        played.expect("in time");
        as_before(stalled.time_left().await, MOVE_TIME);
    });
}

#[test]
fn a_move_that_arrives_while_a_late_credit_is_written_is_in_time() {
    run(async |stalled| {
        let (failure, slow) = (Duration::from_millis(100), Duration::from_millis(900));
        stalled.disk.set_append_outcomes(&[AppendOutcome::Refused]);
        assert_eq!(stalled.chat().await, Err(RoomError::StoreUnavailable));
        sleep(failure).await;
        stalled.chat().await.expect("a line");
        // Less than a stall: the time is credited when that for the move is over.
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(slow)]);
        sleep(MOVE_TIME).await;
        assert_eq!(stalled.credits(), Duration::ZERO);
        stalled.play(Color::Black, 0, "d3").await.expect("in time");
        let credits = stalled.credits();
        assert!((failure..slow).contains(&credits), "{credits:?}");
    });
}

#[test]
fn a_stop_during_a_slow_write_is_credited_once() {
    run(async |stalled| {
        stalled.disk.set_append_outcomes(&[AppendOutcome::Slow(STALL)]);
        let (played, ()) = tokio::join!(stalled.play(Color::Black, 0, "d3"), async {
            sleep(Duration::from_secs(5)).await;
            advance(Duration::from_secs(20)).await;
        });
        played.expect("in time");
        sleep(Duration::from_millis(10)).await;
        as_before(stalled.time_left().await, MOVE_TIME);
        assert_eq!(stalled.credits(), STALL);
    });
}

#[test]
fn time_in_which_nothing_can_be_written_is_credited() {
    run(async |stalled| {
        sleep(THOUGHT).await;
        let before = stalled.runtime.clock().now();
        // The move, and then a try of the room each half second after the time for the move is over.
        stalled.disk.set_append_outcomes(&[AppendOutcome::Refused; 50]);
        stalled.disk.set_access_failures(&[true; 6]);
        assert_eq!(stalled.play(Color::Black, 0, "d3").await, Err(RoomError::StoreUnavailable));
        while stalled.credits().is_zero() {
            sleep(Duration::from_millis(100)).await;
            let lost = stalled.runtime.clock().now().since(before);
            assert!(lost < 2 * STALL, "no credit");
        }
        as_before(stalled.time_left().await + Duration::from_millis(100), MOVE_TIME - THOUGHT);
        stalled.play(Color::Black, 0, "d3").await.expect("in time");
    });
}

#[test]
fn damage_that_prevents_a_write_stops_no_clock() {
    run(async |stalled| {
        stalled.disk.set_append_outcomes(&[AppendOutcome::Damaged]);
        assert_eq!(stalled.chat().await, Err(RoomError::Damaged));
        sleep(THOUGHT).await;
        stalled.chat().await.expect("a line");
        sleep(THOUGHT).await;
        assert!(stalled.time_left().await <= MOVE_TIME - 2 * THOUGHT);
        assert_eq!(stalled.credits(), Duration::ZERO);
    });
}

thread_local! {
    /// Errors in the logs of the servers of this thread.
    static ERRORS: Cell<usize> = const { Cell::new(0) };
}

struct CountErrors;

impl<S: Subscriber> Layer<S> for CountErrors {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        ERRORS.set(ERRORS.get() + 1);
    }
}

/// Neither a deadline nor an AI tries for ever at once what damage refuses, or says it each time.
#[test]
fn what_damage_refuses_is_seldom_tried_again() {
    run(async |stalled| {
        let Runtime { sessions, rooms, .. } = &stalled.runtime;
        let name = DisplayName::parse("Cy").expect("a name");
        let (cy, _) = sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in");
        let ai = Opponent::Ai(AiSpec { kind: "random".into(), level: Some(1), seed: Some(7) });
        let room = rooms.quick_start(&cy, ai, Some(Color::Black), None, None).await.expect("a room").room.id();
        // Of all threads: others would keep what they log first from a subscriber of this one.
        tracing::subscriber::set_global_default(registry().with(LevelFilter::ERROR).with(CountErrors))
            .expect("the only one");
        tracing::callsite::rebuild_interest_cache();
        stalled.disk.set_append_outcomes(&[AppendOutcome::Written]);
        stalled.disk.set_append_outcomes(&vec![AppendOutcome::Damaged; 50_000]);
        let game = GameId { room, number: 1 };
        rooms.play(&cy, game, 0, "d3".parse().expect("a square")).await.expect("a move");
        stalled.log.take();
        sleep(Duration::from_secs(3_600)).await;
        let refused = |entry: &LogEntry| matches!(entry.what, SimEvent::DiskFailed("damaged"));
        let tries = stalled.log.take().iter().filter(|entry| refused(entry)).count();
        // With those of the regular look for absent players.
        assert!((60..1_500).contains(&tries), "{tries}");
        assert_eq!(ERRORS.get(), 2, "one of each room");
    });
}

#[test]
fn without_a_stall_a_player_still_loses_on_time() {
    run(async |stalled| {
        sleep(MOVE_TIME + Duration::from_millis(10)).await;
        let end = stalled.room().await.game().and_then(|game| game.end);
        assert_eq!(end.map(|end| end.reason), Some(EndReason::Timeout));
        assert_eq!(stalled.credits(), Duration::ZERO);
    });
}
