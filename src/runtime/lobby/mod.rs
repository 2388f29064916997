//! The list of rooms, and the rooms that wait for an opponent.

pub(crate) mod listing;
pub(crate) mod online_players;
pub(crate) mod peer_rows;
pub(crate) mod rated_positions;
pub(crate) mod row;
#[cfg(test)]
mod tests;
pub(crate) mod waiting_rooms;
