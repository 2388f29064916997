//! The links between the nodes of a cluster: [`Peers`](crate::runtime::Peers) over gRPC, on a port of their own.
//!
//! ```text
//!   asks, news, feeds of this node                                 Node of the other process
//!      │                                                                    ▲
//!      ▼                         Exchange: asks, news │ replies             │
//!   NodeLinks ──▶ Link ══════════════════════════════════════════▶ incoming ┤
//!                                Follow: feeds                  feed_sender ┤
//!   PeerList ◀────────────────── List: rows of the other node    Node::list ┘
//! ```
//!
//! Each node dials every other node, so a pair has two links. `Node::linked` is called at the node that dials, when its
//! link is up; `Node::linked_by` and `Node::unlinked` at the dialled node, when the link begins and when it has ended. The
//! link to a node that does not answer goes through a third one, which passes its streams on.

mod dialer;
mod exchange;
mod feed_receiver;
mod feed_sender;
mod hello;
mod incoming;
mod link;
mod list;
mod message;
mod node_links;
mod node_tls;
mod relay;

pub use node_links::NodeLinks;
pub use node_tls::NodeTls;
