//! Storage of finished games.

use std::sync::Arc;

use super::{
    journal::{BoxFuture, Unavailable},
    player_stats::{Contestant, PlayerStats},
};
use crate::room::{GameId, GameRecord, PlayerId, RoomId, Timestamp};

/// The position of a game in the archive, by its end and its id. Pages stay valid while games are added.
pub type GameKey = (Timestamp, GameId);

/// A filter of games; a field that is `None` does not restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFilter {
    /// The caller: games of private rooms are shown to their players only.
    pub viewer: PlayerId,
    /// Played in this room.
    pub room: Option<RoomId>,
    /// Played by this player, on either side.
    pub player: Option<PlayerId>,
}

/// Some of the games that match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GamePage {
    /// Newest first.
    pub games: Vec<Arc<GameRecord>>,
    /// The position after which the next page begins; `None` on the last page.
    pub next: Option<GameKey>,
}

impl GamePage {
    /// Games that a page skips at most, so that games which the caller may not see cannot keep the archive busy. A page may
    /// therefore have fewer games than requested, or none, and still have a successor.
    pub const PASSED_OVER: usize = 5_000;
}

impl GameFilter {
    pub(super) fn matches(&self, record: &GameRecord) -> bool {
        let played = |player| record.players.iter().any(|(_, participant)| participant.is(player));
        self.room.is_none_or(|room| room == record.id.room)
            && self.player.is_none_or(played)
            && (!record.private || played(self.viewer))
    }
}

/// Keeps finished games, and the statistics of their players. [`super::Journal::append`] writes them.
pub trait Archive: Send + Sync + 'static {
    /// At most `limit` games that match, newest first, after `after`.
    fn games(
        &self,
        filter: GameFilter,
        after: Option<GameKey>,
        limit: usize,
    ) -> BoxFuture<'_, Result<GamePage, Unavailable>>;

    /// One game.
    fn game(&self, id: GameId) -> BoxFuture<'_, Result<Option<Arc<GameRecord>>, Unavailable>>;

    /// The results and the rating of a contestant.
    fn player_stats(&self, who: Contestant) -> BoxFuture<'_, Result<PlayerStats, Unavailable>>;
}
