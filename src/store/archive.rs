//! The seam between finished games and what keeps them.

use std::sync::Arc;

use super::{
    journal::{BoxFuture, Unavailable},
    player_stats::{Contestant, PlayerStats},
};
use crate::room::{GameId, GameRecord, PlayerId, RoomId, Timestamp};

/// Where a game stands in the archive: by its end, and its id, so that a page stays valid while games come in.
pub type GameKey = (Timestamp, GameId);

/// Which games are asked for; a field that is none does not restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFilter {
    /// Who asks: a private room's games are shown to their players only.
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
    /// Behind what the next page begins; none where there are no more.
    pub next: Option<GameKey>,
}

impl GamePage {
    /// Games that are passed over for one page. A page may therefore have fewer games than were asked for, or none, and
    /// yet be followed by others: whoever fills the archive with what others may not see does not keep it busy with that.
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

/// Keeps finished games, and what they made of those who played them. [`super::Journal::append`] writes them.
pub trait Archive: Send + Sync + 'static {
    /// At most `limit` games that match, beginning behind `after`.
    fn games(
        &self,
        filter: GameFilter,
        after: Option<GameKey>,
        limit: usize,
    ) -> BoxFuture<'_, Result<GamePage, Unavailable>>;

    /// One game.
    fn game(&self, id: GameId) -> BoxFuture<'_, Result<Option<Arc<GameRecord>>, Unavailable>>;

    /// What a contestant made of all games.
    fn player_stats(&self, who: Contestant) -> BoxFuture<'_, Result<PlayerStats, Unavailable>>;
}
