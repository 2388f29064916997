//! Logged-in players: identity, quota, inbox.
//!
//! ```text
//!   rooms ──notices──▶ Inbox ──▶ stream of turns
//!   requests ──reserve──▶ Quota ◀──note── rooms
//! ```

mod attached;
pub(crate) mod bans;
mod confusable_names;
pub(crate) mod directory;
pub(crate) mod expiry;
mod guests;
pub(crate) mod inbox;
pub(crate) mod notice;
mod open_streams;
mod other_nodes;
#[expect(clippy::module_inception, reason = "the file of one player in the folder of players")]
pub(crate) mod player;
pub(crate) mod problems;
pub(crate) mod quota;
mod rating_weight;
mod request_rates;
pub(crate) mod token;
mod visitors;
