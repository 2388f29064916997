//! The database of a cluster as a small model: rooms, players and games in memory, with leases, fences and shards. Each
//! statement happens at one moment; only the way to it and back takes time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::{RoomId, Timestamp},
    runtime::{Clock, NodeId, Ownership, Shard},
    store::{Append, AppendError, MemoryStore, Store},
};
use tokio::time::Instant;

use crate::sim::event_log::{Log, Shards, SimEvent};

pub(super) const LEASE: Duration = Duration::from_secs(3);

/// Shards taken at a time.
const STEP: usize = 512;

pub(super) struct Engine {
    pub(super) store: Store,
    log: Arc<Log>,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    nodes: i64,
    leases: BTreeMap<NodeId, Lease>,
    shards: Vec<ShardRow>,
    /// Shards without a living owner.
    free: BTreeSet<u16>,
    /// Raised by each change of the directory.
    changes: u64,
}

struct Lease {
    until: Instant,
    renewed: Timestamp,
}

#[derive(Clone, Copy, Default)]
struct ShardRow {
    node: Option<NodeId>,
    version: u64,
    away_since: Option<Timestamp>,
}

impl Engine {
    pub(super) fn new(log: Arc<Log>, clock: Clock) -> Arc<Self> {
        let count = Shard::COUNT;
        let state =
            State { shards: vec![ShardRow::default(); count.into()], free: (0..count).collect(), ..State::default() };
        Arc::new(Self { store: Store::of(MemoryStore::default()), log, clock, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Inserts a new node.
    pub(super) fn join(&self) -> NodeId {
        let mut state = self.state();
        state.nodes += 1;
        let node = NodeId(state.nodes);
        state.leases.insert(node, Lease { until: Instant::now() + LEASE, renewed: self.clock.now() });
        node
    }

    /// Renews a lease. Returns false if the node was declared dead.
    pub(super) fn renew(&self, node: NodeId) -> bool {
        let mut state = self.state();
        let Some(lease) = state.leases.get_mut(&node) else { return false };
        *lease = Lease { until: Instant::now() + LEASE, renewed: self.clock.now() };
        true
    }

    /// Declares nodes dead whose leases have ended, if the caller's has not.
    pub(super) fn bury(&self, by: NodeId) {
        let mut state = self.state();
        let now = Instant::now();
        if state.leases.get(&by).is_none_or(|lease| lease.until <= now) {
            return;
        }
        let ended: Vec<_> =
            state.leases.iter().filter(|(_, lease)| lease.until <= now).map(|(node, _)| *node).collect();
        for node in ended {
            let renewed = state.leases.remove(&node).map(|lease| lease.renewed);
            self.log.note(SimEvent::NodeDead(node));
            for number in 0..Shard::COUNT {
                let row = &mut state.shards[usize::from(number)];
                if row.node == Some(node) {
                    row.away_since = row.away_since.or(renewed);
                    state.free.insert(number);
                }
            }
        }
    }

    /// Gives a node shards without a living owner, up to its share.
    pub(super) fn take(&self, node: NodeId) -> Vec<(Shard, Option<Timestamp>)> {
        let mut state = self.state();
        if state.free.is_empty() || !state.leases.contains_key(&node) {
            return Vec::new();
        }
        let share = usize::from(Shard::COUNT) / state.leases.len() + 1;
        let owned = state.shards.iter().filter(|row| row.node == Some(node)).count();
        let numbers: Vec<_> = state.free.iter().copied().take(share.saturating_sub(owned).min(STEP)).collect();
        let mut taken = Vec::new();
        for number in numbers {
            state.free.remove(&number);
            let row = &mut state.shards[usize::from(number)];
            (row.node, row.version) = (Some(node), row.version + 1);
            taken.extend(Shard::new(number).map(|shard| (shard, row.away_since)));
        }
        if !taken.is_empty() {
            state.changes += 1;
            let shards = taken.iter().map(|(shard, _)| *shard).collect();
            self.log.note(SimEvent::ShardsTaken(node, Shards(shards)));
        }
        taken
    }

    /// The rooms of these shards are credited.
    pub(super) fn note_credited(&self, node: NodeId, shards: &[(Shard, Option<Timestamp>)]) {
        let mut state = self.state();
        for (shard, _) in shards {
            let row = &mut state.shards[usize::from(shard.number())];
            if row.node == Some(node) {
                row.away_since = None;
            }
        }
    }

    /// The owners of all shards, if any has changed since.
    pub(super) fn directory(&self, seen: &mut u64) -> Vec<Ownership> {
        let state = self.state();
        if std::mem::replace(seen, state.changes) == state.changes {
            return Vec::new();
        }
        let owned = |(shard, row): (Shard, &ShardRow)| Some(Ownership { shard, node: row.node?, version: row.version });
        Shard::all().zip(&state.shards).filter_map(owned).collect()
    }

    /// Writes, if the node lives and has the room's shard.
    pub(super) async fn append(&self, node: NodeId, append: Append<'_>) -> Result<(), AppendError> {
        if !self.may_write(node, append.room) {
            return Err(AppendError::Fenced);
        }
        // Answered at once.
        self.store.journal.append(append).await?;
        self.log.note(SimEvent::WrittenBy(node, append.room));
        self.log.note(SimEvent::Written { room: append.room, events: append.events.to_vec() });
        Ok(())
    }

    fn may_write(&self, node: NodeId, room: RoomId) -> bool {
        let state = self.state();
        let owner = state.shards[usize::from(Shard::of(room).number())].node;
        owner == Some(node) && state.leases.contains_key(&node)
    }
}
