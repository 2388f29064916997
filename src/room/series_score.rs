//! The score of a series in pairs.

use crate::{
    rating::{Points, Score},
    rules::Color,
};

/// How a series stands whose games come in pairs, or the last one between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesScore {
    /// Where the player sits now of whom the score is told: the one who began the series with black.
    pub first: Color,
    /// What that player has reached.
    pub score: Score,
}

impl SeriesScore {
    /// Of a series that begins.
    pub(super) fn new() -> Self {
        Self { first: Color::Black, score: Score::default() }
    }

    /// The same after the occupants have changed sides.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first: self.first.opposite(), ..self }
    }

    /// Counts the game of that index in the series, from 0.
    pub(super) fn count(&mut self, index: u16, winner: Option<Color>) {
        let points = match winner {
            Some(winner) if winner == self.first => Points::Win,
            Some(_) => Points::Loss,
            None => Points::Draw,
        };
        self.score.count(index.into(), points);
    }
}
