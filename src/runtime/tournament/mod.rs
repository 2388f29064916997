//! Tournaments and pools: an actor for each one that has not ended, which pairs, opens the rooms of the meetings, and adds up.
//!
//! ```text
//!   Tournaments ──▶ TournamentRegistry ──▶ one actor for each ──▶ TournamentJournal
//!                          ▲                    │  creates and closes
//!                          │                    ▼
//!                  a room has ended ◀──────── rooms
//! ```
//!
//! The pairs are stored before any of their rooms exists. A room of a meeting begins its series when it is created, and
//! is created when both sides have been there. The result is read from the archive of games, so it needs no room that
//! is still open. What players see of it is computed once for each state: [`shown`].

pub(crate) mod actor;
mod journal;
mod meeting_room;
mod notices;
pub(crate) mod pool;
pub(crate) mod registry;
pub(crate) mod shown;
pub(crate) mod tournaments;
pub(crate) mod watched;
