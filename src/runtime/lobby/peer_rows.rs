//! The rooms of other nodes in the list of rooms.
//!
//! Each node sends the rows of its own rooms to every other node. A row whose node no longer lists it is kept if the
//! room may still exist, because the room moves or the link to the node has ended. It is kept until another node lists
//! the room, but at most for [`MOVE_TIMEOUT`], so that rooms do not disappear from the list for a moment. Two nodes
//! may list a room for a moment; it is shown once. So the order in which messages of two nodes arrive does not matter.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{Bound, RangeBounds},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use tokio::{sync::broadcast, time::Instant};

use super::row::{LOBBY_LAG, LobbyUpdate, Row, RowKey};
use crate::{
    runtime::{
        cluster::cluster::{Cluster, MOVE_TIMEOUT},
        lifecycle::{Lifecycle, ticks},
    },
    store::NodeId,
};

/// Maximum number of rows of other nodes, about half a KiB each: of 50 nodes with the default number of rooms.
const PEER_ROWS: usize = 1 << 20;

/// The interval at which the age of kept rows is checked.
const LOOK: Duration = Duration::from_secs(1);

/// The rows of other nodes.
pub(crate) struct PeerRows {
    rows: RwLock<SentRows>,
    changes: broadcast::Sender<RowKey>,
}

/// Rows by room, and by the node that has sent them.
pub(super) struct SentRows {
    cluster: Arc<Cluster>,
    rows: BTreeMap<(RowKey, NodeId), PeerRow>,
    /// True if there may be kept rows.
    any_left: bool,
}

struct PeerRow {
    row: Row,
    /// When its node stopped listing it. `None` while the node lists it.
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

    /// Keeps the row of a room that leaves this node but still exists.
    pub(super) fn keep(&self, row: Row) {
        let mut rows = self.write();
        let (key, me) = (row.key(), rows.cluster.me());
        rows.insert(me, row);
        rows.leave(key, me);
    }

    /// Removes the kept rows of a room that this node has removed from the list.
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

    /// Called when a node no longer sends its rows. They are kept for a while.
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
            let is_kept = left.elapsed() < MOVE_TIMEOUT;
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

    /// One row for each room after a key.
    pub(super) fn after(&self, after: Option<RowKey>) -> impl Iterator<Item = (RowKey, &Row)> {
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key, NodeId(i64::MAX))));
        self.shown((start, Bound::Unbounded))
    }

    pub(super) fn get(&self, key: RowKey) -> Option<&Row> {
        self.shown(of_room(key)).next().map(|(_, row)| row)
    }

    /// One row for each room. Of the nodes that list it, that of the serving node, or else any; if no node lists it,
    /// the kept row.
    fn shown(&self, range: impl RangeBounds<(RowKey, NodeId)>) -> impl Iterator<Item = (RowKey, &Row)> {
        let mut rest = self.rows.range(range).peekable();
        std::iter::from_fn(move || {
            let (&(key, node), first) = rest.next()?;
            let mut shown = (node, first);
            while let Some((&(_, node), row)) = rest.next_if(|((next, _), _)| *next == key) {
                let serving = self.cluster.node_of(key.1).map(|owned| owned.node);
                let rank = |(node, row): (NodeId, &PeerRow)| (row.left.is_none(), Some(node) == serving);
                if rank((node, row)) > rank(shown) {
                    shown = (node, row);
                }
            }
            Some((key, &shown.1.row))
        })
    }

    /// Adds or replaces a row. Returns its key if it has changed. At [`PEER_ROWS`] a new row is ignored.
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

    /// Replaces the rows of a node after `after`, up to `end` or to the end of the list. Returns the keys of changed
    /// rows.
    fn insert_page(&mut self, node: NodeId, after: Option<RowKey>, page: Vec<Row>, end: Option<RowKey>) -> Vec<RowKey> {
        let listed: BTreeSet<_> = page.iter().map(Row::key).collect();
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key, NodeId(i64::MAX))));
        let within = self.rows.range((start, Bound::Unbounded)).map(|(key, _)| *key);
        let within = within.take_while(|(key, _)| end.is_none_or(|end| *key <= end));
        let missing: Vec<_> = within.filter(|(key, of)| *of == node && !listed.contains(key)).collect();
        // The room may have moved or been closed.
        missing.into_iter().for_each(|(key, _)| self.leave(key, node));
        page.into_iter().filter_map(|row| self.insert(node, row)).collect()
    }

    /// Marks a row as no longer listed by its node. The room may still exist.
    fn leave(&mut self, key: RowKey, node: NodeId) {
        if let Some(row) = self.rows.get_mut(&(key, node)) {
            row.left.get_or_insert_with(Instant::now);
            self.any_left = true;
        }
    }

    /// Removes the kept rows of a room that is listed again, or that has closed.
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

/// Receives the rows of another node. When it is dropped, they are kept for a while.
pub struct PeerList {
    rows: Arc<PeerRows>,
    node: NodeId,
}

impl PeerList {
    pub(crate) fn new(rows: &Arc<PeerRows>, node: NodeId) -> Self {
        Self { rows: Arc::clone(rows), node }
    }

    /// The node that sends the rows.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Applies an update from the node.
    pub fn update(&self, update: LobbyUpdate) {
        self.rows.update(self.node, update);
    }
}

impl Drop for PeerList {
    fn drop(&mut self) {
        self.rows.end(self.node);
    }
}

/// Drops rows that were kept for [`MOVE_TIMEOUT`], once a second until the server stops.
pub(crate) async fn drop_left_regularly(rows: Arc<PeerRows>, lifecycle: Lifecycle) {
    let mut ticks = ticks(LOOK);
    while lifecycle.next_tick(&mut ticks).await {
        rows.drop_left();
    }
}
