//! The links between the nodes of a cluster: [`Peers`](crate::runtime::Peers) over gRPC, on a port of their own.
//!
//! ```text
//!   asks, news, feeds of this node                                 Node of the other process
//!      │                                                                    ▲
//!      ▼                         Exchange: asks, news │ replies             │
//!   NodeLinks ──▶ Link of dialer ════════════════════════════════▶ incoming ┤
//!                                Follow: feeds, apart           feed_sender ┤
//!   PeerList ◀────────────────── List: rows of the other node       Node::list ┘
//! ```
//!
//! Each node dials each other one, so a pair has two links. `Node::linked` is called at the node that dials, when its link
//! is up; `Node::linked_by` and `Node::unlinked` at the node that was dialled, when the link begins and when it has ended.

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

pub use node_links::NodeLinks;
pub use node_tls::NodeTls;
