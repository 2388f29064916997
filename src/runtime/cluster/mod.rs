//! The other nodes: which of them has which rooms, and the links to them.
//!
//! ```text
//!   RoomHost ──▶ Cluster ──▶ ShardNodes: shard ──▶ node
//!                   └──────▶ Peers: ask │ follow │ tell ──▶ Node of another process
//! ```
//!
//! A room has one serving node: that of its shard. It executes all commands, on whichever node they arrive. A node
//! with watchers of another node's room follows that room once and serves the watchers from a copy, the mirror. The
//! streams of a player are on the nodes to which it is connected. These tell all other nodes, and serving nodes send
//! them the player's notices. A server without `--node-listen` is a cluster of one.

#[expect(clippy::module_inception, reason = "the cluster as one node sees it, in the folder of what belongs to it")]
pub(crate) mod cluster;
pub(crate) mod peers;
pub(crate) mod reach;
pub(crate) mod shard_nodes;
