//! The real SQLite store for simulations, in a folder that power cuts damage ([`LossyFolder`]).
//!
//! The store has threads, and virtual time stands still while the simulation waits for their answers. Appends of the
//! same few milliseconds are written together: the first makes one commit, and the others, queued while it writes, the
//! next. So a seed determines the commits, and with them each access to the disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use reversi::{
    room::{
        DisplayName, Event, Fact, GameId, GameRecord, PlayerId, Profile, Room, RoomId, Seq, Timestamp, TournamentId,
    },
    rules::Position,
    store::{
        Append, AppendError, AppendFuture, Archive, ArchiveSize, Ban, BoxFuture, Contestant, DoneRequest, EndedGame,
        Exploration, ExplorerFilter, GameFilter, GameKey, GamePage, History, Journal, PlayerKey, PlayerStats,
        PlayerStore, RankingFilter, RankingKey, RankingPage, Retention, Shard, SqliteStore, StoreError, StoreFuture,
        StoredPlayer, StoredTournament, TournamentAppend, TournamentJournal, TournamentKey,
    },
};
use tokio::{sync::oneshot, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    lossy_folder::LossyFolder,
    sim::{
        event_log::{Log, OpenRooms, SimEvent},
        rng::Rng,
    },
};

/// How long appends are gathered before they are written.
const GATHERING: Duration = Duration::from_millis(3);

pub(crate) struct SqliteDisk {
    folder: Arc<LossyFolder>,
    log: Arc<Log>,
    state: Mutex<State>,
}

struct State {
    rng: Rng,
    /// None while the power is off, and if the file cannot be opened after it.
    store: Option<Arc<SqliteStore>>,
    /// Cancelled when the power fails.
    crash: CancellationToken,
    queue: Vec<(QueuedAppend, oneshot::Sender<Result<(), AppendError>>)>,
    /// When the queue is written.
    due: Option<Instant>,
    /// Appends without an answer before the power failed.
    in_doubt: Vec<QueuedAppend>,
}

/// An [`Append`] that owns its events.
struct QueuedAppend {
    room: RoomId,
    expected: Seq,
    events: Vec<Event>,
    games: Vec<EndedGame>,
}

impl SqliteDisk {
    pub(crate) fn new(rng: Rng, log: Arc<Log>, ignores_syncs: bool) -> Arc<Self> {
        let state = State {
            rng,
            store: None,
            crash: CancellationToken::new(),
            queue: Vec::new(),
            due: None,
            in_doubt: Vec::new(),
        };
        Arc::new(Self { folder: LossyFolder::create(ignores_syncs), log, state: Mutex::new(state) })
    }

    /// Prepares for the next server. If the power `fails`, it does so during any access, and cancels the token.
    pub(crate) fn next_server(&self, crash: CancellationToken, fails: bool) {
        let mut state = self.state();
        state.crash = crash;
        let accesses = state.rng.pick(&[30, 300, 3_000]);
        let accesses = state.rng.below(accesses);
        self.folder.cut_after(fails.then_some(accesses));
    }

    /// Cuts the power.
    pub(crate) fn cut_power(&self) {
        let mut state = self.state();
        (state.queue, state.due) = (Vec::new(), None);
        let store = state.store.take();
        if state.rng.percent(50) {
            // The store stops cleanly, or as far as it comes.
            let accesses = state.rng.below(40);
            self.folder.cut_after(Some(accesses));
        } else {
            self.folder.switch_off();
        }
        drop(state);
        drop(store);
        self.folder.switch_off();
    }

