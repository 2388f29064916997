//! This node among the others. A server by itself is a cluster of one: it serves each shard, and has no peers.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, Notify, futures::OwnedNotified, mpsc},
    time::{Instant, timeout, timeout_at},
};

use super::{
    peers::{Ask, FeedItem, LinkError, News, NoPeers, Peers, Reply},
    reach::Reach,
    shard_nodes::ShardNodes,
};
use crate::{
    room::{RoomId, Seq, Timestamp},
    runtime::{outcome::RoomError, room::message::Audience, server_metrics},
    store::{Assignment, NodeId, Shard},
};

/// Maximum number of rows of the room list that a watcher is shown in a cluster, which may have a million: the newest.
pub(crate) const WATCHED_ROWS: usize = 1_000;

/// Maximum wait for the answer of another node. Longer than that node waits for a full mailbox.
pub(crate) const ASK_DEADLINE: Duration = Duration::from_secs(5);

/// Pause before a node that did nothing is asked again. A new node of the room is asked at once.
pub(crate) const ASK_RETRY: Duration = Duration::from_millis(250);

/// Maximum wait for a room that no node serves, as it moves. Longer than it takes to notice the end of a node.
pub(crate) const MOVE_TIMEOUT: Duration = Duration::from_secs(10);

/// This node's view of the cluster: the node of each shard, and the links to other nodes.
pub(crate) struct Cluster {
    me: AtomicI64,
    /// The clock of this node minus that of the store, in microseconds.
    ahead: AtomicI64,
    peers: Arc<dyn Peers>,
    shares_store: bool,
    nodes: RwLock<ShardNodes>,
    /// The other live nodes.
    living: RwLock<BTreeSet<NodeId>>,
    /// Notified of each change of assignments. Requests wait for it.
    changes: Arc<Notify>,
    /// Notified when another node has given shards to this one, which the store shows.
    pub(crate) given: Notify,
    /// Notified of each new link from another node.
    pub(crate) linked_by: Notify,
    /// The shards of this node whose rooms are restored.
    served: RwLock<BTreeSet<Shard>>,
    /// How long the other nodes could not be reached.
    pub(crate) reach: Reach,
    /// Held while rooms are restored.
    pub(crate) restoring: Mutex<()>,
}

impl Cluster {
    /// One of several nodes, at first without shards.
    pub(crate) fn new(me: NodeId, peers: Arc<dyn Peers>) -> Self {
        let (nodes, living, served, reach) = Default::default();
        let (changes, restoring) = (Arc::default(), Mutex::default());
        let (me, ahead, given, linked_by) = (AtomicI64::new(me.0), AtomicI64::new(0), Notify::new(), Notify::new());
        Self {
            me,
            ahead,
            peers,
            shares_store: true,
            nodes,
            living,
            changes,
            given,
            linked_by,
            served,
            reach,
            restoring,
        }
    }

    /// Whether other nodes use the store, too. Then only the store has all players, places and waiting rooms; otherwise
    /// this process has them all in memory.
    pub(crate) fn shares_store(&self) -> bool {
        self.shares_store
    }

    /// Maximum number of rows of the list of rooms that a watcher is shown: the newest that match.
    pub(crate) fn most_watched_rows(&self) -> usize {
        if self.shares_store { WATCHED_ROWS } else { usize::MAX }
    }

    /// The error of a request for a room that another server has taken over. A server by itself loses rooms only when
    /// it is about to stop.
    pub(crate) fn moved(&self) -> RoomError {
        if self.shares_store { RoomError::Moved } else { RoomError::Draining }
    }

    pub(crate) fn me(&self) -> NodeId {
        NodeId(self.me.load(SeqCst))
    }

    /// Records how far this node's clock is ahead of the store's, in microseconds.
    pub(crate) fn note_ahead(&self, ahead: i64) {
        self.ahead.store(ahead, SeqCst);
    }

    /// A time by this node's clock as a time by the store's, which all nodes can compare.
    pub(crate) fn store_time(&self, time: Timestamp) -> Timestamp {
        time.shifted(self.ahead.load(SeqCst).saturating_neg())
    }

    /// Continues as a new node without rooms, after this node was declared dead.
    pub(crate) fn rejoin_as(&self, me: NodeId) {
        self.me.store(me.0, SeqCst);
        self.served_mut().clear();
        self.changes.notify_waiters();
    }

