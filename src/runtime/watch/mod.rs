//! The streams of players: their turns, a room, the room list. Each is counted, and ends with a reason.

pub(crate) mod feed;
pub(crate) mod open_stream;
pub(crate) mod room_watch;
pub(crate) mod streams;
pub(crate) mod turns;
