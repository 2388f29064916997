//! Why a request to the runtime is not done.

use std::time::Duration;

use thiserror::Error;

use crate::{room::Rejection, store::Unavailable};

/// A refusal by a room, or by the server before it came to the room.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RoomError {
    /// The room refuses.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The player named is unknown to the server.
    #[error("no such player")]
    PlayerNotFound,
    /// There is no AI of that kind and level.
    #[error("no such AI; GetServerInfo lists the kinds and their levels")]
    UnknownAi,
    /// The player is in as many rooms as it may, or the server has as many as it may.
    #[error("too many rooms: {0}")]
    QuotaRooms(&'static str),
    /// The player holds as many seats as it may.
    #[error("you hold as many seats as you may; leave one first")]
    QuotaSeats,
    /// The player has as many streams as it may.
    #[error("you have as many streams as you may; close one first")]
    QuotaStreams,
    /// The player, its address or the server has as many analyses under way as it may.
    #[error("you, or all at your address, or the server, have as many analyses under way as may be")]
    QuotaAnalyses,
    /// The player does this too often; it will be answered again after so long.
    #[error("too fast")]
    TooFast(Duration),
    /// The server stops.
    #[error("the server is stopping")]
    Draining,
    /// Nothing was done, because it could not be written down.
    #[error("storage is unavailable")]
    StoreUnavailable,
    /// The room has more to do than it can.
    #[error("the room is busy")]
    Busy,
}

impl From<Unavailable> for RoomError {
    fn from(unavailable: Unavailable) -> Self {
        tracing::error!(%unavailable, "a request was refused");
        Self::StoreUnavailable
    }
}
