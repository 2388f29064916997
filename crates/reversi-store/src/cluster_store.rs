//! The nodes that share a store, as one of them sees them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use reversi_room::Timestamp;
use tokio::{sync::watch, time::Instant};

use super::{
    journal::StoreFuture,
    shard::{Assignment, NodeId, Shard},
};

/// A store that several nodes share.
pub trait ClusterStore: Send + Sync + 'static {
    /// The present view, and each change. It ends when this node has left.
    fn views(&self) -> watch::Receiver<Arc<ClusterView>>;

    /// The lease of this node, and each renewal.
    fn lease(&self) -> watch::Receiver<Lease>;

    /// Sets the other nodes that this node reaches over its links.
    fn note_reached(&self, nodes: BTreeSet<NodeId>);

    /// Records that the clocks of all rooms of these shards are credited. Shards with a newer node are left out.
    fn note_credited(&self, shards: Vec<Assignment>) -> StoreFuture<'_, ()>;

    /// Gives shards without a newer node to other nodes, after all writes queued before. Their rooms must have no actors
    /// on this node, since this time by its clock. Fails if one of the other nodes is gone.
    fn hand_over(&self, shards: Vec<(Assignment, NodeId)>, since: Timestamp) -> StoreFuture<'_, ()>;

    /// Looks at the store for a new view soon: shards have moved.
    fn look_again(&self);
}

/// The lease of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// When it ends, unless it is renewed before. Until then no other node declares this one dead,
    /// unless its connection has ended.
    pub end: Instant,
    /// The node's clock minus that of the store in microseconds, as measured with the renewals.
    pub ahead: i64,
    /// True if there was another server that takes the rooms when the lease has ended.
    pub is_replaceable: bool,
}

/// Why a node should have no rooms and serve no clients, though it renews its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not linked with enough others.
    CutOff,
    /// Its clock differs too much from those of the others.
    WrongClock,
    /// It cannot read or write rooms.
    NoAccess,
    /// A server that does not share them has all rooms.
    Unshared,
}

/// A cluster as one of its nodes sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// The id of this node. The node gets a new one after it was declared dead.
    pub me: NodeId,
    /// The other live nodes, and the addresses of their links.
    pub others: Vec<(NodeId, String)>,
    /// The nodes of shards, which may have ended since.
    pub assignments: Vec<Assignment>,
    /// The shards of this node whose clocks may have to be credited, and when they last had a node, by the clock of
    /// that node: the times in their rooms are by the same clock, so that a credit until now is right for any clock of
    /// this one.
    pub away_since: BTreeMap<Shard, Timestamp>,
    /// Why this node should have no rooms and serve no clients, if it should not.
    pub obstacle: Option<Obstacle>,
    /// True if this node has given up its shards, as far as other nodes take them.
    pub is_drained: bool,
    /// The shards that this node has beyond its share, and the nodes that are to have them.
    pub surplus: BTreeMap<Shard, NodeId>,
}

/// What a node tells the other nodes about itself.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Where it serves players; none for a command.
    pub listens: Option<String>,
    /// Where it serves other nodes; none if it does not share the shards.
    pub address: Option<String>,
    /// Reads the clock by which its rooms run; none for a command.
    pub clock: Option<fn() -> Timestamp>,
}