    /// Records the other live nodes. Returns those that no longer live.
    pub(crate) fn learn_nodes(&self, living: BTreeSet<NodeId>) -> Vec<NodeId> {
        let mut known = self.living.write().unwrap_or_else(PoisonError::into_inner);
        let gone = known.difference(&living).copied().collect();
        *known = living;
        gone
    }

    /// True if another node was live when the store was last read.
    pub(crate) fn is_living(&self, node: NodeId) -> bool {
        self.living.read().unwrap_or_else(PoisonError::into_inner).contains(&node)
    }

    pub(crate) fn node_of(&self, room: RoomId) -> Option<Assignment> {
        self.nodes().get(Shard::of(room))
    }

    /// True if this node owns a shard and has restored its rooms.
    pub(crate) fn serves_shard(&self, shard: Shard) -> bool {
        self.served.read().unwrap_or_else(PoisonError::into_inner).contains(&shard)
    }

    /// True if this node owns a room and has restored it.
    pub(crate) fn serves(&self, room: RoomId) -> bool {
        self.serves_shard(Shard::of(room))
    }

    /// True if this node owns a shard at this version. Its rooms may not be restored yet.
    pub(crate) fn owns(&self, owned: Assignment) -> bool {
        self.nodes().get(owned.shard) == Some(owned) && owned.node == self.me()
    }

    /// Marks shards as served here, because their rooms are restored, and tells the other nodes. Ignores those that the
    /// node has lost since.
    pub(crate) fn serve(&self, shards: impl IntoIterator<Item = Assignment>) {
        let nodes = self.nodes();
        let is_current = |owned: &Assignment| nodes.get(owned.shard) == Some(*owned) && owned.node == self.me();
        let served: Vec<_> = shards.into_iter().filter(is_current).collect();
        self.served_mut().extend(served.iter().map(|owned| owned.shard));
        drop(nodes);
        self.changes.notify_waiters();
        if !served.is_empty() {
            self.tell_all(&News::ShardsServed(served));
        }
    }

    /// Records shards that another node serves now. Requests that wait for them are sent at once.
    pub(crate) fn note_served(&self, shards: Vec<Assignment>) {
        self.learn_from_peer(shards);
        self.changes.notify_waiters();
    }

    /// Marks shards as not served here.
    pub(crate) fn end_serving(&self, shards: &BTreeSet<Shard>) {
        self.served_mut().retain(|shard| !shards.contains(shard));
    }

    /// Records assignments. Returns the shards that this node has lost by it.
    pub(crate) fn learn(&self, assignments: impl IntoIterator<Item = Assignment>) -> Vec<Shard> {
        let (me, mut lost, mut any) = (self.me(), Vec::new(), false);
        let mut nodes = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        for new in assignments {
            let was_mine = nodes.get(new.shard).is_some_and(|known| known.node == me);
            if nodes.learn(new) {
                any = true;
                // Another node had it meanwhile, even if this node has it again.
                if was_mine {
                    lost.push(new.shard);
                }
            }
        }
        let mut served = self.served_mut();
        for shard in &lost {
            served.remove(shard);
        }
        drop((nodes, served));
        if any {
            self.changes.notify_waiters();
        }
        lost
    }

    /// Completes at the next change of assignments. A `watch` channel would wake its receivers in a random order.
    pub(crate) fn next_change(&self) -> ShardChange {
        Box::pin(Arc::clone(&self.changes).notified_owned())
    }

    /// An id for a new room: in a shard of this node, or in any shard if it serves none. `None` if no node is known.
    pub(crate) fn new_room(&self, random: u64) -> Option<RoomId> {
        let room = RoomId::from_random(random);
        if self.serves(room) {
            return Some(room);
        }
        let nodes = self.nodes();
        let here = nodes.any_shard(random, |owned| self.serves_shard(owned.shard));
        here.or_else(|| nodes.any_shard(random, |_| true)).map(|shard| shard.room(random))
    }

