//! A store that fails as the seed determines: slow, refused and unconfirmed writes, and crashes of the server.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::{DisplayName, PlayerId, Profile, Room, RoomId, Timestamp},
    store::{
        Append, AppendError, AppendFuture, Ban, BoxFuture, DoneRequest, History, Journal, MemoryStore, PlayerKey,
        PlayerStore, Store, StoreError, StoredPlayer,
    },
};
use tokio_util::sync::CancellationToken;

use crate::sim::{
    event_log::{Log, SimEvent},
    rng::Rng,
    sqlite_disk::SqliteDisk,
};

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppendOutcome {
    Written,
    /// Written after this time.
    Slow(Duration),
    Refused,
    /// What is stored of the room cannot be read.
    Damaged,
    /// The outcome is not reported; true if the append was written.
    Unknown(bool),
    /// The server crashes; true if the append was written before.
    Crash(bool),
}

pub(crate) struct FaultyDisk {
    store: Store,
    /// The store, if it is SQLite's. It records its writes itself, since a power cut may hide their outcome.
    sqlite: Option<Arc<SqliteDisk>>,
    log: Arc<Log>,
    state: Mutex<State>,
}

struct State {
    rng: Rng,
    faulty: bool,
    /// Predetermined outcomes of the next appends, for the regression tests.
    append_outcomes: VecDeque<AppendOutcome>,
    /// Predetermined failures of the next reads and writes of players: true for a failure.
    access_failures: VecDeque<bool>,
    /// The number of appends in a faulty period that crash the server, per thousand.
    crashes_per_thousand: usize,
    /// Whether writes are sometimes slow outside of faulty periods too.
    delays: bool,
    /// Cancelled to crash the server.
    crash: CancellationToken,
}

impl FaultyDisk {
    pub(crate) fn new(rng: Rng, log: Arc<Log>) -> Arc<Self> {
        Self::over(Store::of(MemoryStore::default()), None, rng, log)
    }

    pub(crate) fn over_sqlite(sqlite: Arc<SqliteDisk>, rng: Rng, log: Arc<Log>) -> Arc<Self> {
        Self::over(Store::shared(&sqlite), Some(sqlite), rng, log)
    }

    fn over(store: Store, sqlite: Option<Arc<SqliteDisk>>, rng: Rng, log: Arc<Log>) -> Arc<Self> {
        let state = State {
            rng,
            faulty: false,
            append_outcomes: VecDeque::new(),
            access_failures: VecDeque::new(),
            crashes_per_thousand: 0,
            delays: false,
            crash: CancellationToken::new(),
        };
        Arc::new(Self { store, sqlite, log, state: Mutex::new(state) })
    }

    /// The disk as the store of a runtime.
    pub(crate) fn store(self: &Arc<Self>) -> Store {
        Store {
            journal: Arc::clone(self) as Arc<dyn Journal>,
            archive: Arc::clone(&self.store.archive),
            players: Arc::clone(self) as Arc<dyn PlayerStore>,
            tournaments: Arc::clone(&self.store.tournaments),
        }
    }

    /// Prepares for the next server. Returns the token that is cancelled when the disk crashes it.
    pub(crate) fn next_server(&self, crashes_per_thousand: usize) -> CancellationToken {
        let mut state = self.state();
        (state.crashes_per_thousand, state.delays) = (crashes_per_thousand, true);
        state.crash = CancellationToken::new();
        state.crash.clone()
    }

    pub(crate) fn set_faulty(&self, faulty: bool) {
        self.state().faulty = faulty;
        self.log.note(SimEvent::DiskFaulty(faulty));
    }

    pub(crate) fn is_faulty(&self) -> bool {
        self.state().faulty
    }

    /// Determines the outcomes of the next appends.
    pub(crate) fn set_append_outcomes(&self, outcomes: &[AppendOutcome]) {
        self.state().append_outcomes.extend(outcomes);
    }

