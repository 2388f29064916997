//! A room that a player names by its id or join code.

use crate::{
    client::{ClientError, Room, RoomId, Session},
    room,
};

/// Whether `--room` with this text names the room.
pub(in crate::cli) fn is_named(room: &Room, text: &str) -> bool {
    let is_id = text.parse::<room::RoomId>().is_ok_and(|id| id.to_string() == room.id.to_string());
    is_id || text.parse::<room::JoinCode>().is_ok_and(|code| Some(code.to_string()) == room.join_code)
}

/// Joins by id, or by join code if no room with that id can be joined.
pub(in crate::cli) async fn join_by_text(session: &Session, text: &str, password: &str) -> Result<Room, ClientError> {
    let by_id = match text.parse::<RoomId>() {
        Ok(id) => session.join(&id, password).await,
        Err(_) => return session.join_by_code(text, password).await,
    };
    match by_id {
        Err(error) if error.is_unknown_or_malformed() => session
            .join_by_code(text, password)
            .await
            .map_err(|other| if other.is_unknown_or_malformed() { error } else { other }),
        done => done,
    }
}
