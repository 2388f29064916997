//! A failing store: unwritten events are never sent, and written ones are never lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use bytes::Bytes;
use reversi::{
    grpc,
    proto::v1::{self, CloseReason, play_event::Event as Told},
    room::{Event, Fact, Room, RoomId, Seq, Timestamp},
    store::{
        Append, AppendError, AppendFuture, BoxFuture, DoneRequest, History, Journal, MemoryStore, Store, StoreError,
    },
};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use crate::api::games::MovesReplay;
use crate::harness::in_process::{SeatedRoom, ServerOptions, TestServer, named, occupant, refused, within};

/// The number of next appends that fail.
#[derive(Clone, Default)]
struct Faults(Arc<AtomicUsize>);

impl Faults {
    fn fail_next(&self, count: usize) {
        self.0.store(count, SeqCst);
    }

    fn next_fails(&self) -> bool {
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

async fn server_failing_with(error: AppendError) -> (TestServer, Faults) {
    let faults = Faults::default();
    let hook = faults.clone();
    let store = MemoryStore::with_faults(Box::new(move |_, _| hook.next_fails().then(|| error.clone())));
    (TestServer::with(ServerOptions { store: Store::of(store), ..ServerOptions::default() }).await, faults)
}

fn unavailable() -> AppendError {
    AppendError::Unavailable("injected by the test".into())
}

fn unknown() -> AppendError {
    AppendError::Unknown("injected by the test".into())
}

#[tokio::test]
async fn a_refused_append_changes_nothing() {
    let (server, faults) = server_failing_with(unavailable()).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    faults.fail_next(2);
    let store = "STORE_UNAVAILABLE";
    refused(seated.black.play(&seated.game, 0, "d3").await, Code::Unavailable, store);
    refused(seated.black.resign(&seated.game).await, Code::Unavailable, store);
    let room = seated.black.room(&seated.room).await;
    assert_eq!((room.seq, room.game.unwrap().ply), (replay.seq, 0));
    assert!(!seated.black.play(&seated.game, 0, "d3").await.unwrap().already_applied);
    replay.apply(&watcher.event().await);
    assert_eq!(replay.plies, ["d3"]);
}

#[tokio::test]
async fn a_room_that_could_not_be_created_is_not_counted() {
    let (server, faults) = server_failing_with(unavailable()).await;
    let ada = server.human("Ada").await;
    faults.fail_next(1);
    let request = v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    refused(ada.try_create(request.clone()).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!((ada.info().await.rooms, ada.me().await.room_ids.len()), (0, 0));
    ada.try_create(request).await.unwrap();
    assert_eq!(ada.info().await.rooms, 1);
}

#[tokio::test]
async fn a_request_that_another_server_is_writing_is_to_be_repeated() {
    let (server, faults) = server_failing_with(AppendError::Repeated).await;
    let ada = server.human("Ada").await;
    faults.fail_next(1);
    let request = v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    refused(ada.try_create(request.clone()).await, Code::Unavailable, "BUSY");
    ada.try_create(request).await.unwrap();
}

#[tokio::test]
async fn a_failed_quick_start_leaves_no_room_and_no_seat() {
    let faults = Arc::new(AtomicBool::new(true));
    let once = Arc::clone(&faults);
    let at_start = move |_: RoomId, seq: Seq| (seq == Seq(0) && once.swap(false, SeqCst)).then(unavailable);
    let store = Store::of(MemoryStore::with_faults(Box::new(at_start)));
    let server = TestServer::with(ServerOptions { store, ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    refused(ada.quick_start_with_ai("random", v1::SidePreference::Black).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!((ada.me().await.room_ids.len(), ada.info().await.rooms), (0, 0));
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
}

#[tokio::test]
async fn an_ai_repeats_a_move_that_could_not_be_written() {
    let (server, faults) = server_failing_with(unavailable()).await;
    let ada = server.human("Ada").await;
    let mut turns = ada.turns().await;
    let room = ada.create_with(named("room"), ["random", "me"]).await.room_id;
    let settings = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(100), ..Default::default() };
    ada.update_settings(&room, "ai_pause", settings).await.unwrap();
    ada.start(&room).await.unwrap();
    faults.fail_next(1);
    assert_eq!(turns.turn_request().await.ply, 1);
}

#[tokio::test]
async fn a_write_of_unknown_outcome_is_looked_up_and_sent() {
    let (server, faults) = server_failing_with(unknown()).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    let mut turns = seated.white.turns().await;
    faults.fail_next(1);
    // It was written, as a read of the journal shows.
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    replay.apply(&watcher.event().await);
    assert_eq!(turns.turn_request().await.ply, 1, "the next turn is requested");
    assert!(seated.black.play(&seated.game, 0, "d3").await.unwrap().already_applied);
    faults.fail_next(1);
    seated.white.resign(&seated.game).await.unwrap();
    replay.read_to_end(&mut watcher).await;
    check_game_ended(&seated, &replay).await;
    turns.game_ended().await;
    faults.fail_next(1);
    seated.black.close(&seated.room).await.unwrap();
    assert_eq!(watcher.close_reason().await, CloseReason::RoomClosed);
    turns.until(|event| matches!(event, Told::RoomClosed(_)).then_some(())).await;
    assert!(seated.white.me().await.room_ids.is_empty());
}

/// The game is stored and counted, although the outcome of its last write was unknown.
async fn check_game_ended(seated: &SeatedRoom, replay: &MovesReplay) {
    assert_eq!(replay.outcome.unwrap().result(), v1::GameResult::BlackWins);
    assert_eq!(seated.black.me().await.stats.unwrap().won, 1);
    let games = seated.black.records().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(games.len(), 1);
}

#[tokio::test]
async fn a_room_created_with_unknown_outcome_is_found() {
    let (server, faults) = server_failing_with(unknown()).await;
    let ada = server.human("Ada").await;
    faults.fail_next(1);
    let room = ada.create_with(named("found"), ["me", "random"]).await.room_id;
    assert_eq!((ada.me().await.room_ids, ada.info().await.rooms), (vec![room.clone()], 1));
    ada.start(&room).await.unwrap();
}

#[tokio::test]
async fn the_guest_of_a_room_created_with_unknown_outcome_is_invited() {
    let (server, faults) = server_failing_with(unknown()).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let mut turns = bea.turns().await;
    let guest = v1::Player { player_id: bea.id.clone(), ..Default::default() };
    let seats = [occupant("me"), v1::seat::Occupant::Reserved(guest)];
    let seats = seats.map(|occupant| v1::Seat { occupant: Some(occupant), ..Default::default() }).to_vec();
    faults.fail_next(1);
    let room = ada.try_create(v1::CreateRoomRequest { seats, ..Default::default() }).await.unwrap().room_id;
    let invited = turns.next().await;
    assert!(matches!(&invited, Some(Told::Invited(invited)) if invited.room_id == room), "{invited:?}");
}

/// A journal that can delay appends and fail reads.
struct DelayedJournal {
    inner: Arc<MemoryStore>,
    asked: Notify,
    permits: Semaphore,
    held: AtomicBool,
    mute: AtomicBool,
    malformed: AtomicBool,
}

impl DelayedJournal {
    fn over(inner: MemoryStore) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(inner),
            asked: Notify::new(),
            permits: Semaphore::new(0),
            held: AtomicBool::new(false),
            mute: AtomicBool::new(false),
            malformed: AtomicBool::new(false),
        })
    }

    fn store(self: &Arc<Self>) -> Store {
        Store { journal: self.clone(), ..Store::shared(&self.inner) }
    }
}

impl Journal for DelayedJournal {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        AppendFuture::Slow(Box::pin(async move {
            if self.held.load(SeqCst) {
                self.asked.notify_one();
                self.permits.acquire().await.unwrap().forget();
            }
            self.inner.append(append).await
        }))
    }

    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, StoreError>> {
        if self.mute.load(SeqCst) {
            return Box::pin(std::future::ready(Err(StoreError::Unavailable("injected by the test".into()))));
        }
        self.inner.load(room)
    }

    fn done_request(&self, key: u64, now: Timestamp) -> BoxFuture<'_, Result<Option<DoneRequest>, StoreError>> {
        self.inner.done_request(key, now)
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, StoreError>> {
        self.inner.open_rooms(after, limit)
    }

    fn is_malformed(&self) -> bool {
        self.malformed.load(SeqCst)
    }

    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.mark_alive(now)
    }

    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        self.inner.last_alive()
    }
}

