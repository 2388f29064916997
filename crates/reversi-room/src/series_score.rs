//! The score of a series of paired games.

use reversi_engine::{
    match_statistics::{Points, Score},
    rules::Color,
};

/// The score of a series whose games come in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesScore {
    /// The current side of the player whose score this is: the player who had black in the first game.
    pub first: Color,
    /// The score of that player.
    pub score: Score,
}

impl SeriesScore {
    /// The score before the first game.
    pub(super) fn new() -> Self {
        Self { first: Color::Black, score: Score::default() }
    }

    /// The same score after the occupants changed sides.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first: self.first.opposite(), ..self }
    }

    /// Counts the game with that index in the series, from 0.
    pub(super) fn count(&mut self, index: u16, winner: Option<Color>) {
        let points = match winner {
            Some(winner) if winner == self.first => Points::Win,
            Some(_) => Points::Loss,
            None => Points::Draw,
        };
        self.score.count(index.into(), points);
    }
}
