//! Storage of finished games.

use std::{future::ready, sync::Arc, time::Duration};

use reversi_engine::rules::{Color, Position, opening_names};
use reversi_room::{GameEnd, GameId, GameRecord, Participant, PlayerId, RoomId, Timestamp, TournamentId};

use super::{
    contestant::Contestant,
    explorer::{Exploration, ExplorerFilter},
    journal::StoreFuture,
    player_stats::{OpponentKind, PlayerStats},
};

/// The key of a game in the archive: its end and its id. Pages stay valid while games are added.
pub type GameKey = (Timestamp, GameId);

/// A filter of games; a field that is `None` does not restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFilter {
    /// The caller: games of private rooms are visible only to their players.
    pub viewer: PlayerId,
    /// The time of the call: games that are public only later are visible only to their players, too.
    pub now: Timestamp,
    /// Only games of this room.
    pub room: Option<RoomId>,
    /// Only games of this tournament. There is no index for it: give the times of its first and last game, too.
    pub tournament: Option<TournamentId>,
    /// Only games of this player, on either side.
    pub player: Option<PlayerId>,
    /// Only games with a participant of this kind.
    pub kind: Option<OpponentKind>,
    /// Only games that ended like this.
    pub result: Option<GameResult>,
    /// Only rated games, or only others.
    pub rated: Option<bool>,
    /// Only games in which a participant had at least this rating before the game.
    pub min_rating: Option<u16>,
    /// Only games that ended at this time or later, and at a known time.
    pub ended_from: Option<Timestamp>,
    /// Only games that ended before this time, and at a known time.
    pub ended_before: Option<Timestamp>,
    /// Only games of the opening of this name, one of [`opening_names::all`].
    pub opening: Option<&'static str>,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// Won by this side.
    Won(Color),
    /// Drawn, by discs or by agreement.
    Drawn,
    /// Aborted.
    Aborted,
}

impl From<GameEnd> for GameResult {
    fn from(end: GameEnd) -> Self {
        match end.winner {
            _ if !end.counts() => Self::Aborted,
            Some(side) => Self::Won(side),
            None => Self::Drawn,
        }
    }
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
    /// Maximum games without a match that are read for one page, which bounds its work. A page may therefore have fewer
    /// games than requested, or none, and still have a next one.
    pub const PASSED_OVER: usize = 5_000;
}

impl GameFilter {
    /// All games that the viewer may see, whenever it asks.
    #[must_use]
    pub fn visible_to(viewer: PlayerId) -> Self {
        Self {
            viewer,
            now: Timestamp::UNKNOWN,
            room: None,
            tournament: None,
            player: None,
            kind: None,
            result: None,
            rated: None,
            min_rating: None,
            ended_from: None,
            ended_before: None,
            opening: None,
        }
    }

    /// The earliest end of a game that matches.
    pub(super) fn earliest(&self) -> Timestamp {
        let known = self.ended_before.map(|_| Timestamp(Timestamp::UNKNOWN.0 + 1));
        self.ended_from.or(known).unwrap_or(Timestamp::UNKNOWN)
    }

    pub(super) fn matches(&self, record: &GameRecord) -> bool {
        let played = |player| record.players.iter().any(|(_, participant)| participant.is(player));
        let is_of = |kind| record.players.iter().any(|(_, participant)| OpponentKind::from(participant) == kind);
        let is_rated = |least| record.ratings.iter().any(|(_, rating)| rating.is_some_and(|rating| rating >= least));
        self.room.is_none_or(|room| room == record.id.room)
            && self.tournament.is_none_or(|id| record.meeting.is_some_and(|meeting| meeting.tournament == id))
            && self.player.is_none_or(played)
            && (!record.private || played(self.viewer))
            && !record.is_delayed_for(self.viewer, self.now)
            && self.kind.is_none_or(is_of)
            && self.result.is_none_or(|result| result == record.end.into())
            && self.rated.is_none_or(|rated| rated == record.rated)
            && self.min_rating.is_none_or(is_rated)
            && record.ended >= self.earliest()
            && self.ended_before.is_none_or(|before| record.ended < before)
            && self.opening.is_none_or(|name| opening_names::of_game(record.positions()) == Some(name))
    }
}

