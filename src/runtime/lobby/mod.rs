//! The list of rooms, and who waits for an opponent.

pub(crate) mod listing;
pub(crate) mod matchmaker;