    /// Switches the power on and opens the file. Sometimes the power fails meanwhile. Returns false if the file cannot
    /// be opened.
    pub(crate) fn switch_on(&self) -> bool {
        let mut state = self.state();
        let opened = loop {
            let log_limit = state.rng.pick(&[1_000, 20_000, 1 << 20]);
            let kept = state.rng.pick(&[0, 50, 90, 100]);
            self.folder.restore(|| state.rng.percent(kept));
            let fails = state.rng.percent(30);
            let accesses = state.rng.below(60);
            self.folder.cut_after(fails.then_some(accesses));
            match SqliteStore::with_log_limit(self.folder.path(), log_limit) {
                Err(_) if self.folder.is_off() => {}
                opened => break opened.map_err(|error| error.to_string()),
            }
        };
        self.folder.cut_after(None);
        let opened = opened.and_then(|store| {
            let rooms = wait_for(store.open_rooms(None, usize::MAX)).map_err(|error| error.to_string())?;
            state.store = Some(Arc::new(store));
            Ok(rooms)
        });
        match opened {
            Ok(rooms) => {
                let rooms = rooms.into_iter().map(|room| (room.id(), room)).collect();
                for append in state.in_doubt.drain(..).filter(|append| append.is_in(&rooms)) {
                    self.log.note(SimEvent::Written { room: append.room, events: append.events });
                }
                self.log.note(SimEvent::Recovered(OpenRooms(rooms)));
                true
            }
            Err(error) => {
                self.log.note(SimEvent::NotRecovered(error));
                false
            }
        }
    }

    async fn append_later(&self, append: QueuedAppend) -> Result<(), AppendError> {
        let (done, mut outcome) = oneshot::channel();
        let due = {
            let mut state = self.state();
            state.queue.push((append, done));
            *state.due.get_or_insert_with(|| Instant::now() + GATHERING)
        };
        tokio::time::sleep_until(due).await;
        let mut outcome_now = outcome.try_recv();
        if outcome_now.is_err() {
            // The first to wake writes for all.
            self.write_queue();
            self.stop_without_power().await;
            outcome_now = outcome.try_recv();
        }
        outcome_now.unwrap_or_else(|_| Err(AppendError::Unknown("no answer".to_owned())))
    }

    /// Writes all queued appends, in two commits.
    fn write_queue(&self) {
        let mut state = self.state();
        let Some(store) = state.store.clone() else { return };
        let (appends, callers): (Vec<_>, Vec<_>) = std::mem::take(&mut state.queue).into_iter().unzip();
        state.due = None;
        let outcomes = self.write(&store, &appends);
        let off = self.folder.is_off();
        for ((append, done), outcome) in appends.into_iter().zip(callers).zip(outcomes) {
            match outcome {
                // Now, since a caller on a server without power learns nothing.
                Ok(()) => self.log.note(SimEvent::Written { room: append.room, events: append.events }),
                Err(_) if off => state.in_doubt.push(append),
                Err(_) => {}
            }
            // A call may have been dropped.
            let _ = done.send(outcome);
        }
    }

    /// Queues the appends after the first while the writer thread writes that one.
    fn write(&self, store: &SqliteStore, appends: &[QueuedAppend]) -> Vec<Result<(), AppendError>> {
        let Some((first, others)) = appends.split_first() else { return Vec::new() };
        self.folder.close_gate(thread::current());
        let mut first = store.append(first.borrow());
        // A refused append writes nothing.
        let known = poll_until(&mut first, || self.folder.gate_is_reached());
        let others: Vec<_> = others.iter().map(|append| store.append(append.borrow())).collect();
        self.folder.open_gate();
        let first = known.unwrap_or_else(|| wait_for(first));
        [first].into_iter().chain(others.into_iter().map(wait_for)).collect()
    }

    /// Ends the server when the power is off.
    async fn stop_without_power(&self) {
        if self.folder.is_off() {
            self.state().crash.cancel();
            std::future::pending::<()>().await;
        }
    }

    /// Calls the store.
    fn call<'a, T: Send + 'a>(
        &'a self,
        call: impl for<'s> FnOnce(&'s SqliteStore) -> StoreFuture<'s, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let store = self.state().store.clone();
            let answer = match &store {
                Some(store) => wait_for(call(store)),
                None => Err(StoreError::Unavailable("the power is off".to_owned())),
            };
            self.stop_without_power().await;
            answer
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedAppend {
    fn borrow(&self) -> Append<'_> {
        Append { room: self.room, expected: self.expected, events: &self.events, games: &self.games }
    }