/// A contestant with a rating.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedContestant {
    /// The player or AI. The seed of an AI is 0.
    pub participant: Participant,
    /// The results and the rating.
    pub stats: PlayerStats,
}

/// The key of a contestant in the ranking: the value of the rating, and the contestant. Pages stay valid while the ratings
/// of others change.
pub type RankingKey = (f64, Contestant);

/// A page of the ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankingPage {
    /// The highest rating first; equal ones by the contestant.
    pub ranked: Vec<RankedContestant>,
    /// The position after which the next page starts; `None` on the last page.
    pub next: Option<RankingKey>,
}

impl RankingPage {
    /// A page of rows, some of which may have been passed over. It is the last one unless it is full.
    pub(super) fn new(ranked: Vec<RankedContestant>, is_full: bool) -> Self {
        let key = |last: &RankedContestant| Some((last.stats.rating?.value, Contestant::from(&last.participant)));
        let next = ranked.last().filter(|_| is_full).and_then(key);
        Self { ranked, next }
    }
}

/// The rating and the contestant, as text, after which a page starts. The first page starts before every contestant.
pub(super) fn ranking_start(after: Option<&RankingKey>) -> (f64, String) {
    after.map_or((f64::INFINITY, String::new()), |(rating, contestant)| (*rating, contestant.to_string()))
}

/// Which contestants are ranked. Players who have logged out without a claim of their names are not: the next one of the
/// name would stand beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankingFilter {
    /// Only contestants of this kind.
    pub kind: Option<OpponentKind>,
    /// True to include contestants with a provisional rating.
    pub provisional: bool,
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

/// Stores finished games and the statistics of their players. [`super::Journal::append`] writes games, and either the
/// statistics as well or a queue for [`Archive::settle`].
pub trait Archive: Send + Sync + 'static {
    /// At most `limit` games that match, newest first, after `after`.
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage>;

    /// One game. If it has just ended, it is settled first if possible.
    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>>;

    /// The results and rating of a contestant, whose games that have just ended are settled first if possible.
    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats>;

    /// The size of the archive, found without counting games.
    fn size(&self) -> StoreFuture<'_, ArchiveSize>;

    /// Raises the deviation of a rating, if there is one, so that the rating is provisional: the player has a new engine.
    fn make_provisional(&self, player: PlayerId) -> StoreFuture<'_, ()>;

    /// At most `limit` contestants with a rating, the highest first, after `after`.
    fn ranking(&self, filter: RankingFilter, after: Option<RankingKey>, limit: usize) -> StoreFuture<'_, RankingPage>;

    /// Settles at most `limit` games that have ended, the first ones: adds them to the results and ratings of their
    /// players, and notes the ratings before them. Returns how many. The default returns 0, as for a store whose
    /// appends do so.
    fn settle(&self, _limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(ready(Ok(0)))
    }

    /// What was played in a position, in the games that [`Archive::count_openings`] has counted.
    fn explore(&self, position: Position, filter: ExplorerFilter) -> StoreFuture<'_, Exploration>;

    /// Counts at most `limit` settled games for [`Archive::explore`] that are public and not counted yet, the oldest first,
    /// after `skip` others. Returns how many.
    fn count_openings(&self, skip: usize, limit: usize, now: Timestamp) -> StoreFuture<'_, usize>;

    /// Adds imported games, all or none, without effect on statistics. Returns the number of new ones.
    fn import(&self, games: Vec<GameRecord>) -> StoreFuture<'_, usize>;

    /// Removes at most `limit` settled games that the retention does not keep, and returns how many. Statistics stay.
    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize>;
}
