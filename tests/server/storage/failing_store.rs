//! A failing store: unwritten events are never sent, and written ones are never lost.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use bytes::Bytes;
use reversi::{
    grpc,
    proto::v1::{self, CloseReason, play_event::Event as Told},
    room::{Event, Fact, Room, RoomId, Seq, Timestamp},
    store::{Append, AppendError, AppendFuture, BoxFuture, History, Journal, MemoryStore, Store, Unavailable},
};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
};
use tonic::Code;

use crate::api::games::Fold;
use crate::harness::in_process::{SeatedRoom, ServerOptions, TestServer, named, refused, within};

/// The number of next appends that fail.
#[derive(Clone, Default)]
struct Faults(Arc<AtomicUsize>);

impl Faults {
    fn next(&self, count: usize) {
        self.0.store(count, SeqCst);
    }

    fn strikes(&self) -> bool {
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

async fn stage_failing_by(error: AppendError) -> (TestServer, Faults) {
    let faults = Faults::default();
    let hook = faults.clone();
    let store = MemoryStore::with_faults(Box::new(move |_, _| hook.strikes().then(|| error.clone())));
    (TestServer::with(ServerOptions { store: Store::of(store), ..ServerOptions::default() }).await, faults)
}

fn unavailable() -> AppendError {
    AppendError::Unavailable("made by this test".into())
}

fn unknown() -> AppendError {
    AppendError::Unknown("made by this test".into())
}

#[tokio::test]
async fn a_refused_append_changes_nothing() {
    let (stage, faults) = stage_failing_by(unavailable()).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let mut watcher = table.white.watch(&table.room).await;
    let mut fold = Fold::of(&watcher.snapshot().await);
    faults.next(2);
    let store = "STORE_UNAVAILABLE";
    refused(table.black.play(&table.game, 0, "d3").await, Code::Unavailable, store);
    refused(table.black.resign(&table.game).await, Code::Unavailable, store);
    let room = table.black.room(&table.room).await;
    assert_eq!((room.seq, room.game.unwrap().ply), (fold.seq, 0));
    assert!(!table.black.play(&table.game, 0, "d3").await.unwrap().already_applied);
    fold.take(&watcher.event().await);
    assert_eq!(fold.plies, ["d3"]);
}

#[tokio::test]
async fn a_room_that_could_not_be_created_is_not_counted() {
    let (stage, faults) = stage_failing_by(unavailable()).await;
    let ada = stage.human("Ada").await;
    faults.next(1);
    let request = v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    refused(ada.try_create(request.clone()).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!((ada.info().await.rooms, ada.me().await.room_ids.len()), (0, 0));
    ada.try_create(request).await.unwrap();
    assert_eq!(ada.info().await.rooms, 1);
}

#[tokio::test]
async fn a_failed_quick_start_leaves_no_room_and_no_seat() {
    let faults = Arc::new(AtomicBool::new(true));
    let once = Arc::clone(&faults);
    let at_start = move |_: RoomId, seq: Seq| (seq == Seq(1) && once.swap(false, SeqCst)).then(unavailable);
    let store = Store::of(MemoryStore::with_faults(Box::new(at_start)));
    let stage = TestServer::with(ServerOptions { store, ..ServerOptions::default() }).await;
    let ada = stage.human("Ada").await;
    refused(ada.quick("random", v1::SidePreference::Black).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!((ada.me().await.room_ids.len(), ada.info().await.rooms), (0, 0));
    ada.quick("random", v1::SidePreference::Black).await.unwrap();
}

#[tokio::test]
async fn an_ai_repeats_a_move_that_could_not_be_written() {
    let (stage, faults) = stage_failing_by(unavailable()).await;
    let ada = stage.human("Ada").await;
    let mut turns = ada.turns().await;
    let room = ada.create_with(named("table"), ["random", "me"]).await.room_id;
    let settings = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(100), ..Default::default() };
    ada.set(&room, "ai_pause", settings).await.unwrap();
    ada.start(&room).await.unwrap();
    faults.next(1);
    assert_eq!(turns.asked().await.ply, 1);
}

#[tokio::test]
async fn a_write_of_unknown_outcome_is_looked_up_and_sent() {
    let (stage, faults) = stage_failing_by(unknown()).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let mut watcher = stage.human("Eve").await.watch(&table.room).await;
    let mut fold = Fold::of(&watcher.snapshot().await);
    let mut turns = table.white.turns().await;
    faults.next(1);
    // It was written, as a read of the journal shows.
    table.black.play(&table.game, 0, "d3").await.unwrap();
    fold.take(&watcher.event().await);
    assert_eq!(turns.asked().await.ply, 1, "the next is asked");
    assert!(table.black.play(&table.game, 0, "d3").await.unwrap().already_applied);
    faults.next(1);
    table.white.resign(&table.game).await.unwrap();
    fold.follow(&mut watcher).await;
    check_ending(&table, &fold).await;
    turns.ended().await;
    faults.next(1);
    table.black.close(&table.room).await.unwrap();
    assert_eq!(watcher.closed().await, CloseReason::RoomClosed);
    turns.until(|event| matches!(event, Told::RoomClosed(_)).then_some(())).await;
    assert!(table.white.me().await.room_ids.is_empty());
}

/// The game is stored and counted, although the outcome of its last write was unknown.
async fn check_ending(table: &SeatedRoom, fold: &Fold) {
    assert_eq!(fold.outcome.unwrap().result(), v1::GameResult::BlackWins);
    assert_eq!(table.black.me().await.stats.unwrap().won, 1);
    let games = table.black.records().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(games.len(), 1);
}

#[tokio::test]
async fn a_room_created_with_unknown_outcome_is_found() {
    let (stage, faults) = stage_failing_by(unknown()).await;
    let ada = stage.human("Ada").await;
    faults.next(1);
    let room = ada.create_with(named("found"), ["me", "random"]).await.room_id;
    assert_eq!((ada.me().await.room_ids, ada.info().await.rooms), (vec![room.clone()], 1));
    ada.start(&room).await.unwrap();
}

/// A journal that can delay appends and fail reads.
struct Slow {
    inner: Arc<MemoryStore>,
    asked: Notify,
    permits: Semaphore,
    held: AtomicBool,
    mute: AtomicBool,
}

impl Slow {
    fn over(inner: MemoryStore) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(inner),
            asked: Notify::new(),
            permits: Semaphore::new(0),
            held: AtomicBool::new(false),
            mute: AtomicBool::new(false),
        })
    }

