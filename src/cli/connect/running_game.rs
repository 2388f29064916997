//! Tells a running game from one that does not exist: the server has records of finished games only.

use anyhow::bail;

use crate::client::{GameId, Reader, RoomId};

/// Fails with how to watch the game if it still runs in a room that this player may see.
pub(in crate::cli) async fn refuse_running(reader: &Reader, game: &GameId) -> anyhow::Result<()> {
    let name = game.to_string();
    if let Some(room) = name.rsplit_once('-').and_then(|(room, _)| room.parse::<RoomId>().ok())
        && let Ok(state) = reader.room(&room).await
        && state.game.is_some_and(|current| current.id == *game && current.outcome.is_none())
    {
        bail!("game {game} is still running: reversi watch {room}")
    }
    Ok(())
}