#[tokio::test]
async fn a_malformed_store_is_not_ready_and_takes_no_new_rooms_and_games() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let SeatedRoom { black, white, game, .. } = server.two_player_game(v1::RoomSettings::default()).await;
    let other = white.create_with(named("beside"), ["random", "random"]).await.room_id;
    let mut health = HealthClient::new(server.channel().await);
    let mut health = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    let mut next = async || within(health.message()).await.unwrap().unwrap().status();
    assert_eq!(next().await, ServingStatus::Serving);
    journal.malformed.store(true, SeqCst);
    assert_eq!(next().await, ServingStatus::NotServing);
    refused(white.try_create(v1::CreateRoomRequest::default()).await, Code::DataLoss, "DAMAGED");
    refused(white.start(&other).await, Code::DataLoss, "DAMAGED");
    black.play(&game, 0, "d3").await.unwrap();
}

/// As a store that another server has taken over: nothing is written, and no room can be read.
#[tokio::test]
async fn a_room_that_another_server_has_taken_over_ends_here() {
    let faults = Faults::default();
    let hook = faults.clone();
    let fenced = move |_, _| hook.next_fails().then_some(AppendError::Fenced);
    let journal = DelayedJournal::over(MemoryStore::with_faults(Box::new(fenced)));
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let SeatedRoom { black, room, game, .. } = server.two_player_game(v1::RoomSettings::default()).await;
    journal.mute.store(true, SeqCst);
    faults.fail_next(1);
    refused(black.play(&game, 0, "d3").await, Code::Unavailable, "DRAINING");
    refused(black.play(&game, 0, "d3").await, Code::Unavailable, "STORE_UNAVAILABLE");
    refused(black.try_room(&room).await, Code::Unavailable, "STORE_UNAVAILABLE");
    faults.fail_next(1);
    refused(black.try_create(v1::CreateRoomRequest::default()).await, Code::Unavailable, "DRAINING");
}

