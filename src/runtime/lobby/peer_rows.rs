//! The rooms of other nodes in the list of rooms.
//!
//! Each node sends the rows of its own rooms to each other one, and no others. A row that leaves a node while the room goes
//! on, because the room moves or the link to the node has ended, is kept until another node lists the room, but at most for
//! [`OWNER_TIMEOUT`], so that the list does not lose rooms for a while. Two nodes may list a room for a moment; it is shown
//! once. So the order in which messages of two nodes arrive does not matter.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{Bound, RangeBounds},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use tokio::{sync::broadcast, time::Instant};

use super::row::{LobbyUpdate, Row, RowKey};
use crate::{
    runtime::{
        cluster::cluster::Cluster,
        lifecycle::{Lifecycle, ticks},
        limit::limits::{LOBBY_LAG, OWNER_TIMEOUT, PEER_ROWS},
    },
    store::NodeId,
};

/// The interval at which rows that have left their nodes are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The rows of other nodes.
pub(crate) struct PeerRows {
    rows: RwLock<SentRows>,
    changes: broadcast::Sender<RowKey>,
}

/// Rows by their rooms, and the nodes that have sent them.
pub(super) struct SentRows {
    cluster: Arc<Cluster>,
    rows: BTreeMap<(RowKey, NodeId), PeerRow>,
    /// Whether any row may have left its node.
    any_left: bool,
}

struct PeerRow {
    row: Row,
    /// When it left its node.
    left: Option<Instant>,
}

impl PeerRows {
    pub(super) fn new(cluster: Arc<Cluster>) -> Self {
        let rows = SentRows { cluster, rows: BTreeMap::new(), any_left: false };
        Self { rows: RwLock::new(rows), changes: broadcast::Sender::new(LOBBY_LAG) }
    }

    pub(super) fn changes(&self) -> broadcast::Receiver<RowKey> {
        self.changes.subscribe()
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, SentRows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SentRows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, changed: impl IntoIterator<Item = RowKey>) {
        for key in changed {
            // There may be no watchers.
            let _ = self.changes.send(key);
        }
    }

    /// A room leaves this node and goes on.
    pub(super) fn keep(&self, row: Row) {
        let mut rows = self.write();
        let (key, me) = (row.key(), rows.cluster.me());
        rows.insert(me, row);
        rows.leave(key, me);
    }

    /// A room of this node is not in the list any longer.
    pub(super) fn forget(&self, key: RowKey) {
        self.write().remove_left(key);
    }

    fn update(&self, node: NodeId, update: LobbyUpdate) {
        let mut rows = self.write();
        let changed = match update {
            LobbyUpdate::Page { after, rows: page, end } => rows.insert_page(node, after, page, end),
            LobbyUpdate::Changed { upserted, removed, moved } => {
                let upserted = upserted.into_iter().filter_map(|row| rows.insert(node, row));
                let mut changed: Vec<_> = upserted.collect();
                for key in &removed {
                    rows.rows.remove(&(*key, node));
                    rows.remove_left(*key);
                }
                moved.iter().for_each(|key| rows.leave(*key, node));
                changed.extend(removed.into_iter().chain(moved));
                changed
            }
        };
        drop(rows);
        self.notify(changed);
    }

    /// The rows of a node are not sent any longer.
    fn end(&self, node: NodeId) {
        let mut rows = self.write();
        let keys: Vec<_> = rows.rows.keys().filter(|(_, of)| *of == node).map(|(key, _)| *key).collect();
        keys.into_iter().for_each(|key| rows.leave(key, node));
    }

    pub(super) fn drop_left(&self) {
        if !self.read().any_left {
            return;
        }
        let (mut rows, mut dropped, mut any_left) = (self.write(), Vec::new(), false);
        rows.rows.retain(|(key, _), row| {
            let Some(left) = row.left else { return true };
            let is_kept = left.elapsed() < OWNER_TIMEOUT;
            any_left |= is_kept;
            if !is_kept {
                dropped.push(*key);
            }
            is_kept
        });
        rows.any_left = any_left;
        drop(rows);
        self.notify(dropped);
    }
}

