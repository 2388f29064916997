//! The other nodes: which of them has which rooms, and the links to them.
//!
//! ```text
//!   RoomHost ──▶ Cluster ──▶ Directory: shard ──▶ node
//!                   └──────▶ Peers: ask │ follow │ tell ──▶ Node of another process
//! ```
//!
//! A room has one owner: the node of its shard. Wherever a command arrives, it is executed by the owner. A node with
//! watchers of a room of another node follows it once, and serves them from a mirror. The streams of players are on the
//! node that they are connected to, which tells all others of them; owners send notices there. In one process there is no
//! `Cluster`, and nothing here is called.

pub(crate) mod directory;
pub(crate) mod membership;
pub(crate) mod peers;
