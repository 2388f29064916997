//! Ratings, and how games change them.

use reversi_engine::rules::Color;
use reversi_room::RatingChange;
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, glicko2},
};

/// A Glicko-2 rating (Glickman, "Example of the Glicko-2 system", 2012), where every game is a rating period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The strength; 1500 at first.
    pub value: f64,
    /// The standard deviation of the strength.
    pub deviation: f64,
    /// The expected fluctuation of the strength.
    pub volatility: f64,
    /// Rated games so far.
    pub games: u32,
}

/// How much a game changes ratings, in sixteenths of the full change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RatingWeight(u8);

impl RatingWeight {
    /// The game changes no rating.
    pub const NONE: Self = Self(0);
    /// The game counts as Glicko-2 has it.
    pub const FULL: Self = Self(16);

    /// The weight of a game of two players after `meetings` others within a day: full for the first ten games, then
    /// half of it for each ten more, and never below a sixteenth.
    #[must_use]
    pub fn after(meetings: usize) -> Self {
        Self(Self::FULL.0 >> (meetings / 10).min(4))
    }

    pub(crate) fn sixteenths(self) -> u8 {
        self.0
    }

    /// The inverse of [`Self::sixteenths`], as it is stored.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_sixteenths(stored: i32) -> Self {
        Self(stored.clamp(0, Self::FULL.0.into()) as u8)
    }

    fn part(self) -> f64 {
        f64::from(self.0) / f64::from(Self::FULL.0)
    }
}

impl Rating {
    /// The deviation above which a rating is provisional.
    pub(crate) const PROVISIONAL: f64 = 110.0;
    /// The highest volatility, also that at first. Glicko-2 begins with 0.06 for a period of ten games or more; here a period is one game, and what ten
    /// of them add to the variance is the same.
    const VOLATILITY: f64 = 0.02;
    /// The least deviation of a bot's rating after its engine has changed: the new one may be far stronger or weaker, but
    /// is no stranger, whose deviation is 350.
    pub(crate) const OF_NEW_ENGINE: f64 = 200.0;

    /// The strength, rounded.
    pub fn rounded(&self) -> u16 {
        // The conversion is saturating.
        self.value.round() as u16
    }

    /// The change that led to this rating, by a game of this weight.
    pub(crate) fn change(&self, weight: RatingWeight, limited: bool) -> RatingChange {
        RatingChange::Rated {
            after: self.rounded(),
            deviation: self.deviation.round() as u16,
            weight: weight.sixteenths(),
            limited,
        }
    }

    /// True if the rating is still too uncertain to be compared with others: its deviation is above 110.
    #[must_use]
    pub fn is_provisional(&self) -> bool {
        self.deviation > Self::PROVISIONAL
    }

    /// The ratings of black and white after a game between them.
    pub(crate) fn meets(self, white: Self, winner: Option<Color>, weight: RatingWeight) -> (Self, Self) {
        let outcome = match winner {
            Some(Color::Black) => Outcomes::WIN,
            Some(Color::White) => Outcomes::LOSS,
            None => Outcomes::DRAW,
        };
        let (one, other) = glicko2(&self.into(), &white.into(), &outcome, &Glicko2Config::new());
        let after = |before: Self, Glicko2Rating { rating, deviation, volatility }| {
            before.towards(Self { value: rating, deviation, volatility, games: before.games + 1 }, weight.part())
        };
        (after(self, one), after(white, other))
    }

    /// The rating at a part, from 0 to 1, of the way to another.
    fn towards(self, to: Self, part: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * part;
        Self {
            value: between(self.value, to.value),
            deviation: between(self.deviation, to.deviation),
            volatility: between(self.volatility, to.volatility),
            games: to.games,
        }
    }

    /// Limits the rating `after` a game to `highest`; its deviation then changes by the same part of the way as its
    /// value.
    pub(crate) fn risen(self, after: Self, highest: f64) -> Self {
        if after.value <= highest.max(self.value) {
            after
        } else if highest <= self.value {
            Self { games: after.games, ..self }
        } else {
            self.towards(after, (highest - self.value) / (after.value - self.value))
        }
    }
}

impl Default for Rating {
    fn default() -> Self {
        let Glicko2Rating { rating, deviation, .. } = Glicko2Rating::new();
        Self { value: rating, deviation, volatility: Self::VOLATILITY, games: 0 }
    }
}

