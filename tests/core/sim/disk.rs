//! A store that fails as the seed determines: slow, refused and unconfirmed writes, and crashes of the server.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::{PlayerId, Room, RoomId, Timestamp},
    store::{
        Append, AppendError, AppendFuture, BoxFuture, History, Journal, MemoryStore, PlayerStore, Store, StoredPlayer,
        Unavailable,
    },
};
use tokio_util::sync::CancellationToken;

use crate::sim::{
    dice::Dice,
    moment::{Log, What},
};

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Written,
    Refused,
    /// The outcome is not reported; true if the append was written.
    Unknown(bool),
    /// The server crashes; true if the append was written before.
    Crash(bool),
}

pub(crate) struct Disk {
    store: Arc<MemoryStore>,
    log: Arc<Log>,
    state: Mutex<State>,
}

struct State {
    dice: Dice,
    storm: bool,
    /// Predetermined outcomes of the next appends, for scenarios.
    fates: VecDeque<Fate>,
    /// Predetermined failures of the next reads and writes of players: true for a failure.
    failures: VecDeque<bool>,
    /// The number of appends of a storm that crash the server, per thousand.
    deadly: usize,
    /// Whether writes are sometimes slow outside of storms too.
    sluggish: bool,
    /// Cancelled to crash the server.
    crash: CancellationToken,
}

impl Disk {
    pub(crate) fn new(dice: Dice, log: Arc<Log>) -> Arc<Self> {
        let state = State {
            dice,
            storm: false,
            fates: VecDeque::new(),
            failures: VecDeque::new(),
            deadly: 0,
            sluggish: false,
            crash: CancellationToken::new(),
        };
        Arc::new(Self { store: Arc::default(), log, state: Mutex::new(state) })
    }

    /// The disk as the store of a runtime.
    pub(crate) fn store(self: &Arc<Self>) -> Store {
        Store {
            journal: Arc::clone(self) as Arc<dyn Journal>,
            archive: Arc::clone(&self.store) as Arc<dyn reversi::store::Archive>,
            players: Arc::clone(self) as Arc<dyn PlayerStore>,
        }
    }

    /// Prepares for the next server. Returns the token that is cancelled when the disk crashes it.
    pub(crate) fn next_life(&self, deadly: usize) -> CancellationToken {
        let mut state = self.state();
        (state.deadly, state.sluggish) = (deadly, true);
        state.crash = CancellationToken::new();
        state.crash.clone()
    }

    pub(crate) fn set_storm(&self, storm: bool) {
        self.state().storm = storm;
        self.log.note(What::Storm(storm));
    }

    pub(crate) fn storms(&self) -> bool {
        self.state().storm
    }

    /// Determines the outcomes of the next appends.
    pub(crate) fn decide(&self, fates: &[Fate]) {
        self.state().fates.extend(fates);
    }

    /// Determines which of the next reads fail.
    pub(crate) fn decide_reads(&self, failures: &[bool]) {
        self.state().failures.extend(failures);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, append: Append<'_>) -> Result<(), AppendError> {
        let (before, fate, after) = self.state().fate();
        wait(before).await;
        if fate != Fate::Written {
            self.log.note(What::Failed(fate.name()));
        }
        let mut outcome = Err(AppendError::Unavailable("refused by the seed".into()));
        if matches!(fate, Fate::Written | Fate::Unknown(true) | Fate::Crash(true)) {
            outcome = self.store.append(append).await;
            if outcome.is_ok() {
                self.log.note(What::Wrote { room: append.room, events: append.events.to_vec() });
            }
        }
        if let Fate::Crash(_) = fate {
            self.state().crash.cancel();
            return std::future::pending().await;
        }
        wait(after).await;
        match fate {
            Fate::Unknown(_) => Err(AppendError::Unknown("lost by the seed".into())),
            _ => outcome,
        }
    }

    /// Fails if the next read, or write of a player, is to fail.
    async fn readable(&self) -> Result<(), Unavailable> {
        let (fails, slow) = self.state().unreadable();
        wait(slow).await;
        if fails {
            self.log.note(What::Failed("unavailable"));
            return Err(Unavailable("refused by the seed".into()));
        }
        Ok(())
    }
}

impl State {
    fn fate(&mut self) -> (Duration, Fate, Duration) {
        if let Some(fate) = self.fates.pop_front() {
            return (Duration::ZERO, fate, Duration::ZERO);
        }
        let [before, after] = [self.slowness(), self.slowness()];
        if !self.storm {
            return (before, Fate::Written, after);
        }
        let fate = if self.dice.below(1000) < self.deadly {
            Fate::Crash(self.dice.percent(50))
        } else {
            match self.dice.below(100) {
                0..25 => Fate::Refused,
                25..40 => Fate::Unknown(true),
                40..50 => Fate::Unknown(false),
                _ => Fate::Written,
            }
        };
        (before, fate, after)
    }

    fn unreadable(&mut self) -> (bool, Duration) {
        if let Some(fails) = self.failures.pop_front() {
            return (fails, Duration::ZERO);
        }
        let fails = self.storm && self.dice.percent(40);
        (fails, self.slowness())
    }

    fn slowness(&mut self) -> Duration {
        match (self.storm, self.dice.below(100)) {
            (_, 0..4) if self.sluggish => self.dice.millis(1..50),
            (true, 4..9) => self.dice.millis(50..2500),
            _ => Duration::ZERO,
        }
    }
}

impl Fate {
    fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Refused => "refused",
            Self::Unknown(true) => "unknown, but written",
            Self::Unknown(false) => "unknown, and not written",
            Self::Crash(true) => "crash behind a write",
            Self::Crash(false) => "crash before a write",
        }
    }
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Journal for Disk {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        AppendFuture::Slow(Box::pin(self.write(append)))
    }

    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.load(room).await
        })
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.open_rooms(after, limit).await
        })
    }

    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.mark_alive(now).await
        })
    }

    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.last_alive().await
        })
    }
}

impl PlayerStore for Disk {
    fn players(&self) -> BoxFuture<'_, Result<Vec<StoredPlayer>, Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.players().await
        })
    }

    fn insert_player(&self, player: StoredPlayer) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.insert_player(player).await
        })
    }

    fn remove_player(&self, player: PlayerId) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.remove_player(player).await
        })
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            self.readable().await?;
            self.store.record_seen(seen).await
        })
    }
}
