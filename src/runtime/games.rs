//! Finished games and the statistics over them.

use std::sync::Arc;

use super::{
    outcome::RoomError,
    player::{directory::Players, player::Player},
    room::rooms::Rooms,
};
use crate::{
    room::{Credentials, DisplayName, GameId, GameRecord, PlayerId, Profile, Rejection},
    store::{Archive, Contestant, GameFilter, GameKey, GamePage, PlayerStats, PlayerStore},
};

/// The archive of finished games, as players may see it.
#[derive(Clone)]
pub struct Games {
    pub(super) archive: Arc<dyn Archive>,
    pub(super) players: Arc<Players>,
    pub(super) player_store: Arc<dyn PlayerStore>,
    pub(super) rooms: Rooms,
}

/// Maximum number of players found by one name.
const NAMED: usize = 21;

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

    /// A logged-in player, or a former player with a stored game; `None` for an unknown id.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn player(&self, id: PlayerId) -> Result<Option<Profile>, RoomError> {
        match self.players.get(id) {
            Some(player) => Ok(Some(player.profile.clone())),
            None => Ok(self.player_store.profile(id).await?),
        }
    }

    /// The current holder of a name, then former holders with stored games, the last seen first; at most 21.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn players_named(&self, name: &DisplayName) -> Result<Vec<Profile>, RoomError> {
        let now = self.players.named(name).map(|player| player.profile.clone());
        let known = self.player_store.named(name.clone(), NAMED).await?;
        let holder = now.as_ref().map(|profile| profile.id);
        let earlier = known.into_iter().filter(|profile| Some(profile.id) != holder);
        Ok(now.into_iter().chain(earlier).take(NAMED).collect())
    }

    /// The results and rating of a contestant over all games.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn player_stats(&self, contestant: Contestant) -> Result<PlayerStats, RoomError> {
        Ok(self.archive.player_stats(contestant).await?)
    }
}
