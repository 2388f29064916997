//! Open rooms: the actor of each, the delivery of messages to it, and the operations for players.
//!
//! ```text
//!   Rooms ──▶ RoomHost ──▶ Registry ──▶ RoomHandle ──▶ Mailbox ──▶ RoomActor ──▶ Journal
//!                                          └── inline: ActorCell ──┘   │
//!                       players' inboxes ◀── Notifier ◀────────────────┼──▶ watchers (encoded once, shared)
//!                                                                      └──▶ Listing, AI turn
//! ```
//!
//! Code above [`RoomHost`](host::RoomHost) need not know which node has a room: the host asks that node if it is
//! another one.

pub(crate) mod actor;
mod actor_cell;
mod ai_turn;
mod counted_places;
pub(crate) mod creation;
mod delayed;
pub(crate) mod encoded_event;
mod game_rate;
pub(crate) mod host;
mod mailbox;
pub(crate) mod message;
mod mirror;
mod notifier;
mod password_check;
pub(crate) mod password_hashing;
mod places;
pub(crate) mod presence;
pub(crate) mod recovery;
pub(crate) mod registry;
pub(crate) mod rooms;
mod watchers;
