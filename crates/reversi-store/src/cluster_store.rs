//! Which nodes share a store, as one of them sees it.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc, time::Duration};

use thiserror::Error;
use tokio::{sync::watch, time::Instant};

use super::{
    journal::StoreFuture,
    shard::{NodeId, Ownership, Shard},
};

/// A store that several nodes share.
pub trait ClusterStore: Send + Sync + 'static {
    /// The present view, and each change. It ends when this node has left.
    fn views(&self) -> watch::Receiver<Arc<ClusterView>>;

    /// Notes that no clock of the rooms of these shards waits for a credit, as far as they have no newer owner.
    fn note_credited(&self, shards: Vec<Ownership>) -> StoreFuture<'_, ()>;

    /// Frees shards for other nodes, after all writes queued before, as far as they have no newer owner. Their rooms must have
    /// ended here.
    fn free(&self, shards: Vec<Ownership>) -> StoreFuture<'_, ()>;
}

/// A cluster as one of its nodes sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// This node. It changes when the node was declared dead.
    pub me: NodeId,
    /// The other nodes that live, and the addresses of their links.
    pub others: Vec<(NodeId, String)>,
    /// The owners of shards, which may have ended since.
    pub owners: Vec<Ownership>,
    /// For shards of this node whose clocks may have to be credited: for how long.
    pub away: BTreeMap<Shard, Away>,
    /// Whether this node gives its shards to others, as far as any of them takes some.
    pub is_draining: bool,
    /// How many shards this node has beyond its share.
    pub surplus: usize,
}

/// The time for which a shard has had no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// How long it had been at that moment.
    pub time: Duration,
    /// When that was read.
    pub read: Instant,
}

/// What a node tells the others of itself.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Where it serves players; none for a command.
    pub listens: Option<String>,
    /// Where it serves other nodes, if it shares the shards with them.
    pub address: Option<String>,
    /// What it does there.
    pub role: Role,
}

/// What a server does among those that share the rooms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It has rooms, and serves players.
    #[default]
    Rooms,
    /// It serves players, and has no rooms.
    Front,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Rooms => "rooms",
            Self::Front => "front",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

/// No role has that name.
#[derive(Debug, Error)]
#[error("the roles are rooms and front")]
pub struct ParseRoleError;

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        [Self::Rooms, Self::Front].into_iter().find(|role| role.name() == text).ok_or(ParseRoleError)
    }
}
