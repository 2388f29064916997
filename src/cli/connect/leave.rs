//! Leaving a room without the loss of a game that begins at the same time.

use crate::client::{ClientError, RoomId, Session};

/// Leaves a room, unless a game has begun there: then it is refused with `ROOM_IN_GAME`. Without the player's readiness
/// no game begins.
pub(in crate::cli) async fn unless_playing(session: &Session, room: &RoomId) -> Result<u64, ClientError> {
    match session.set_ready(room, false).await {
        Err(error) if error.is("ROOM_IN_GAME") || error.refusal().is_none() || error.is_transient() => Err(error),
        // Other refusals mean that the player has no seat.
        Ok(_) | Err(_) => session.leave(room).await,
    }
}
