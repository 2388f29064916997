//! An invitation that reaches a player in a room.

use crate::{
    cli::connect::leave,
    client::{ClientError, InvitationEndReason, Invited, Room, RoomId, Session},
};

/// What an invited player reads.
pub(super) fn line(invited: &Invited, is_playing: bool) -> String {
    let by = invited.by.as_ref().map_or("a player", |by| by.name.as_str());
    let rated = if invited.settings.as_ref().is_some_and(|settings| settings.rated) { "a rated" } else { "an unrated" };
    let after = if is_playing { ", after this game" } else { "" };
    format!("{by} invites you to {rated} game{after}: y accepts and leaves this room, x declines")
}

/// Why an invitation has ended without an answer of the player.
pub(super) fn ended(reason: InvitationEndReason) -> Option<&'static str> {
    match reason {
        InvitationEndReason::Expired => Some("the invitation has expired"),
        InvitationEndReason::Withdrawn => {
            Some("the invitation has ended: its terms have changed, the seat was given away, or the room has closed")
        }
        _ => None,
    }
}

/// Leaves a room without a running game, and takes the seat of an invitation. In this order, as a player may be limited to
/// one seat.
pub(super) async fn enter(session: &Session, left: &RoomId, invited: &RoomId) -> Result<Room, ClientError> {
    leave::unless_playing(session, left).await?;
    let room = session.join(invited, "").await?;
    session.set_ready(&room.id, true).await?;
    session.room(&room.id).await
}
