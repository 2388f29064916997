//! The rooms of other nodes in the list of rooms.
//!
//! Each node sends the rows of its own rooms to each other one, and no others. A row that leaves a node while the room goes
//! on, because the room moves or the link to the node has ended, is kept until another node lists the room, but at most for
//! [`MOVE_PATIENCE`], so that the list does not lose rooms for a while. Two nodes may list a room for a moment; it is shown
//! once. So the order in which messages of two nodes arrive does not matter.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{Bound, RangeBounds},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use tokio::{sync::broadcast, time::Instant};

use super::listing::{Lobby, LobbyUpdate, Row, RowKey};
use crate::{
    runtime::{
        cluster::membership::Cluster,
        lifecycle::Lifecycle,
        limit::limits::{LOBBY_LAG, MOVE_PATIENCE, PEER_ROWS},
        player::expiry::ticks,
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
            LobbyUpdate::Page { after, rows: page, is_last } => rows.insert_page(node, after, page, is_last),
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

    fn drop_left(&self) {
        if !self.read().any_left {
            return;
        }
        let (mut rows, mut dropped, mut any_left) = (self.write(), Vec::new(), false);
        rows.rows.retain(|(key, _), row| {
            let Some(left) = row.left else { return true };
            let is_kept = left.elapsed() < MOVE_PATIENCE;
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
        let known = self.rows.remove(&(key, node));
        self.remove_left(key);
        if known.is_none() && self.rows.len() >= PEER_ROWS {
            return None;
        }
        let is_same = known.is_some_and(|known| known.row == row);
        self.rows.insert((key, node), PeerRow { row, left: None });
        (!is_same).then_some(key)
    }

    /// Takes all rows of a node behind `after`, up to the last one of the page or to the end.
    fn insert_page(&mut self, node: NodeId, after: Option<RowKey>, page: Vec<Row>, is_last: bool) -> Vec<RowKey> {
        let listed: BTreeSet<_> = page.iter().map(Row::key).collect();
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key, NodeId(i64::MAX))));
        let end = listed.last().filter(|_| !is_last);
        let within = self.rows.range((start, Bound::Unbounded)).map(|(key, _)| *key);
        let within = within.take_while(|(key, _)| end.is_none_or(|end| key <= end));
        let missing: Vec<_> = within.filter(|(key, of)| *of == node && !listed.contains(key)).collect();
        // It may have moved or been removed.
        missing.into_iter().for_each(|(key, _)| self.leave(key, node));
        page.into_iter().filter_map(|row| self.insert(node, row)).collect()
    }

    /// A row is not sent by its node any longer, though the room may go on.
    fn leave(&mut self, key: RowKey, node: NodeId) {
        let mut others = self.rows.range(of_room(key)).filter(|((_, of), _)| *of != node);
        if others.any(|(_, row)| row.left.is_none()) {
            self.rows.remove(&(key, node));
        } else if let Some(row) = self.rows.get_mut(&(key, node)) {
            row.left.get_or_insert_with(Instant::now);
            self.any_left = true;
        }
    }

    /// Removes what has left other nodes of a room that is listed, or has ended.
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
    lobby: Arc<Lobby>,
    node: NodeId,
}

impl PeerList {
    pub(crate) fn new(lobby: &Arc<Lobby>, node: NodeId) -> Self {
        Self { lobby: Arc::clone(lobby), node }
    }

    /// Takes what the node has sent.
    pub fn update(&self, update: LobbyUpdate) {
        if let Some(peers) = &self.lobby.peers {
            peers.update(self.node, update);
        }
    }
}

impl Drop for PeerList {
    fn drop(&mut self) {
        if let Some(peers) = &self.lobby.peers {
            peers.end(self.node);
        }
    }
}