    /// Asks the serving node of a room once. `None` if the request may be sent again: it was not executed, or sending
    /// it twice has no further effect. Fails with [`RoomError::Busy`] if too many requests wait for that node, and with
    /// [`RoomError::Unreachable`] if it is unknown whether the request was executed.
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Option<Reply>, RoomError> {
        // This node may own the room without having restored it yet.
        let Some(assigned) = self.node_of(ask.room).filter(|assigned| assigned.node != self.me()) else {
            return Ok(None);
        };
        let answer = timeout(ASK_DEADLINE, self.peers.ask(assigned.node, ask.clone())).await;
        server_metrics::asked(match answer {
            Ok(Ok(_)) => "answered",
            Ok(Err(LinkError::Down)) => "down",
            Ok(Err(LinkError::Full)) => "full",
            Ok(Err(LinkError::Lost)) => "lost",
            Err(_) => "late",
        });
        match answer {
            Ok(Ok(Reply::Moved(known))) => {
                self.learn_from_peer(known);
                Ok(None)
            }
            Ok(Ok(answer)) => Ok(Some(answer)),
            Ok(Err(LinkError::Full)) => Err(RoomError::Busy),
            Ok(Err(LinkError::Down)) => Ok(None),
            Ok(Err(LinkError::Lost)) | Err(_) if ask.is_repeatable() => Ok(None),
            Ok(Err(LinkError::Lost)) | Err(_) => Err(RoomError::Unreachable),
        }
    }

    /// Records nodes that another one has named, except of shards that seem to be of this node: only the store tells it
    /// which shards it has lost.
    pub(crate) fn learn_from_peer(&self, known: impl IntoIterator<Item = Assignment>) {
        let me = self.me();
        let was_mine = |new: &Assignment| self.nodes().get(new.shard).is_some_and(|owned| owned.node == me);
        let new: Vec<_> = known.into_iter().filter(|new| new.node != me && !was_mine(new)).collect();
        self.learn(new);
    }

    fn nodes(&self) -> RwLockReadGuard<'_, ShardNodes> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn served_mut(&self) -> RwLockWriteGuard<'_, BTreeSet<Shard>> {
        self.served.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a room from the event after `after` on, or from its current state. Returns its node, too. `None` if the
    /// node is unknown or is this one.
    pub(crate) fn follow(
        &self,
        room: RoomId,
        audience: Audience,
        after: Option<Seq>,
    ) -> Option<(NodeId, mpsc::Receiver<FeedItem>)> {
        let node = self.node_of(room)?.node;
        (node != self.me()).then(|| (node, self.peers.follow(node, room, audience, after)))
    }

    pub(crate) fn is_linked(&self, node: NodeId) -> bool {
        self.peers.linked().contains(&node)
    }

    pub(crate) fn tell(&self, node: NodeId, news: News) {
        self.peers.tell(node, news);
    }

    /// Sends each node a heartbeat, and forgets nodes that have ended.
    pub(crate) fn send_heartbeats(&self, now: i64) {
        for node in self.peers.linked() {
            self.peers.tell(node, News::Heartbeat { sent: now, received: self.reach.received(node) });
        }
        self.reach.forget(|node| self.is_living(node), now);
    }

    pub(crate) fn tell_all(&self, news: &News) {
        for node in self.peers.linked() {
            self.peers.tell(node, news.clone());
        }
    }
}

/// A cluster of one, at first without shards.
impl Default for Cluster {
    fn default() -> Self {
        Self { shares_store: false, ..Self::new(NodeId::default(), Arc::new(NoPeers)) }
    }
}

/// Completes at the first change of assignments after this was created.
pub(crate) type ShardChange = Pin<Box<OwnedNotified>>;

/// The wait of one request for the serving node of a room that moves.
pub(crate) struct MoveWait<'a> {
    cluster: &'a Cluster,
    change: ShardChange,
    until: Instant,
}

impl<'a> MoveWait<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, change: cluster.next_change(), until: Instant::now() + MOVE_TIMEOUT }
    }

    /// Waits for a change of assignments, at most for [`ASK_RETRY`].
    ///
    /// # Errors
    /// [`RoomError::Unreachable`] after [`MOVE_TIMEOUT`].
    pub(crate) async fn wait(&mut self) -> Result<(), RoomError> {
        let retry = Instant::now() + ASK_RETRY;
        if retry >= self.until {
            return Err(RoomError::Unreachable);
        }
        let _ = timeout_at(retry, self.change.as_mut()).await;
        // Created before the caller looks up the node again, so that no change is missed.
        self.change = self.cluster.next_change();
        Ok(())
    }
}
