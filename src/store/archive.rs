//! Storage of finished games.

use std::{sync::Arc, time::Duration};

use super::{
    journal::StoreFuture,
    player_stats::{Contestant, PlayerStats},
};
use crate::room::{GameId, GameRecord, PlayerId, RoomId, Timestamp};

/// The position of a game in the archive, by its end and its id. Pages stay valid while games are added.
pub type GameKey = (Timestamp, GameId);

/// A filter of games; a field that is `None` does not restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFilter {
    /// The caller: games of private rooms are visible only to their players.
    pub viewer: PlayerId,
    /// Only games of this room.
    pub room: Option<RoomId>,
    /// Only games of this player, on either side.
    pub player: Option<PlayerId>,
}

/// A page of the games that match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GamePage {
    /// Newest first.
    pub games: Vec<Arc<GameRecord>>,
    /// The position after which the next page starts; `None` on the last page.
    pub next: Option<GameKey>,
}

impl GamePage {
    /// The most games that a page skips: bounds the work for games that the caller may not see. A page may therefore
    /// have fewer games than requested, or none, and still have a successor.
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

/// The size of the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSize {
    /// Stored games.
    pub games: u64,
    /// Bytes of the file with everything in it; 0 without a file.
    pub bytes: u64,
}

/// Which finished games are kept; the others are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// At most this many: the oldest unrated ones go first, then the oldest rated ones.
    Games(u64),
    /// Unrated ones for this time after their end, and all rated ones.
    Age(Duration),
}

/// Stores finished games and the statistics of their players. [`super::Journal::append`] writes them.
pub trait Archive: Send + Sync + 'static {
    /// At most `limit` games that match, newest first, after `after`.
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage>;

    /// One game.
    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>>;

    /// The results and rating of a contestant.
    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats>;

    /// How large it is, without counting.
    fn size(&self) -> StoreFuture<'_, ArchiveSize>;

    /// Removes at most `limit` games that the retention does not keep, and returns how many. Statistics stay.
    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize>;
}