/// Drops rows that have left their nodes and that no other node lists, until the server stops.
pub(crate) async fn drop_left_regularly(lobby: Arc<Lobby>, lifecycle: Lifecycle) {
    let mut ticks = ticks(LOOK);
    loop {
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Some(peers) = &lobby.peers {
            peers.drop_left();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::mpsc, time::advance};

    use super::*;
    use crate::{
        room::{RoomId, Seq},
        runtime::{
            cluster::peers::{Ask, FeedItem, LinkError, News, Peers, Reply},
            limit::limits::SNAPSHOT_ROWS,
            lobby::listing::{Listing, LobbyWatch, RowFilter, tests::room},
        },
        store::{BoxFuture, MemoryStore, Ownership, Shard, Store},
    };

    const ME: NodeId = NodeId(1);
    const ONE: NodeId = NodeId(2);
    const OTHER: NodeId = NodeId(3);

    /// Nobody is asked or told anything.
    struct NoPeers;

    impl Peers for NoPeers {
        fn ask(&self, _: NodeId, _: Ask) -> BoxFuture<'_, Result<Reply, LinkError>> {
            Box::pin(async { Err(LinkError::Down) })
        }

        fn follow(&self, _: NodeId, _: RoomId, _: Option<Seq>) -> mpsc::Receiver<FeedItem> {
            mpsc::channel(1).1
        }

        fn tell(&self, _: NodeId, _: News) {}

        fn linked(&self) -> Vec<NodeId> {
            Vec::new()
        }
    }

    struct World {
        cluster: Arc<Cluster>,
        lobby: Arc<Lobby>,
    }

    impl World {
        fn new() -> Self {
            let players = Store::of(MemoryStore::default()).players;
            let cluster = Arc::new(Cluster::new(ME, Arc::new(NoPeers), players));
            Self { lobby: Arc::new(Lobby::new(Some(Arc::clone(&cluster)))), cluster }
        }

        fn listed(&self) -> Vec<Row> {
            self.lobby.page(&RowFilter::default(), None, usize::MAX)
        }

        /// The numbers of watchers, by which the tests tell rows apart.
        fn watchers(&self) -> Vec<u32> {
            self.listed().iter().map(|row| row.watchers).collect()
        }

        fn list_of(&self, node: NodeId) -> PeerList {
            PeerList::new(&self.lobby, node)
        }

        fn drop_left(&self) {
            self.lobby.peers.as_ref().unwrap().drop_left();
        }
    }

    fn row(number: usize, watchers: u32) -> Row {
        let lobby = Arc::new(Lobby::new(None));
        let _listing = Listing::new(&lobby, &room(number));
        Row { watchers, ..lobby.page(&RowFilter::default(), None, 1).remove(0) }
    }

    fn last_page(after: Option<RowKey>, rows: Vec<Row>) -> LobbyUpdate {
        LobbyUpdate::Page { after, rows, is_last: true }
    }

    fn upserted(row: Row) -> LobbyUpdate {
        LobbyUpdate::Changed { upserted: vec![row], removed: Vec::new(), moved: Vec::new() }
    }

    fn removed(row: &Row) -> LobbyUpdate {
        LobbyUpdate::Changed { upserted: Vec::new(), removed: vec![row.key()], moved: Vec::new() }
    }

    fn moved(row: &Row) -> LobbyUpdate {
        LobbyUpdate::Changed { upserted: Vec::new(), removed: Vec::new(), moved: vec![row.key()] }
    }

    #[tokio::test(start_paused = true)]
    async fn pages_are_of_all_nodes_in_order() {
        let world = World::new();
        let _own = [1, 4].map(|number| Listing::new(&world.lobby, &room(number)));
        let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
        one.update(last_page(None, vec![row(0, 0), row(3, 0)]));
        other.update(last_page(None, vec![row(2, 0), row(5, 0)]));
        let all = world.listed();
        assert_eq!(all, [0, 1, 2, 3, 4, 5].map(|number| row(number, 0)));
        let filter = RowFilter::default();
        for size in 1..=6 {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = world.lobby.page(&filter, after, size);
                let Some(last) = page.last() else { break };
                after = Some(last.key());
                paged.extend(page);
            }
            assert_eq!(paged, all, "by {size}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_rows_of_a_room_the_own_one_is_shown_or_that_of_the_owner() {
        let world = World::new();
        let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
        one.update(upserted(row(0, 7)));
        other.update(upserted(row(0, 8)));
        let shard = Shard::of(row(0, 0).id);
        for (version, owner, shown) in [(1, ONE, 7), (2, OTHER, 8)] {
            world.cluster.learn([Ownership { shard, node: owner, version }]);
            assert_eq!(world.watchers(), [shown]);
        }
        let own = Listing::new(&world.lobby, &room(0));
        own.update_watchers(9);
        assert_eq!(world.watchers(), [9]);
        drop(own);
        assert_eq!(world.watchers(), [8]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_row_that_left_its_node_is_kept_until_another_one_lists_the_room() {
        let world = World::new();
        let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
        one.update(upserted(row(0, 7)));
        one.update(moved(&row(0, 0)));
        assert_eq!(world.watchers(), [7]);
        other.update(upserted(row(0, 8)));
        assert_eq!(world.watchers(), [8]);
        other.update(removed(&row(0, 0)));
        assert_eq!(world.watchers(), [], "the earlier row does not come back");
        // The other order.
        one.update(upserted(row(0, 7)));
        other.update(upserted(row(0, 8)));
        one.update(moved(&row(0, 0)));
        assert_eq!(world.watchers(), [8]);
        other.update(removed(&row(0, 0)));
        assert_eq!(world.watchers(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn rows_of_a_node_without_a_link_are_kept_for_a_while() {
        let world = World::new();
        let (one, gone) = (world.list_of(ONE), world.list_of(OTHER));
        one.update(last_page(None, vec![row(0, 0)]));
        gone.update(last_page(None, vec![row(1, 0), row(2, 0)]));
        drop(gone);
        advance(MOVE_PATIENCE / 2).await;
        world.drop_left();
        assert_eq!(world.listed().len(), 3);
        let again = world.list_of(OTHER);
        again.update(last_page(None, vec![row(1, 0)]));
        advance(MOVE_PATIENCE / 2).await;
        world.drop_left();
        assert_eq!(world.listed(), [row(0, 0), row(1, 0)]);
        drop(again);
        advance(MOVE_PATIENCE).await;
        world.drop_left();
        assert_eq!(world.listed(), [row(0, 0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_replaces_the_rows_of_its_node_between_its_ends() {
        let world = World::new();
        let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
        one.update(last_page(None, (0..6).map(|number| row(number, 0)).collect()));
        other.update(last_page(None, vec![row(9, 0)]));
        one.update(LobbyUpdate::Page { after: None, rows: vec![row(0, 0), row(2, 0)], is_last: false });
        advance(MOVE_PATIENCE).await;
        world.drop_left();
        assert_eq!(world.listed(), [0, 2, 3, 4, 5, 9].map(|number| row(number, 0)));
        one.update(last_page(Some(row(2, 0).key()), vec![row(4, 0)]));
        advance(MOVE_PATIENCE).await;
        world.drop_left();
        assert_eq!(world.listed(), [0, 2, 4, 9].map(|number| row(number, 0)));
    }

    async fn changed(watch: &mut LobbyWatch) -> (Vec<u32>, usize) {
        match watch.next().await {
            LobbyUpdate::Changed { upserted, removed, .. } => {
                (upserted.iter().map(|row| row.watchers).collect(), removed.len())
            }
            other => panic!("expected changes: {other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn watchers_of_the_list_see_the_rows_of_other_nodes_and_nodes_only_own_ones() {
        let world = World::new();
        let (mut all, mut own) = (world.lobby.watch(RowFilter::default()), world.lobby.watch_own(RowFilter::default()));
        for watch in [&mut all, &mut own] {
            assert_eq!(watch.next().await, last_page(None, Vec::new()));
        }
        let one = world.list_of(ONE);
        one.update(upserted(row(0, 7)));
        assert_eq!(changed(&mut all).await, (vec![7], 0));
        let listing = Listing::new(&world.lobby, &room(1));
        assert_eq!(changed(&mut all).await, (vec![0], 0));
        assert_eq!(own.next().await, upserted(row(1, 0)));
        one.update(removed(&row(0, 0)));
        assert_eq!(changed(&mut all).await, (Vec::new(), 1));
        drop(listing);
        assert_eq!(own.next().await, moved(&row(1, 0)));
        assert_eq!(changed(&mut all).await, (vec![0], 0), "it is still in the list");
        let mut closed = Listing::new(&world.lobby, &room(1));
        assert_eq!(own.next().await, upserted(row(1, 0)));
        assert_eq!(changed(&mut all).await, (vec![0], 0));
        closed.remove();
        assert_eq!(own.next().await, removed(&row(1, 0)));
        assert_eq!(changed(&mut all).await, (Vec::new(), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_is_sent_again_is_no_change() {
        let world = World::new();
        let rows: Vec<_> = (0..SNAPSHOT_ROWS).map(|number| row(number, 0)).collect();
        let one = world.list_of(ONE);
        one.update(last_page(None, rows.clone()));
        let mut changes = world.lobby.peers.as_ref().unwrap().changes();
        drop(one);
        world.list_of(ONE).update(last_page(None, rows));
        assert!(changes.try_recv().is_err());
    }
}
