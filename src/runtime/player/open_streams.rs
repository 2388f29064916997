//! The streams of one player on this node, and the time of its last call: whether it is present.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicI64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use super::inbox::Inbox;
use crate::{
    room::{RoomId, Timestamp},
    runtime::{cluster::peers::PlayerStreams, server_clock::Clock},
};

/// The open streams of a player, and when it was last seen.
pub(crate) struct OpenStreams {
    clock: Clock,
    /// The number of open streams.
    count: AtomicUsize,
    /// The number of the open stream of turns; [`NEVER`] without one.
    turns_number: AtomicI64,
    pub(crate) inbox: Arc<Inbox>,
    /// The streams as told to the other nodes.
    told: Mutex<PlayerStreams>,
    last_seen: AtomicI64,
    /// The last call, if it counts as presence; [`NEVER`] when a stream has ended since.
    called: AtomicI64,
    /// The stored value of `last_seen`.
    stored_seen: AtomicI64,
    /// Rooms whose mailbox is full and that a presence check waits for.
    pending_checks: Mutex<BTreeSet<RoomId>>,
}

const NEVER: i64 = 0;

impl OpenStreams {
    /// No streams, of a player who was last seen at `seen`, which is stored, and is present as after a call.
    pub(super) fn new(seen: Timestamp, clock: Clock) -> Self {
        Self {
            clock,
            count: AtomicUsize::new(0),
            turns_number: AtomicI64::new(NEVER),
            inbox: Arc::default(),
            told: Mutex::default(),
            last_seen: AtomicI64::new(seen.0),
            called: AtomicI64::new(clock.now().0),
            stored_seen: AtomicI64::new(seen.0),
            pending_checks: Mutex::default(),
        }
    }

    /// Counts an opened stream, and returns the number before.
    pub(crate) fn open(&self) -> usize {
        self.count.fetch_add(1, SeqCst)
    }

    /// Counts a closed stream; true when it was the last.
    pub(crate) fn close(&self) -> bool {
        self.last_seen.store(self.clock.now().0, Relaxed);
        self.note_end();
        self.count.fetch_sub(1, SeqCst) == 1
    }

    pub(crate) fn is_any_open(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// Begins a stream of turns with this number.
    pub(crate) fn begin_turns(&self, number: i64) {
        self.turns_number.store(number, SeqCst);
    }

    /// Ends a stream of turns, which may not be the newest.
    pub(crate) fn end_turns(&self, number: i64) {
        let _ = self.turns_number.compare_exchange(number, NEVER, SeqCst, SeqCst);
    }

    /// The number of the open stream of turns; 0 without one.
    pub(super) fn turns_number(&self) -> i64 {
        self.turns_number.load(SeqCst)
    }

    pub(super) fn here(&self) -> PlayerStreams {
        let turns = Some(self.turns_number()).filter(|number| *number != NEVER);
        PlayerStreams { present: self.is_any_open(), turns }
    }

    /// The streams as told to the other nodes. Locked while they are told, a stream of turns begins, or the token is
    /// replaced.
    pub(crate) fn told(&self) -> MutexGuard<'_, PlayerStreams> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call, here or at another node about a room of this one.
    pub(crate) fn note_call(&self) {
        let now = self.clock.now().0;
        self.last_seen.store(now, Relaxed);
        self.called.store(now, Relaxed);
    }

    /// Notes that a stream has ended, here or the last one at another node.
    pub(crate) fn note_end(&self) {
        self.called.store(NEVER, Relaxed);
    }

    /// Whether a stream is open, or the player has called within `grace` and ended no stream since.
    pub(super) fn is_present(&self, grace: Duration) -> bool {
        self.is_any_open() || self.clock.now().since(Timestamp(self.called.load(Relaxed))) <= grace
    }

    /// Whether no stream is open, and the player has made no request since `before`.
    pub(super) fn is_unused(&self, before: Timestamp) -> bool {
        !self.is_any_open() && self.last_seen() < before
    }

    /// The time of the last request, or of the end of the last stream.
    pub(super) fn last_seen(&self) -> Timestamp {
        Timestamp(self.last_seen.load(Relaxed))
    }

    pub(super) fn stored_seen(&self) -> Timestamp {
        Timestamp(self.stored_seen.load(Relaxed))
    }

    pub(super) fn note_stored_seen(&self, seen: Timestamp) {
        self.stored_seen.store(seen.0, Relaxed);
    }

    /// Registers a presence check that waits for a room; false when one is registered.
    pub(crate) fn begin_check(&self, room: RoomId) -> bool {
        self.pending_checks().insert(room)
    }

    pub(crate) fn end_check(&self, room: RoomId) {
        self.pending_checks().remove(&room);
    }

    fn pending_checks(&self) -> MutexGuard<'_, BTreeSet<RoomId>> {
        self.pending_checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