#[tokio::test]
async fn answers_and_events_wait_for_the_disk() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let other = seated.white.create(named("beside")).await.room_id;
    journal.held.store(true, SeqCst);
    let mut calls = JoinSet::new();
    let (black, game) = (seated.black.clone(), seated.game.clone());
    calls.spawn(async move { black.play(&game, 0, "d3").await });
    within(journal.asked.notified()).await;
    journal.held.store(false, SeqCst);
    // Other requests are answered meanwhile, this one is not.
    seated.black.room(&other).await;
    seated.white.chat(&other, "hello").await.unwrap();
    assert!(calls.try_join_next().is_none());
    journal.permits.add_permits(1);
    within(calls.join_next()).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_dropped_call_creates_its_room_completely() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let request = v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    journal.held.store(true, SeqCst);
    let (caller, first, mut calls) = (ada.clone(), request.clone(), JoinSet::new());
    calls.spawn(async move { caller.try_create(first).await.map(|room| room.room_id) });
    within(journal.asked.notified()).await;
    calls.shutdown().await;
    // Over the same connection, so that the server has processed the end of the other call.
    ada.info().await;
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    let room = ada.try_create(request).await.unwrap().room_id;
    assert_eq!((ada.info().await.rooms, ada.me().await.room_ids), (1, vec![room]));
}

