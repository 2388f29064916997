//! The database of a cluster as a small model: rooms, players and games in memory, with leases, fences and shards. Each
//! statement happens at one moment; only the way to it and back takes time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::Timestamp,
    runtime::{Assignment, Clock, NodeId, Shard},
    store::{
        Append, AppendError, ClockCheck, ClockReading, ClusterView, MemoryStore, Obstacle, QuorumNode, Store,
        StoreError, Unreached, may_serve, share, surplus,
    },
};
use tokio::time::Instant;

use super::tables::Tables;
use crate::sim::{
    event_log::{Log, Shards, SimEvent},
    simulation::START_TIME,
};

pub(super) const LEASE: Duration = Duration::from_secs(3);

/// A node without a renewal for this time counts as silent.
const SILENCE: Duration = Duration::from_millis(1_500);

/// The interval of a node's marks.
const MARKS: Duration = Duration::from_secs(5);

/// Shards taken at a time.
const STEP: usize = 512;

pub(super) struct ModelDatabase {
    pub(super) store: Store,
    log: Arc<Log>,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    nodes: i64,
    leases: BTreeMap<NodeId, Lease>,
    /// Who does not reach whom, and since when, as the first one says.
    unreached: BTreeMap<(NodeId, NodeId), Instant>,
    /// Those that say that they serve.
    serving: BTreeSet<NodeId>,
    shards: Vec<ShardRow>,
    /// Raised by each change of what nodes see.
    changes: u64,
    /// Shards without a living owner.
    free: BTreeSet<u16>,
    tables: Tables,
    loses_hand_overs: bool,
}

struct Lease {
    until: Instant,
    renewed: Timestamp,
    /// The node's last mark, by its clock and by that of the database.
    alive: (Timestamp, Timestamp),
    clock: ClockCheck,
    is_draining: bool,
}

#[derive(Clone, Copy, Default)]
struct ShardRow {
    node: Option<NodeId>,
    version: u64,
    away_since: Option<Timestamp>,
}