    fn store(self: &Arc<Self>) -> Store {
        Store { journal: self.clone(), ..Store::shared(&self.inner) }
    }
}

impl Journal for Slow {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        AppendFuture::Slow(Box::pin(async move {
            if self.held.load(SeqCst) {
                self.asked.notify_one();
                self.permits.acquire().await.unwrap().forget();
            }
            self.inner.append(append).await
        }))
    }

    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, Unavailable>> {
        if self.mute.load(SeqCst) {
            return Box::pin(std::future::ready(Err(Unavailable("made by this test".into()))));
        }
        self.inner.load(room)
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, Unavailable>> {
        self.inner.open_rooms(after, limit)
    }

    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), Unavailable>> {
        self.inner.mark_alive(now)
    }

    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, Unavailable>> {
        self.inner.last_alive()
    }
}

#[tokio::test]
async fn answers_and_events_wait_for_the_disk() {
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let other = table.white.create(named("beside")).await.room_id;
    journal.held.store(true, SeqCst);
    let mut calls = JoinSet::new();
    let (black, game) = (table.black.clone(), table.game.clone());
    calls.spawn(async move { black.play(&game, 0, "d3").await });
    within(journal.asked.notified()).await;
    journal.held.store(false, SeqCst);
    // B30: other requests are answered meanwhile, this one is not.
    table.black.room(&other).await;
    table.white.chat(&other, "hello").await.unwrap();
    assert!(calls.try_join_next().is_none());
    journal.permits.add_permits(1);
    within(calls.join_next()).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_dropped_call_creates_its_room_completely() {
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = stage.human("Ada").await;
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
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = stage.human("Ada").await;
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
    let journal = Slow::over(MemoryStore::with_faults(Box::new(move |_, _| hook.strikes().then(unknown))));
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let mut watcher = stage.human("Eve").await.watch(&table.room).await;
    let mut fold = Fold::of(&watcher.snapshot().await);
    let mut turns = table.white.turns().await;
    journal.mute.store(true, SeqCst);
    faults.next(1);
    refused(table.black.play(&table.game, 0, "d3").await, Code::Unavailable, "STORE_UNAVAILABLE");
    refused(table.black.play(&table.game, 0, "d3").await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(table.white.room(&table.room).await.seq, fold.seq, "what is not known is not told");
    let late = stage.human("Late").await.watch(&table.room).await.snapshot().await;
    assert_eq!(late.seq, fold.seq);
    journal.mute.store(false, SeqCst);
    fold.take(&watcher.event().await);
    assert_eq!(turns.asked().await.ply, 1);
    assert!(table.black.play(&table.game, 0, "d3").await.unwrap().already_applied);
    table.white.play(&table.game, 1, "c3").await.unwrap();
    fold.take(&watcher.event().await);
}

#[tokio::test]
async fn logging_out_leaves_a_room_that_is_being_created() {
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let (ada, eve) = (stage.human("Ada").await, stage.human("Eve").await);
    journal.held.store(true, SeqCst);
    let (caller, mut calls) = (ada.clone(), JoinSet::new());
    calls.spawn(async move { caller.create_with(named("late"), ["random", "random"]).await });
    within(journal.asked.notified()).await;
    ada.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    journal.held.store(false, SeqCst);
    journal.permits.add_permits(1);
    assert!(within(calls.join_next()).await.unwrap().is_err());
    assert_eq!((eve.info().await.rooms, eve.listed().await), (0, vec![]));
}

#[tokio::test]
async fn a_busy_room_notes_a_lost_connection_later() {
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let mut watcher = stage.human("Eve").await.watch(&table.room).await;
    watcher.snapshot().await;
    let mut turns = table.black.turns().await;
    turns.asked().await;
    journal.held.store(true, SeqCst);
    let mut calls = JoinSet::new();
    let talk = |calls: &mut JoinSet<_>| {
        let (white, room) = (table.white.clone(), table.room.clone());
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
    assert_eq!(absent.await, (table.black.id.clone(), false));
}

/// Panics at the first chat line with this text.
fn fragile(event: &Event, room: &Room) -> Bytes {
    static WHOLE: AtomicBool = AtomicBool::new(true);
    let fatal = matches!(&event.fact, Fact::ChatPosted { text, .. } if text.to_string() == "break");
    assert!(!fatal || !WHOLE.swap(false, SeqCst), "made by this test");
    grpc::encode(event, room)
}

#[tokio::test]
async fn a_room_is_reloaded_after_its_actor_panicked() {
    let stage = TestServer::with(ServerOptions { encode: fragile, ..ServerOptions::default() }).await;
    let table = stage.table(v1::RoomSettings::default()).await;
    let mut watcher = stage.human("Eve").await.watch(&table.room).await;
    let mut fold = Fold::of(&watcher.snapshot().await);
    refused(table.white.chat(&table.room, "break").await, Code::Unavailable, "STORE_UNAVAILABLE");
    // It was written before it was sent.
    fold.take(&watcher.event().await);
    assert_eq!(table.black.room(&table.room).await.seq, fold.seq);
    assert_eq!(table.black.me().await.room_ids, std::slice::from_ref(&table.room));
    let info = table.black.info().await;
    assert_eq!((info.rooms, info.games, table.black.listed().await.len()), (1, 1, 1));
    table.black.play(&table.game, 0, "d3").await.unwrap();
    fold.take(&watcher.event().await);
    assert_eq!(fold.plies, ["d3"]);
}

#[tokio::test]
async fn a_restarted_server_has_its_rooms() {
    let store = Store::of(MemoryStore::default());
    let mut stage = TestServer::with(ServerOptions { store: store.clone(), ..ServerOptions::default() }).await;
    let owner = stage.human("Owner").await;
    let room = owner.create_with(named("machines"), ["random", "random"]).await.room_id;
    let pause = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(10_000), ..Default::default() };
    owner.set(&room, "ai_pause", pause).await.unwrap();
    owner.start(&room).await.unwrap();
    stage.stop();
    drop(owner);
    assert!(stage.stopped().await);
    let again = TestServer::with(ServerOptions { store, ..ServerOptions::default() }).await;
    let eve = again.human("Eve").await;
    assert_eq!((eve.room(&room).await.phase(), eve.info().await.games), (v1::RoomPhase::Playing, 1));
}

#[tokio::test]
async fn a_room_with_too_many_requests_answers_busy() {
    let journal = Slow::over(MemoryStore::default());
    let stage = TestServer::with(ServerOptions { store: journal.store(), ..ServerOptions::default() }).await;
    let ada = stage.human("Ada").await;
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
    assert_eq!(ada.room(&room).await.seq, before + 33, "nothing of what was refused was done");
}
