//! The results of a series of games.

use std::{fmt, ops::AddAssign};

/// The points of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Points {
    /// 0 points.
    Loss,
    /// Half a point.
    Draw,
    /// A point.
    Win,
}

impl Points {
    /// The opponent's points.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    const fn halves(self) -> usize {
        self as usize
    }
}

/// The results of a series so far, for one of its two players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Numbers of pairs by half points, 0 to 4.
    pub pairs: [u32; 5],
    /// The first game of an incomplete pair.
    pub half: Option<Points>,
}

impl Score {
    /// Counts game `index` of the series, from 0; an even one begins a pair. If the first game of a pair was not
    /// counted, the second makes no pair.
    pub fn count(&mut self, index: u32, points: Points) {
        let games = match points {
            Points::Win => &mut self.wins,
            Points::Draw => &mut self.draws,
            Points::Loss => &mut self.losses,
        };
        *games = games.saturating_add(1);
        let first = self.half.take();
        if index.is_multiple_of(2) {
            self.half = Some(points);
        } else if let Some(first) = first {
            let pairs = &mut self.pairs[first.halves() + points.halves()];
            *pairs = pairs.saturating_add(1);
        }
    }

    /// The number of games counted.
    #[must_use]
    pub fn games(&self) -> u32 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// The same series for the other player.
    #[must_use]
    pub fn opposite(&self) -> Self {
        let mut pairs = self.pairs;
        pairs.reverse();
        Self { wins: self.losses, losses: self.wins, pairs, half: self.half.map(Points::opposite), ..*self }
    }
}

/// Adds the results of another series against the same strength; its half pair is left out.
impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        let sums = [(&mut self.wins, other.wins), (&mut self.draws, other.draws), (&mut self.losses, other.losses)];
        for (sum, count) in sums.into_iter().chain(self.pairs.iter_mut().zip(other.pairs)) {
            *sum = sum.saturating_add(count);
        }
    }
}

/// `12 won, 3 drawn, 5 lost`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} won, {} drawn, {} lost", self.wins, self.draws, self.losses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_counted_in_pairs() {
        let mut score = Score::default();
        let games = [Points::Win, Points::Win, Points::Draw, Points::Loss, Points::Win];
        (0..).zip(games).for_each(|(index, points)| score.count(index, points));
        assert_eq!((score.wins, score.draws, score.losses, score.games()), (3, 1, 1, 5));
        assert_eq!((score.pairs, score.half), ([0, 1, 0, 0, 1], Some(Points::Win)));
        let other = score.opposite();
        assert_eq!((other.wins, other.losses, other.pairs), (1, 3, [1, 0, 0, 1, 0]));
        assert_eq!(other.opposite(), score);
    }

    #[test]
    fn series_are_added_by_their_pairs() {
        let mut sum = Score { wins: 2, pairs: [0, 0, 0, 0, 1], ..Score::default() };
        sum += Score { wins: 1, draws: 1, losses: 1, pairs: [0, 1, 0, 0, 0], half: Some(Points::Win) };
        assert_eq!(sum, Score { wins: 3, draws: 1, losses: 1, pairs: [0, 1, 0, 0, 1], half: None });
    }

    #[test]
    fn half_a_pair_is_not_counted() {
        let mut score = Score::default();
        score.count(1, Points::Win);
        score.count(2, Points::Win);
        score.count(4, Points::Draw);
        score.count(5, Points::Draw);
        assert_eq!((score.pairs, score.games()), ([0, 0, 1, 0, 0], 4));
    }
}
