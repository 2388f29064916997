//! A server with tournaments that is killed and started again, on a store that can be slow and refuse writes.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use reversi::{
    room::{Room, RoomId, Seq, Timestamp, TournamentId},
    runtime::{Clock, Parts, Pool, RandomSource, Runtime},
    store::{
        Append, AppendError, AppendFuture, BoxFuture, DoneRequest, History, Journal, MemoryStore, Shard, Store,
        StoreError, StoreFuture, StoredTournament, TournamentAppend, TournamentJournal, TournamentKey,
    },
    tournament::{Event, stored::decode_event},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::sim::simulation::encode;

/// The time between two starts of the server.
const DOWN: Duration = Duration::from_secs(30);

/// When a process is killed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kill {
    /// At this write of a tournament, from 1, before it is made.
    Before(usize),
    /// At this write of a tournament, from 1, once it is made.
    After(usize),
    /// After this time.
    At(Duration),
    Never,
}

/// The store of one process.
pub(super) struct Disk {
    store: Arc<MemoryStore>,
    kill: Kill,
    killed: CancellationToken,
    writes: AtomicUsize,
    faults: Mutex<Faults>,
    history: Arc<Mutex<Vec<Event>>>,
}

#[derive(Default)]
struct Faults {
    /// How long the next write of a tournament takes.
    slow: Duration,
    /// How long the next write of a room takes.
    slow_room: Duration,
    /// Whether writes of tournaments are refused.
    refuses_tournaments: bool,
    /// Whether writes of rooms, and notes that the server is alive, are refused.
    refuses_others: bool,
    /// Since the first of these writes.
    refused_since: Option<Instant>,
}

impl Disk {
    pub(super) fn slow_down(&self, next: Duration) {
        self.faults().slow = next;
    }

    pub(super) fn slow_down_room(&self, next: Duration) {
        self.faults().slow_room = next;
    }

    pub(super) fn refuse(&self, tournaments: bool, others: bool) {
        let mut faults = self.faults();
        (faults.refuses_tournaments, faults.refuses_others, faults.refused_since) = (tournaments, others, None);
    }

    /// The time since the first write that was refused.
    pub(super) fn refused_for(&self) -> Duration {
        self.faults().refused_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, is_refused: fn(&Faults) -> bool) -> Result<(), StoreError> {
        let mut faults = self.faults();
        if !is_refused(&faults) {
            return Ok(());
        }
        faults.refused_since.get_or_insert_with(Instant::now);
        Err(StoreError::Unavailable("refused by the test".into()))
    }
}

fn refused(error: StoreError) -> AppendError {
    AppendError::Unavailable(error.to_string())
}

impl TournamentJournal for Disk {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(async move {
            let slow = std::mem::take(&mut self.faults().slow);
            if !slow.is_zero() {
                tokio::time::sleep(slow).await;
            }
            self.check(|faults| faults.refuses_tournaments).map_err(refused)?;
            let number = 1 + self.writes.fetch_add(1, SeqCst);
            let (before, after) = match self.kill {
                Kill::Before(kill) => (kill == number, false),
                Kill::After(kill) => (false, kill == number),
                Kill::At(_) | Kill::Never => (false, false),
            };
            if !before {
                let events = append.events.iter().map(|bytes| decode_event(bytes).expect("an event"));
                let events: Vec<Event> = events.collect();
                self.store.append_tournament(append).await?;
                self.history.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
            }
            if before || after {
                self.killed.cancel();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        self.store.tournament(id)
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        self.store.tournament_seq(id)
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        self.store.running_tournaments(shards)
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        self.store.tournament_page(unfinished, before, limit)
    }
}

impl Journal for Disk {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        let slow = std::mem::take(&mut self.faults().slow_room);
        match self.check(|faults| faults.refuses_others) {
            Ok(()) if slow.is_zero() => self.store.append(append),
            Ok(()) => AppendFuture::Slow(Box::pin(async move {
                tokio::time::sleep(slow).await;
                self.store.append(append).await
            })),
            Err(error) => AppendFuture::Slow(Box::pin(async move { Err(refused(error)) })),
        }
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        self.store.load(room)
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        self.store.done_request(key, now)
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        self.store.open_rooms(after, limit)
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.check(|faults| faults.refuses_others)?;
            self.store.mark_alive(now).await
        })
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.store.last_alive()
    }
}

/// A server that is started again whenever it is killed, on one store.
pub(super) struct Machine {
    pub(super) store: Arc<MemoryStore>,
    /// The pools of its servers.
    pub(super) pools: Vec<Pool>,
    seed: u64,
    now: Timestamp,
    /// The writes of tournaments of all processes.
    pub(super) writes: usize,
    starts: u64,
    /// The events of all tournaments, as they were written.
    history: Arc<Mutex<Vec<Event>>>,
    /// When each process ran.
    pub(super) lives: Vec<[Timestamp; 2]>,
}

impl Machine {
    pub(super) fn new(seed: u64) -> Self {
        let (store, pools, history, lives) = Default::default();
        Self { store, pools, seed, now: Timestamp(1_700_000_000_000_000), writes: 0, starts: 0, history, lives }
    }

    /// Runs a process until it is killed or does what it is to do.
    pub(super) fn run<T>(&mut self, kill: Kill, life: impl AsyncFnOnce(&Runtime, &Disk) -> T) -> Option<T> {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a tokio runtime");
        let disk = Arc::new(Disk {
            store: Arc::clone(&self.store),
            kill,
            killed: CancellationToken::new(),
            writes: AtomicUsize::new(0),
            faults: Mutex::default(),
            history: Arc::clone(&self.history),
        });
        self.starts += 1;
        let (done, now) = tokio.block_on(async {
            let clock = Clock::starting(self.now);
            let store = Store {
                tournaments: Arc::clone(&disk) as _,
                journal: Arc::clone(&disk) as _,
                ..Store::shared(&self.store)
            };
            let parts = Parts {
                clock,
                random: RandomSource::seeded(self.seed.wrapping_mul(1_000).wrapping_add(self.starts)),
                ai_threads: Some(0),
                pools: self.pools.clone(),
                ..Parts::new(store, encode)
            };
            let runtime = Runtime::start(parts).await.expect("a runtime");
            let most = if let Kill::At(time) = kill { time } else { Duration::MAX };
            let done = tokio::select! {
                biased;
                () = disk.killed.cancelled() => None,
                () = tokio::time::sleep(most) => None,
                done = life(&runtime, &disk) => Some(done),
            };
            (done, clock.now())
        });
        // All its tasks end at once.
        drop(tokio);
        self.writes += disk.writes.load(SeqCst);
        self.lives.push([self.now, now]);
        self.now = now.after(DOWN);
        done
    }

    pub(super) fn history(&self) -> Vec<Event> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
