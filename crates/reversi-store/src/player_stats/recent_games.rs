//! The latest games of a contestant. They limit how fast a rating can rise, which prevents bought ratings. They are
//! read from the archive when a game ends, so they outlive a restart and are the same on all nodes.

use reversi_engine::rules::Color;
use reversi_room::{GameRecord, Timestamp};

use super::glicko::{Rating, RatingWeight};
use crate::contestant::Contestant;

/// The games of a contestant within the last [`RecentGames::PERIOD`].
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentGames {
    /// The rounded rating before the first of them, or [`RecentGames::BEGINNER`] without one; none without games.
    pub(crate) first_rating: Option<u16>,
    /// The latest games, newest first, at most [`RecentGames::latest_of`].
    pub(crate) latest: Vec<RecentGame>,
}

/// What the later games of a contestant need to know of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecentGame {
    pub(crate) ended: Timestamp,
    /// True if the game is rated and counts as a result.
    pub(crate) counts: bool,
    pub(crate) opponent: Contestant,
    /// The rounded rating before the game, or [`RecentGames::BEGINNER`] without one.
    pub(crate) rating: u16,
}

impl RecentGames {
    /// The time for which a game is recent, in microseconds: a day.
    pub(crate) const PERIOD: i64 = 24 * 60 * 60 * 1_000_000;
    /// The rating of a contestant that has none yet.
    pub(crate) const BEGINNER: u16 = 1500;
    /// Maximum games kept of a player: enough for the lowest weight of a pairing.
    const LATEST: usize = 50;
    /// Periods of 10 minutes, in microseconds, which begin at fixed times. In each, only a player's first
    /// [`RecentGames::PACE`] rated games may raise the rating above its highest value within the period.
    const PACE_TIME: i64 = 10 * 60 * 1_000_000;
    const PACE: usize = 10;
    /// Maximum points by which a rating rises within [`RecentGames::PERIOD`], against any opponents.
    const RISE: f64 = 200.0;

    /// Maximum games kept of a contestant: 0 for an AI, which buys no rating.
    pub(crate) fn latest_of(who: &Contestant) -> usize {
        if is_ai(who) { 0 } else { Self::LATEST }
    }

    /// The highest weight of a game against `opponent` that ends at `ended`. All AIs count as one opponent.
    pub(crate) fn weight(&self, ended: Timestamp, opponent: &Contestant) -> RatingWeight {
        let same = |other: &Contestant| other == opponent || is_ai(other) && is_ai(opponent);
        let met = |recent: &&RecentGame| {
            recent.counts && same(&recent.opponent) && ended.0.saturating_sub(recent.ended.0) < Self::PERIOD
        };
        RatingWeight::after(self.latest.iter().filter(met).count())
    }

    /// The value above which a game that ends at `ended` does not raise the rating `now`. A loss is never bounded, and
    /// lost points can be won back at any pace: otherwise a busy player's rating would only fall.
    pub(crate) fn highest(&self, ended: Timestamp, now: Rating) -> f64 {
        let of_day = self.first_rating.map_or(now.value, f64::from) + Self::RISE;
        let period = |time: Timestamp| time.0.div_euclid(Self::PACE_TIME);
        let lately: Vec<_> = self.latest.iter().filter(|recent| period(recent.ended) == period(ended)).collect();
        let hurried =
            lately.iter().filter(|recent| recent.counts).count() >= Self::PACE || lately.len() >= Self::LATEST;
        if hurried {
            lately.iter().map(|recent| f64::from(recent.rating)).fold(now.value, f64::max).min(of_day)
        } else {
            of_day
        }
    }

    /// Adds the latest game of a contestant.
    pub(crate) fn add(&mut self, who: &Contestant, game: RecentGame) {
        self.first_rating.get_or_insert(game.rating);
        self.latest.insert(0, game);
        self.latest.truncate(Self::latest_of(who));
    }
}

fn is_ai(who: &Contestant) -> bool {
    matches!(who, Contestant::Ai { .. })
}

impl RecentGame {
    /// Reads a record with the ratings before the game, for the later games of `side`.
    pub(crate) fn of(game: &GameRecord, side: Color) -> Self {
        Self {
            ended: game.ended,
            counts: game.rated && game.end.counts(),
            opponent: Contestant::from(&game.players[side.opposite()]),
            rating: game.ratings[side].unwrap_or(RecentGames::BEGINNER),
        }
    }
}