impl ModelDatabase {
    pub(super) fn new(log: Arc<Log>, clock: Clock) -> Arc<Self> {
        let count = Shard::COUNT;
        let state =
            State { shards: vec![ShardRow::default(); count.into()], free: (0..count).collect(), ..State::default() };
        Arc::new(Self { store: Store::of(MemoryStore::default()), log, clock, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Inserts a new node of a process. `ahead` is its clock minus the right time, in microseconds.
    pub(super) fn join(&self, process: usize, ahead: i64) -> NodeId {
        let mut state = self.state();
        state.nodes += 1;
        let node = NodeId(state.nodes);
        let now = self.clock.now();
        let alive = (now.shifted(ahead), now);
        let mut clock = ClockCheck::default();
        clock.apply(ClockReading::new(alive.0, now, alive.0));
        let lease = Lease { until: Instant::now() + LEASE, renewed: now, alive, clock, is_draining: false };
        state.leases.insert(node, lease);
        state.changes += 1;
        self.log.note(SimEvent::NodeJoined { node, process, ahead });
        node
    }

    /// Renews a lease. Returns false if the node was declared dead.
    pub(super) fn renew(&self, node: NodeId) -> bool {
        let mut state = self.state();
        let Some(lease) = state.leases.get_mut(&node) else { return false };
        (lease.until, lease.renewed) = (Instant::now() + LEASE, self.clock.now());
        true
    }

    /// Notes that a node is alive, at this time by its clock.
    pub(super) fn mark_alive(&self, node: NodeId, now: Timestamp) {
        if let Some(lease) = self.state().leases.get_mut(&node) {
            lease.alive = (now, self.clock.now());
        }
    }

    /// Declares nodes dead whose leases have ended, if the caller's has not.
    pub(super) fn declare_dead(&self, by: NodeId) {
        let mut state = self.state();
        let now = Instant::now();
        if state.leases.get(&by).is_none_or(|lease| lease.until <= now) {
            return;
        }
        let ended: Vec<_> =
            state.leases.iter().filter(|(_, lease)| lease.until <= now).map(|(node, _)| *node).collect();
        for node in ended {
            let Some(Lease { renewed, alive: (mark, noted), .. }) = state.leases.remove(&node) else { continue };
            let lived_until = mark.after(renewed.since(noted).min(MARKS));
            state.changes += 1;
            state.unreached.retain(|(of, _), _| *of != node);
            state.serving.remove(&node);
            self.log.note(SimEvent::NodeDead(node, renewed.max(noted).since(START_TIME)));
            for number in 0..Shard::COUNT {
                let row = &mut state.shards[usize::from(number)];
                if row.node == Some(node) {
                    row.node = None;
                    row.away_since = row.away_since.or(Some(lived_until));
                    state.free.insert(number);
                }
            }
        }
    }

    /// Gives a node shards without a living owner, up to its share. Returns what it then sees, if anything is new since
    /// `seen`.
    pub(super) fn beat(
        &self,
        node: NodeId,
        reached: &BTreeSet<NodeId>,
        is_draining: bool,
        seen: &mut u64,
    ) -> Option<ClusterView> {
        let mut state = self.state();
        let obstacle = state.compare(node, reached);
        if *seen == state.changes && state.free.is_empty() && !is_draining {
            return None;
        }
        if let Some(lease) = state.leases.get_mut(&node)
            && std::mem::replace(&mut lease.is_draining, is_draining) != is_draining
        {
            state.changes += 1;
        }
        let is_taker = |(id, lease): &(&NodeId, &Lease)| !lease.is_draining && state.serving.contains(id);
        let takers: BTreeSet<_> = state.leases.iter().filter(is_taker).map(|(id, _)| *id).collect();
        let share = if is_draining || obstacle.is_some() { 0 } else { share(takers.len()) };
        let owned = state.shards.iter().filter(|row| row.node == Some(node)).count();
        let wanted = if state.leases.contains_key(&node) { share.saturating_sub(owned).min(STEP) } else { 0 };
        let numbers: Vec<_> = state.free.iter().copied().take(wanted).collect();
        for number in &numbers {
            state.free.remove(number);
            let row = &mut state.shards[usize::from(*number)];
            (row.node, row.version) = (Some(node), row.version + 1);
        }
        if !numbers.is_empty() {
            let shards = numbers.iter().copied().filter_map(Shard::new).collect();
            self.log.note(SimEvent::ShardsTaken(node, Shards(shards)));
            state.changes += 1;
        }
        if std::mem::replace(seen, state.changes) == state.changes {
            return None;
        }
        let rows = || Shard::all().zip(&state.shards);
        let assignments: Vec<_> = rows()
            .filter_map(|(shard, row)| Some(Assignment { shard, node: row.node?, version: row.version }))
            .collect();
        let surplus = surplus(node, &takers, &assignments);
        Some(ClusterView {
            me: node,
            others: state.leases.keys().filter(|other| **other != node).map(|other| (*other, String::new())).collect(),
            assignments,
            away_since: rows()
                .filter(|(_, row)| row.node == Some(node))
                .filter_map(|(shard, row)| Some((shard, row.away_since?)))
                .collect(),
            obstacle,
            is_drained: is_draining && surplus.is_empty(),
            surplus,
        })
    }

    /// Number of shards of a node.
    pub(super) fn shards_of(&self, node: NodeId) -> usize {
        self.state().shards.iter().filter(|row| row.node == Some(node)).count()
    }

    /// The rooms of these shards are credited.
    pub(super) fn note_credited(&self, shards: &[Assignment]) {
        let mut state = self.state();
        for owned in shards {
            let row = &mut state.shards[usize::from(owned.shard.number())];
            if row.version == owned.version && row.node == Some(owned.node) {
                row.away_since = None;
            }
        }
    }

    /// Loses that shards are given to others, before any node reads it.
    pub(super) fn lose_hand_overs(&self, loses: bool) {
        self.state().loses_hand_overs = loses;
    }

    /// A node gives shards to others, which it last served at `since` by its clock.
    pub(super) fn hand_over(&self, shards: &[(Assignment, NodeId)], since: Timestamp) -> Result<(), StoreError> {
        let mut state = self.state();
        if shards.iter().any(|(_, next)| !state.leases.contains_key(next)) {
            return Err(StoreError::Unavailable("the next node was declared dead".into()));
        }
        if state.loses_hand_overs {
            return Ok(());
        }
        let mut given = BTreeMap::<_, Vec<_>>::new();
        for (owned, next) in shards {
            let row = &mut state.shards[usize::from(owned.shard.number())];
            if row.version == owned.version && row.node == Some(owned.node) {
                (row.node, row.version) = (Some(*next), row.version + 1);
                row.away_since = row.away_since.or(Some(since));
                given.entry(*next).or_default().push(owned.shard);
            }
        }
        state.changes += 1;
        for (next, shards) in given {
            self.log.note(SimEvent::ShardsFreed(Shards(shards.clone())));
            self.log.note(SimEvent::ShardsTaken(next, Shards(shards)));
        }
        Ok(())
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> T {
        read(&self.state().tables)
    }

    /// Changes the tables, if the node lives.
    pub(super) fn change<T>(&self, node: NodeId, change: impl FnOnce(&mut Tables) -> T) -> Result<T, StoreError> {
        let mut state = self.state();
        if !state.leases.contains_key(&node) {
            return Err(StoreError::Unavailable("the node was declared dead".into()));
        }
        Ok(change(&mut state.tables))
    }

    /// Writes, if the node lives and has the room's shard.
    pub(super) async fn append(&self, node: NodeId, append: Append<'_>) -> Result<(), AppendError> {
        if !self.may_write(node, Shard::of(append.room)) {
            return Err(AppendError::Fenced);
        }
        // Answered at once.
        self.store.journal.append(append).await?;
        self.state().tables.write(append.room, append.events);
        self.log.note(SimEvent::WrittenBy(node, append.room));
        self.log.note(SimEvent::Written { room: append.room, events: append.events.to_vec() });
        Ok(())
    }

    pub(super) fn may_write(&self, node: NodeId, shard: Shard) -> bool {
        let state = self.state();
        let owner = state.shards[usize::from(shard.number())].node;
        owner == Some(node) && state.leases.contains_key(&node)
    }
}

impl State {
    /// Notes which others a node reaches. Returns why it should not serve.
    fn compare(&mut self, node: NodeId, reached: &BTreeSet<NodeId>) -> Option<Obstacle> {
        let now = Instant::now();
        let Self { leases, unreached, serving, .. } = self;
        let live: Vec<_> = leases.iter().filter(|(_, lease)| lease.until > now).map(|(id, _)| *id).collect();
        unreached.retain(|(of, peer), _| *of != node || live.contains(peer) && !reached.contains(peer));
        for peer in live.iter().filter(|peer| **peer != node && !reached.contains(peer)) {
            unreached.entry((node, *peer)).or_insert(now);
        }
        let others = leases.iter().filter(|(id, _)| **id != node);
        let clocks: Vec<_> = others.filter_map(|(_, lease)| lease.clock.ahead()).collect();
        let own = leases.get(&node).map(|lease| &lease.clock);
        let is_wrong = |ahead| own.is_some_and(|own| own.judge_other(ahead, &clocks));
        let is_out = |id: &NodeId, lease: &Lease| !serving.contains(id) && lease.clock.ahead().is_some_and(is_wrong);
        let nodes: Vec<_> = leases
            .iter()
            .filter(|(id, lease)| **id == node || lease.until > now && !is_out(id, lease))
            .map(|(id, lease)| QuorumNode {
                id: *id,
                is_silent: *id != node && lease.until < now + LEASE.saturating_sub(SILENCE),
            })
            .collect();
        let unreached: Vec<_> = unreached
            .iter()
            .map(|((of, peer), since)| Unreached { node: *of, peer: *peer, time: now - *since })
            .collect();
        let is_serving = serving.contains(&node);
        let judge = |lease: &mut Lease| lease.clock.judge(&clocks, is_serving, now);
        let has_wrong_clock = leases.get_mut(&node).is_some_and(judge);
        let obstacle = match may_serve(node, is_serving, &nodes, &unreached) {
            false => Some(Obstacle::CutOff),
            true => has_wrong_clock.then_some(Obstacle::WrongClock),
        };
        let is_new = if obstacle.is_none() { serving.insert(node) } else { serving.remove(&node) };
        self.changes += u64::from(is_new);
        obstacle
    }
}