#[tokio::test]
async fn a_repeated_start_returns_the_game_of_a_dropped_call() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let settings = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(10_000), ..named("machines") };
    let room = ada.create_with(settings, ["random", "random"]).await.room_id;
    let request = v1::StartGameRequest { room_id: room.clone(), request_id: "once".into() };
    journal.held.store(true, SeqCst);
    let (caller, first, mut calls) = (ada.clone(), request.clone(), JoinSet::new());
    calls.spawn(async move { caller.rooms().start_game(first).await.map(|_| ()) });
    within(journal.asked.notified()).await;
    calls.shutdown().await;
    // Over the same connection, so that the server has processed the end of the other call.
    ada.info().await;
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    let started = ada.rooms().start_game(request).await.unwrap().into_inner();
    assert_eq!(started.game_id, ada.room(&room).await.game.unwrap().game_id);
}

#[tokio::test]
async fn a_room_waits_until_its_journal_can_be_read() {
    let faults = Faults::default();
    let hook = faults.clone();
    let journal = DelayedJournal::over(MemoryStore::with_faults(Box::new(move |_, _| hook.next_fails().then(unknown))));
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    let mut turns = seated.white.turns().await;
    journal.mute.store(true, SeqCst);
    faults.fail_next(1);
    refused(seated.black.play(&seated.game, 0, "d3").await, Code::Unavailable, "STORE_UNAVAILABLE");
    refused(seated.black.play(&seated.game, 0, "d3").await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(seated.white.room(&seated.room).await.seq, replay.seq, "a turn of unknown outcome is not sent");
    let late = server.human("Late").await.watch(&seated.room).await.snapshot().await;
    assert_eq!(late.seq, replay.seq);
    journal.mute.store(false, SeqCst);
    replay.apply(&watcher.event().await);
    assert_eq!(turns.turn_request().await.ply, 1);
    assert!(seated.black.play(&seated.game, 0, "d3").await.unwrap().already_applied);
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    replay.apply(&watcher.event().await);
}

#[tokio::test]
async fn logging_out_leaves_a_room_that_is_being_created() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let (ada, eve) = (server.human("Ada").await, server.human("Eve").await);
    journal.held.store(true, SeqCst);
    let (caller, mut calls) = (ada.clone(), JoinSet::new());
    calls.spawn(async move { caller.create_with(named("late"), ["random", "random"]).await });
    within(journal.asked.notified()).await;
    ada.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    assert!(within(calls.join_next()).await.unwrap().is_err());
    assert_eq!((eve.info().await.rooms, eve.list_rooms().await), (0, vec![]));
}

#[tokio::test]
async fn a_player_who_logs_out_leaves_a_room_that_cannot_be_read_yet() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let mut options = ServerOptions { store: journal.store(), ..ServerOptions::default() };
    (options.limits.room_sleep, options.limits.presence_grace) = (Duration::ZERO, Duration::from_millis(1));
    let server = TestServer::with(options).await;
    let (ada, eve) = (server.human("Ada").await, server.human("Eve").await);
    let _turns = ada.turns().await;
    let room = ada.create_with(named("asleep"), ["me", "open"]).await.room_id;
    journal.mute.store(true, SeqCst);
    let get = || v1::GetRoomRequest { room_id: room.clone(), ..Default::default() };
    // While it is in memory it answers.
    within(async { while ada.rooms().get_room(get()).await.is_ok() {} }).await;
    refused(ada.sessions().log_out(v1::LogOutRequest::default()).await, Code::Unavailable, "STORE_UNAVAILABLE");
    journal.mute.store(false, SeqCst);
    within(async { while eve.info().await.rooms > 0 {} }).await;
}