    /// Determines which of the next reads, and writes of players, fail.
    pub(crate) fn set_access_failures(&self, failures: &[bool]) {
        self.state().access_failures.extend(failures);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, append: Append<'_>) -> Result<(), AppendError> {
        let (before, outcome, after) = self.state().next_append();
        wait(before).await;
        if outcome != AppendOutcome::Written {
            self.log.note(SimEvent::DiskFailed(outcome.name()));
        }
        let mut result = Err(AppendError::Unavailable("refused by the test".into()));
        if let AppendOutcome::Slow(time) = outcome {
            wait(time).await;
        }
        if matches!(
            outcome,
            AppendOutcome::Written | AppendOutcome::Slow(_) | AppendOutcome::Unknown(true) | AppendOutcome::Crash(true)
        ) {
            result = self.store.journal.append(append).await;
            if result.is_ok() && self.sqlite.is_none() {
                self.log.note(SimEvent::Written { room: append.room, events: append.events.to_vec() });
            }
        }
        if let AppendOutcome::Crash(_) = outcome {
            self.state().crash.cancel();
            return std::future::pending().await;
        }
        wait(after).await;
        match outcome {
            AppendOutcome::Unknown(_) => Err(AppendError::Unknown("lost by the test".into())),
            AppendOutcome::Damaged => Err(AppendError::Damaged("damaged by the test".into())),
            _ => result,
        }
    }

    /// Fails if the next read, or write of a player, is to fail.
    async fn fail_if_set(&self) -> Result<(), StoreError> {
        let (fails, delay) = self.state().next_access();
        wait(delay).await;
        if fails {
            self.log.note(SimEvent::DiskFailed("unavailable"));
            return Err(StoreError::Unavailable("refused by the test".into()));
        }
        Ok(())
    }
}

impl State {
    fn next_append(&mut self) -> (Duration, AppendOutcome, Duration) {
        if let Some(outcome) = self.append_outcomes.pop_front() {
            return (Duration::ZERO, outcome, Duration::ZERO);
        }
        let [before, after] = [self.delay(), self.delay()];
        if !self.faulty {
            return (before, AppendOutcome::Written, after);
        }
        let outcome = if self.rng.below(1000) < self.crashes_per_thousand {
            AppendOutcome::Crash(self.rng.percent(50))
        } else {
            match self.rng.below(100) {
                0..25 => AppendOutcome::Refused,
                25..40 => AppendOutcome::Unknown(true),
                40..50 => AppendOutcome::Unknown(false),
                _ => AppendOutcome::Written,
            }
        };
        (before, outcome, after)
    }

    fn next_access(&mut self) -> (bool, Duration) {
        if let Some(fails) = self.access_failures.pop_front() {
            return (fails, Duration::ZERO);
        }
        let fails = self.faulty && self.rng.percent(40);
        (fails, self.delay())
    }

    fn delay(&mut self) -> Duration {
        match (self.faulty, self.rng.below(100)) {
            (_, 0..4) if self.delays => self.rng.millis(1..50),
            (true, 4..9) => self.rng.millis(50..2500),
            _ => Duration::ZERO,
        }
    }
}

impl AppendOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Slow(_) => "slow",
            Self::Damaged => "damaged",
            Self::Refused => "refused",
            Self::Unknown(true) => "unknown, but written",
            Self::Unknown(false) => "unknown, and not written",
            Self::Crash(true) => "crash after a write",
            Self::Crash(false) => "crash before a write",
        }
    }
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Journal for FaultyDisk {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        AppendFuture::Slow(Box::pin(self.write(append)))
    }

    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.journal.load(room).await
        })
    }

    fn done_request(&self, key: u64, now: Timestamp) -> BoxFuture<'_, Result<Option<DoneRequest>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.journal.done_request(key, now).await
        })
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.journal.open_rooms(after, limit).await
        })
    }

    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.journal.mark_alive(now).await
        })
    }

    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.journal.last_alive().await
        })
    }
}

impl PlayerStore for FaultyDisk {
    fn players(&self) -> BoxFuture<'_, Result<Vec<StoredPlayer>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.players().await
        })
    }

    fn find(&self, player: PlayerKey) -> BoxFuture<'_, Result<Option<StoredPlayer>, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.find(player).await
        })
    }

    fn profile(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Profile>, StoreError>> {
        self.store.players.profile(player)
    }

    fn named(&self, name: DisplayName, limit: usize) -> BoxFuture<'_, Result<Vec<Profile>, StoreError>> {
        self.store.players.named(name, limit)
    }

    fn put_player(&self, player: StoredPlayer) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.put_player(player).await
        })
    }

    fn change_account(&self, player: StoredPlayer, before: StoredPlayer) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.change_account(player, before).await
        })
    }

    fn remove_player(&self, player: PlayerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.remove_player(player).await
        })
    }

    fn bans(&self) -> BoxFuture<'_, Result<Vec<Ban>, StoreError>> {
        self.store.players.bans()
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.players.put_ban(ban, now)
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.fail_if_set().await?;
            self.store.players.record_seen(seen).await
        })
    }
}
