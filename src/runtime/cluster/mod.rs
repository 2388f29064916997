//! The other nodes: which of them has which rooms, and the links to them.
//!
//! ```text
//!   RoomHost ──▶ Cluster ──▶ ShardOwners: shard ──▶ node
//!                   └──────▶ Peers: ask │ follow │ tell ──▶ Node of another process
//! ```
//!
//! A room has one owner: the node of its shard. Wherever a command arrives, it is executed by the owner. A node with
//! watchers of a room of another node follows it once, and serves them from a mirror. The streams of players are on the
//! node that they are connected to, which tells all others of them; owners send notices there. A server without
//! `--node-listen` is a cluster of one.

#[expect(clippy::module_inception, reason = "the cluster as one node sees it, in the folder of what belongs to it")]
pub(crate) mod cluster;
pub(crate) mod peers;
pub(crate) mod shard_owners;
