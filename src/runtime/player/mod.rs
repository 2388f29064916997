//! Logged-in players: identity, quota, inbox.
//!
//! ```text
//!   rooms ──notices──▶ Inbox ──▶ stream of turns
//!   requests ──reserve──▶ Quota ◀──note── rooms
//! ```

mod attached;
pub(crate) mod bans;
pub(crate) mod directory;
pub(crate) mod expiry;
mod guests;
mod idempotent_requests;
pub(crate) mod inbox;
mod likeness;
pub(crate) mod notice;
mod other_nodes;
mod pairings;
#[expect(clippy::module_inception, reason = "the file of one player in the folder of players")]
pub(crate) mod player;
pub(crate) mod quota;
pub(crate) mod token;
mod visitors;