impl From<Rating> for Glicko2Rating {
    fn from(Rating { value, deviation, volatility, .. }: Rating) -> Self {
        // Those of earlier versions have more.
        Self { rating: value, deviation, volatility: volatility.min(Rating::VOLATILITY) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reversi_engine::rules::SplitMix64;

    use super::*;

    #[test]
    fn the_weight_halves_every_ten_games_down_to_a_sixteenth() {
        let weights = [0, 9, 10, 19, 20, 30, 40, 50, 1_000].map(|meetings| RatingWeight::after(meetings).0);
        assert_eq!(weights, [16, 16, 8, 8, 4, 2, 1, 1, 1]);
        let after = |weight| Rating::default().meets(Rating::default(), Some(Color::Black), weight).0;
        let (full, half) = (after(RatingWeight::FULL), after(RatingWeight::after(10)));
        let change = |rating: Rating| [rating.value - 1500.0, rating.deviation - 350.0];
        for (full, half) in change(full).into_iter().zip(change(half)) {
            assert!((full - 2.0 * half).abs() < 1e-9, "{full} {half}");
        }
    }

    #[test]
    fn a_rating_is_provisional_until_its_deviation_is_small() {
        let rating = |deviation| Rating { deviation, ..Rating::default() };
        assert!(Rating::default().is_provisional() && rating(110.1).is_provisional());
        assert!(!rating(110.0).is_provisional());
    }

    /// Ratings as different from a new one as games among near equals make them.
    fn ratings() -> impl Strategy<Value = Rating> {
        (1300.0..1700.0, 100.0..350.0_f64, 0_u32..100).prop_map(|(value, deviation, games)| Rating {
            value,
            deviation,
            games,
            ..Rating::default()
        })
    }

    proptest! {
        #[test]
        fn the_winner_rises_the_loser_falls_and_both_deviations_shrink(black in ratings(), white in ratings()) {
            let (winner, loser) = black.meets(white, Some(Color::Black), RatingWeight::FULL);
            prop_assert!(winner.value > black.value && loser.value < white.value);
            prop_assert!(winner.deviation < black.deviation && loser.deviation < white.deviation);
            prop_assert_eq!((winner.games, loser.games), (black.games + 1, white.games + 1));
            let (loser, winner) = white.meets(black, Some(Color::White), RatingWeight::FULL);
            prop_assert_eq!((winner, loser), black.meets(white, Some(Color::Black), RatingWeight::FULL), "the color does not matter");
        }

        #[test]
        fn a_draw_moves_ratings_together(black in ratings(), white in ratings()) {
            let (one, other) = black.meets(white, None, RatingWeight::FULL);
            prop_assert_eq!(one.value < black.value, black.value > white.value);
            prop_assert_eq!(other.value < white.value, white.value > black.value);
        }

        #[test]
        fn a_draw_of_equals_only_shrinks_the_deviations(rating in ratings()) {
            let (one, other) = rating.meets(rating, None, RatingWeight::FULL);
            prop_assert_eq!(one, other);
            prop_assert!((one.value - rating.value).abs() < 1e-9 && one.deviation < rating.deviation);
        }
    }

    /// The mean of the ratings less that of the strengths, and the root of the mean square of the errors, after 30 days
    /// in which 1,000 new players of known strength play 20 games a day against any of them. Their strengths have a
    /// standard deviation of 200. A part of the games is against the nearest anchor.
    fn after_a_month(mean_strength: f64, against_anchors: f64) -> (f64, f64) {
        const PLAYERS: usize = 1_000;
        const GAMES: usize = 30 * 20 * PLAYERS / 2;
        let anchors: Vec<Rating> = crate::anchor::all().map(|(_, rating)| rating).collect();
        let mut random = SplitMix64::new(7);
        let mut unit = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        // Nearly normal.
        let mut strength = |_| mean_strength + 200.0 * ((0..12).map(|_| unit()).sum::<f64>() - 6.0);
        let strengths: Vec<f64> = (0..PLAYERS).map(&mut strength).collect();
        let mut ratings = vec![Rating::default(); PLAYERS];
        for _ in 0..GAMES {
            let mut draw = || (unit() * PLAYERS as f64) as usize;
            let (one, other) = (draw(), draw());
            let distance = |anchor: &&Rating| (anchor.value - ratings[one].value).abs();
            let nearest = anchors.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let anchor = nearest.copied().filter(|_| unit() < against_anchors);
            if anchor.is_none() && one == other {
                continue;
            }
            let against = anchor.map_or(strengths[other], |anchor| anchor.value);
            let wins = unit() < 1.0 / (1.0 + 10_f64.powf((against - strengths[one]) / 400.0));
            let winner = Some(if wins { Color::Black } else { Color::White });
            let (after, others) = ratings[one].meets(anchor.unwrap_or(ratings[other]), winner, RatingWeight::FULL);
            ratings[one] = after;
            if anchor.is_none() {
                ratings[other] = others;
            }
        }
        let errors = || ratings.iter().zip(&strengths).map(|(rating, strength)| rating.value - strength);
        let mean = errors().sum::<f64>() / PLAYERS as f64;
        (mean, (errors().map(|error| error * error).sum::<f64>() / PLAYERS as f64).sqrt())
    }

    /// Only anchors lift a field that is stronger than new players are taken for.
    #[test]
    fn after_a_month_ratings_are_near_the_strengths() {
        let after = [1500.0, 1600.0].map(|mean| [0.0, 0.1, 0.3].map(|anchored| after_a_month(mean, anchored)));
        println!("{after:.0?}");
        for (drift, error) in after[0] {
            assert!(drift.abs() < 10.0 && error < 40.0, "{drift} {error}");
        }
        assert!(after[1].is_sorted_by(|(few, _), (many, _)| few + 20.0 < *many), "{after:?}");
    }
}
