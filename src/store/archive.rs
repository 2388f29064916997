//! The seam between finished games and what keeps them.

use std::sync::Arc;

use super::{
    journal::{Pending, Unavailable},
    standing::{Contestant, Standing},
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
    /// At most `limit` games that match, newest first, beginning behind `after`.
    fn games(
        &self,
        filter: GameFilter,
        after: Option<GameKey>,
        limit: usize,
    ) -> Pending<'_, Result<Vec<Arc<GameRecord>>, Unavailable>>;

    /// One game.
    fn game(&self, id: GameId) -> Pending<'_, Result<Option<Arc<GameRecord>>, Unavailable>>;

    /// What a contestant made of all games.
    fn standing(&self, who: Contestant) -> Pending<'_, Result<Standing, Unavailable>>;
}