#[tokio::test]
async fn a_busy_room_notes_a_lost_connection_later() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    watcher.snapshot().await;
    let mut turns = seated.black.turns().await;
    turns.turn_request().await;
    journal.held.store(true, SeqCst);
    let mut calls = JoinSet::new();
    let talk = |calls: &mut JoinSet<_>| {
        let (white, room) = (seated.white.clone(), seated.room.clone());
        calls.spawn(async move { white.chat(&room, "hello").await });
    };
    (0..34).for_each(|_| talk(&mut calls));
    refused(within(calls.join_next()).await.unwrap().unwrap(), Code::Unavailable, "BUSY");
    drop(turns);
    // The mailbox is full for the same time again.
    talk(&mut calls);
    refused(within(calls.join_next()).await.unwrap().unwrap(), Code::Unavailable, "BUSY");
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    let absent = watcher.until(|event| match event {
        v1::room_event::Event::PresenceChanged(changed) => Some((changed.player_id, changed.present)),
        _ => None,
    });
    assert_eq!(absent.await, (seated.black.id.clone(), false));
}

/// Panics at the first chat line with this text.
fn panicking_encode(event: &Event, room: &Room) -> Bytes {
    static FIRST: AtomicBool = AtomicBool::new(true);
    let fatal = matches!(&event.fact, Fact::ChatPosted { text, .. } if text.to_string() == "break");
    assert!(!fatal || !FIRST.swap(false, SeqCst), "injected by the test");
    grpc::encode(event, room)
}

#[tokio::test]
async fn a_room_is_reloaded_after_its_actor_panicked() {
    let server = TestServer::with(ServerOptions { encode: panicking_encode, ..ServerOptions::default() }).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    refused(seated.white.chat(&seated.room, "break").await, Code::Unavailable, "STORE_UNAVAILABLE");
    // It was written before it was sent.
    replay.apply(&watcher.event().await);
    assert_eq!(seated.black.room(&seated.room).await.seq, replay.seq);
    assert_eq!(seated.black.me().await.room_ids, std::slice::from_ref(&seated.room));
    let info = seated.black.info().await;
    assert_eq!((info.rooms, info.games, seated.black.list_rooms().await.len()), (1, 1, 1));
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    replay.apply(&watcher.event().await);
    assert_eq!(replay.plies, ["d3"]);
}

#[tokio::test]
async fn a_restarted_server_has_its_rooms() {
    let store = Store::of(MemoryStore::default());
    let mut server = TestServer::with(ServerOptions { store: store.clone(), ..ServerOptions::default() }).await;
    let owner = server.human("Owner").await;
    let room = owner.create_with(named("machines"), ["random", "random"]).await.room_id;
    let pause = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(10_000), ..Default::default() };
    owner.update_settings(&room, "ai_pause", pause).await.unwrap();
    owner.start(&room).await.unwrap();
    server.stop();
    drop(owner);
    assert!(server.stopped().await);
    let again = TestServer::with(ServerOptions { store, ..ServerOptions::default() }).await;
    let eve = again.human("Eve").await;
    assert_eq!((eve.room(&room).await.phase(), eve.info().await.games), (v1::RoomPhase::Playing, 1));
}

#[tokio::test]
async fn a_room_with_too_many_requests_answers_busy() {
    let journal = DelayedJournal::over(MemoryStore::default());
    let server = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let room = ada.create(named("busy")).await.room_id;
    let before = ada.room(&room).await.seq;
    journal.held.store(true, SeqCst);
    let mut calls = JoinSet::new();
    for _ in 0..40 {
        let (ada, room) = (ada.clone(), room.clone());
        calls.spawn(async move { ada.chat(&room, "hello").await });
    }
    // One request is being executed and 32 wait; the others are refused after two seconds.
    for _ in 0..7 {
        let answer = within(calls.join_next()).await.unwrap().unwrap();
        refused(answer, Code::Unavailable, "BUSY");
    }
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    let answers = within(calls.join_all()).await;
    assert!(answers.len() == 33 && answers.iter().all(Result::is_ok));
    assert_eq!(ada.room(&room).await.seq, before + 33, "refused requests have no effect");
}
