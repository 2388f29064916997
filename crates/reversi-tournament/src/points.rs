//! Points.

use std::{fmt, iter::Sum, ops::AddAssign};

/// Points in halves: a win is 2, a draw 1. Written as `7½`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfPoints(pub u32);

impl HalfPoints {
    /// The points for winning `games` games.
    #[must_use]
    pub const fn of_wins(games: u32) -> Self {
        Self(games.saturating_mul(2))
    }
}

impl AddAssign for HalfPoints {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sum for HalfPoints {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl fmt::Display for HalfPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 2, self.0 % 2) {
            (whole, 0) => write!(f, "{whole}"),
            (0, _) => f.write_str("½"),
            (whole, _) => write!(f, "{whole}½"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_points_are_written_as_in_crosstables() {
        assert_eq!([0, 1, 2, 15].map(|halves| HalfPoints(halves).to_string()), ["0", "½", "1", "7½"]);
        assert_eq!([HalfPoints(1), HalfPoints(u32::MAX)].into_iter().sum::<HalfPoints>(), HalfPoints(u32::MAX));
    }
}
