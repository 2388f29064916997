//! The latest games of a contestant, by which ratings that are bought are bounded. Read from the archive when a game ends,
//! so that neither a restart nor another node forgets them.

use super::player_stats::{Contestant, RatingWeight};
use crate::{
    room::{GameRecord, Timestamp},
    rules::Color,
};

/// The games of a contestant within [`RecentGames::PERIOD`], by which ratings that are bought are bounded.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentGames {
    /// The rating before the first of them, rounded, or that of beginners; none without games.
    pub(super) first_rating: Option<u16>,
    /// The latest, newest first, at most [`RecentGames::LATEST`].
    pub(super) latest: Vec<RecentGame>,
}

/// A game as its contestant's later games see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecentGame {
    pub(super) ended: Timestamp,
    /// Whether it is rated, and has a result.
    pub(super) counts: bool,
    pub(super) opponent: Contestant,
}

impl RecentGames {
    /// The time for which a game is recent, in microseconds: a day.
    pub(super) const PERIOD: i64 = 24 * 60 * 60 * 1_000_000;
    /// The rating of who has none yet.
    pub(super) const BEGINNER: u16 = 1500;
    /// Games kept: as many as lower the weight of a pairing.
    pub(super) const LATEST: usize = 50;
    /// More rated games of a player than [`RecentGames::PACE`] within this time are not played in earnest, in microseconds.
    const PACE_TIME: i64 = 10 * 60 * 1_000_000;
    const PACE: usize = 10;

    /// How much a game of these two counts at most, by the games of `who`. All AIs are one opponent.
    pub(super) fn weight(&self, game: &GameRecord, who: &Contestant, opponent: &Contestant) -> RatingWeight {
        if matches!(who, Contestant::Ai { .. }) {
            return RatingWeight::FULL;
        }
        let since =
            |time: i64| self.latest.iter().filter(move |recent| game.ended.0.saturating_sub(recent.ended.0) < time);
        let is_ai = |who: &Contestant| matches!(who, Contestant::Ai { .. });
        let same = |other: &Contestant| other == opponent || is_ai(other) && is_ai(opponent);
        let met = |recent: &&RecentGame| recent.counts && same(&recent.opponent);
        let hurried = since(Self::PACE_TIME).filter(|recent| recent.counts).count() >= Self::PACE
            || since(Self::PACE_TIME).count() >= Self::LATEST;
        if hurried { RatingWeight::NONE } else { RatingWeight::after(since(Self::PERIOD).filter(met).count()) }
    }

    /// Adds the latest game, with the rating before it.
    pub(super) fn add(&mut self, game: RecentGame, rating: Option<u16>) {
        self.first_rating.get_or_insert(rating.unwrap_or(Self::BEGINNER));
        self.latest.insert(0, game);
        self.latest.truncate(Self::LATEST);
    }
}

impl RecentGame {
    /// A game as the later games of a side see it.
    pub(super) fn of(game: &GameRecord, side: Color) -> Self {
        let opponent = Contestant::from(&game.players[side.opposite()]);
        Self { ended: game.ended, counts: game.rated && game.end.counts(), opponent }
    }
}
