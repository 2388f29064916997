//! Finished games and the statistics over them.

use std::sync::Arc;

use super::{outcome::RoomError, player::player::Player, room::rooms::Rooms};
use crate::{
    room::{Credentials, GameId, GameRecord, Rejection},
    store::{Archive, Contestant, GameFilter, GameKey, GamePage, PlayerStats},
};

/// The archive of finished games, as players may see it.
#[derive(Clone)]
pub struct Games {
    pub(super) archive: Arc<dyn Archive>,
    pub(super) rooms: Rooms,
}

impl Games {
    /// At most `limit` finished games that match, after `after`.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn page(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> Result<GamePage, RoomError> {
        Ok(self.archive.games(filter, after, limit).await?)
    }

    /// One finished game. A private one is visible to its players and, while its room is open, to all who may see that.
    ///
    /// # Errors
    /// When the store is unavailable, or the player may not see such a game.
    pub async fn get(&self, player: &Player, id: GameId) -> Result<Arc<GameRecord>, RoomError> {
        let game = self.archive.game(id).await?.ok_or(Rejection::GameNotFound)?;
        let played = game.players.iter().any(|(_, participant)| participant.is(player.id()));
        if game.private && !played && self.rooms.snapshot(player, id.room, &Credentials::default()).await.is_err() {
            return Err(Rejection::GameNotFound.into());
        }
        Ok(game)
    }

    /// The results and rating of a contestant over all games.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn player_stats(&self, contestant: Contestant) -> Result<PlayerStats, RoomError> {
        Ok(self.archive.player_stats(contestant).await?)
    }
}
