//! The latest games of a contestant, by which ratings that are bought are bounded. Read from the archive when a game ends,
//! so that neither a restart nor another node forgets them.

use reversi_engine::rules::Color;
use reversi_room::{GameRecord, Timestamp};

use super::{
    contestant::Contestant,
    rating::{Rating, RatingWeight},
};

/// The games of a contestant within [`RecentGames::PERIOD`], by which ratings that are bought are bounded.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentGames {
    /// The rating before the first of them, rounded, or that of beginners; none without games.
    pub(super) first_rating: Option<u16>,
    /// The latest, newest first, at most [`RecentGames::latest_of`].
    pub(super) latest: Vec<RecentGame>,
}

/// A game as its contestant's later games see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecentGame {
    pub(super) ended: Timestamp,
    /// Whether it is rated, and has a result.
    pub(super) counts: bool,
    pub(super) opponent: Contestant,
    /// The rating before it, rounded, or that of beginners.
    pub(super) rating: u16,
}

impl RecentGames {
    /// The time for which a game is recent, in microseconds: a day.
    pub(super) const PERIOD: i64 = 24 * 60 * 60 * 1_000_000;
    /// The rating of who has none yet.
    pub(super) const BEGINNER: u16 = 1500;
    /// Games kept of a player: as many as lower the weight of a pairing.
    const LATEST: usize = 50;
    /// The time in which the first [`RecentGames::PACE`] rated games of a player may raise a rating without this bound, in
    /// microseconds. It begins at fixed times, so that a player who never stops has each time ten such games.
    const PACE_TIME: i64 = 10 * 60 * 1_000_000;
    const PACE: usize = 10;
    /// The most points by which a rating rises within [`RecentGames::PERIOD`], whoever the opponents are.
    const RISE: f64 = 200.0;

    /// How many of the latest games matter: none of an AI, which buys no rating.
    pub(super) fn latest_of(who: &Contestant) -> usize {
        if is_ai(who) { 0 } else { Self::LATEST }
    }

    /// How much a game against `opponent` that ends then counts at most. All AIs are one opponent.
    pub(super) fn weight(&self, ended: Timestamp, opponent: &Contestant) -> RatingWeight {
        let same = |other: &Contestant| other == opponent || is_ai(other) && is_ai(opponent);
        let met = |recent: &&RecentGame| {
            recent.counts && same(&recent.opponent) && ended.0.saturating_sub(recent.ended.0) < Self::PERIOD
        };
        RatingWeight::after(self.latest.iter().filter(met).count())
    }

    /// The rating above which a game that ends then does not raise the one of now. A loss is never bounded, and what it
    /// takes can be won back at any pace: otherwise a busy player's rating would only fall.
    pub(super) fn highest(&self, ended: Timestamp, now: Rating) -> f64 {
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
    pub(super) fn add(&mut self, who: &Contestant, game: RecentGame) {
        self.first_rating.get_or_insert(game.rating);
        self.latest.insert(0, game);
        self.latest.truncate(Self::latest_of(who));
    }
}

fn is_ai(who: &Contestant) -> bool {
    matches!(who, Contestant::Ai { .. })
}

impl RecentGame {
    /// A game, with the ratings before it, as the later games of a side see it.
    pub(super) fn of(game: &GameRecord, side: Color) -> Self {
        Self {
            ended: game.ended,
            counts: game.rated && game.end.counts(),
            opponent: Contestant::from(&game.players[side.opposite()]),
            rating: game.ratings[side].unwrap_or(RecentGames::BEGINNER),
        }
    }
}