impl SentRows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row of each room behind a key.
    pub(super) fn after(&self, after: Option<RowKey>) -> impl Iterator<Item = (RowKey, &Row)> {
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key, NodeId(i64::MAX))));
        self.shown((start, Bound::Unbounded))
    }

    pub(super) fn get(&self, key: RowKey) -> Option<&Row> {
        self.shown(of_room(key)).next().map(|(_, row)| row)
    }

    /// One row for each room: of the nodes that list it, that of the owner or else of any; if none does, the one that left.
    fn shown(&self, range: impl RangeBounds<(RowKey, NodeId)>) -> impl Iterator<Item = (RowKey, &Row)> {
        let mut rest = self.rows.range(range).peekable();
        std::iter::from_fn(move || {
            let (&(key, node), first) = rest.next()?;
            let mut shown = (node, first);
            while let Some((&(_, node), row)) = rest.next_if(|((next, _), _)| *next == key) {
                let owner = self.cluster.owner(key.1).map(|owned| owned.node);
                let rank = |(node, row): (NodeId, &PeerRow)| (row.left.is_none(), Some(node) == owner);
                if rank((node, row)) > rank(shown) {
                    shown = (node, row);
                }
            }
            Some((key, &shown.1.row))
        })
    }

    /// Returns its key if it has changed.
    fn insert(&mut self, node: NodeId, row: Row) -> Option<RowKey> {
        let key = row.key();
        if self.rows.len() >= PEER_ROWS && !self.rows.contains_key(&(key, node)) {
            return None;
        }
        let known = self.rows.remove(&(key, node));
        self.remove_left(key);
        let is_same = known.is_some_and(|known| known.row == row);
        self.rows.insert((key, node), PeerRow { row, left: None });
        (!is_same).then_some(key)
    }

    /// Takes all rows of a node behind `after`, up to `end` or to the end of the list.
    fn insert_page(&mut self, node: NodeId, after: Option<RowKey>, page: Vec<Row>, end: Option<RowKey>) -> Vec<RowKey> {
        let listed: BTreeSet<_> = page.iter().map(Row::key).collect();
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key, NodeId(i64::MAX))));
        let within = self.rows.range((start, Bound::Unbounded)).map(|(key, _)| *key);
        let within = within.take_while(|(key, _)| end.is_none_or(|end| *key <= end));
        let missing: Vec<_> = within.filter(|(key, of)| *of == node && !listed.contains(key)).collect();
        // It may have moved or been removed.
        missing.into_iter().for_each(|(key, _)| self.leave(key, node));
        page.into_iter().filter_map(|row| self.insert(node, row)).collect()
    }

    /// A row is not sent by its node any longer, though the room may go on.
    fn leave(&mut self, key: RowKey, node: NodeId) {
        if let Some(row) = self.rows.get_mut(&(key, node)) {
            row.left.get_or_insert_with(Instant::now);
            self.any_left = true;
        }
    }

    /// Removes the rows that have left their nodes of a room that is listed again, or has ended.
    fn remove_left(&mut self, key: RowKey) {
        let left = self.rows.range(of_room(key)).filter(|(_, row)| row.left.is_some());
        let left: Vec<_> = left.map(|(key, _)| *key).collect();
        for key in left {
            self.rows.remove(&key);
        }
    }
}

fn of_room(key: RowKey) -> impl RangeBounds<(RowKey, NodeId)> {
    (key, NodeId(i64::MIN))..=(key, NodeId(i64::MAX))
}

/// The rows of one other node, until this is dropped.
pub struct PeerList {
    rows: Arc<PeerRows>,
    node: NodeId,
}

impl PeerList {
    pub(crate) fn new(rows: &Arc<PeerRows>, node: NodeId) -> Self {
        Self { rows: Arc::clone(rows), node }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Takes what the node has sent.
    pub fn update(&self, update: LobbyUpdate) {
        self.rows.update(self.node, update);
    }
}

impl Drop for PeerList {
    fn drop(&mut self) {
        self.rows.end(self.node);
    }
}

/// Drops rows that have left their nodes and that no other node lists, until the server stops.
pub(crate) async fn drop_left_regularly(rows: Arc<PeerRows>, lifecycle: Lifecycle) {
    let mut ticks = ticks(LOOK);
    while lifecycle.next_tick(&mut ticks).await {
        rows.drop_left();
    }
}
