//! Streams that follow a room, the room list or a player's turns.

pub(crate) mod subscription;