    /// Whether the open rooms show that it was written.
    fn is_in(&self, rooms: &BTreeMap<RoomId, Room>) -> bool {
        let closes = self.events.iter().any(|event| matches!(event.fact, Fact::Closed(_)));
        match rooms.get(&self.room) {
            Some(room) => room.seq() > self.expected,
            None => closes,
        }
    }
}

/// Wakes a thread.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for an answer of the store's threads, without tokio.
fn wait_for<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Some(done) = poll_until(&mut work, || false) {
            return done;
        }
    }
}

/// Polls until `work` is ready, or until `ends` is true, which is checked when this thread is unparked.
fn poll_until<T>(work: &mut (impl Future<Output = T> + Unpin), ends: impl Fn() -> bool) -> Option<T> {
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    // Otherwise tokio ends the turn of the calling task after some polls.
    let mut work = tokio::task::unconstrained(work);
    loop {
        match Pin::new(&mut work).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return Some(done),
            Poll::Pending if ends() => return None,
            Poll::Pending => thread::park(),
        }
    }
}

impl Journal for SqliteDisk {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        let Append { room, expected, events, games } = append;
        let append = QueuedAppend { room, expected, events: events.to_vec(), games: games.to_vec() };
        AppendFuture::Slow(Box::pin(self.append_later(append)))
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        self.call(move |store| store.load(room))
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        self.call(move |store| store.done_request(key, now))
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        self.call(move |store| store.open_rooms(after, limit))
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        self.call(move |store| store.mark_alive(now))
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.call(|store| store.last_alive())
    }
}

impl Archive for SqliteDisk {
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage> {
        self.call(move |store| store.games(filter, after, limit))
    }

    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>> {
        self.call(move |store| store.game(id))
    }

    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats> {
        self.call(move |store| store.player_stats(who))
    }

    fn size(&self) -> StoreFuture<'_, ArchiveSize> {
        self.call(|store| store.size())
    }

    fn ranking(&self, filter: RankingFilter, after: Option<RankingKey>, limit: usize) -> StoreFuture<'_, RankingPage> {
        self.call(move |store| store.ranking(filter, after, limit))
    }

    fn explore(&self, position: Position, filter: ExplorerFilter) -> StoreFuture<'_, Exploration> {
        self.call(move |store| store.explore(position, filter))
    }

    fn count_openings(&self, skip: usize, limit: usize, now: Timestamp) -> StoreFuture<'_, usize> {
        self.call(move |store| store.count_openings(skip, limit, now))
    }

    fn import(&self, games: Vec<GameRecord>) -> StoreFuture<'_, usize> {
        self.call(move |store| store.import(games))
    }

    fn make_provisional(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.call(move |store| store.make_provisional(player))
    }

    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize> {
        self.call(move |store| store.trim(retention, now, limit))
    }
}

impl PlayerStore for SqliteDisk {
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>> {
        self.call(|store| store.players())
    }

    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>> {
        self.call(move |store| store.find(player))
    }

    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>> {
        self.call(move |store| store.profile(player))
    }

    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>> {
        self.call(move |store| store.named(name, limit))
    }

    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool> {
        self.call(move |store| store.put_player(player))
    }

    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.call(move |store| store.remove_player(player))
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.call(move |store| store.record_seen(seen))
    }

    fn bans(&self) -> StoreFuture<'_, Vec<Ban>> {
        self.call(|store| store.bans())
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()> {
        self.call(move |store| store.put_ban(ban, now))
    }
}

impl TournamentJournal for SqliteDisk {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        let appended = self.call(|store| Box::pin(async { Ok(store.append_tournament(append).await) }));
        Box::pin(async { appended.await.unwrap_or_else(|error| Err(AppendError::Unavailable(error.to_string()))) })
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        self.call(move |store| store.tournament(id))
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        self.call(move |store| store.tournament_seq(id))
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        self.call(move |store| store.running_tournaments(shards))
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        self.call(move |store| store.tournament_page(unfinished, before, limit))
    }
}
