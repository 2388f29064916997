//! A pair of values, one for each side.
use std::ops::{Index, IndexMut};

use super::Color;

/// One `T` for black and one for white.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByColor<T> {
    /// Black's.
    pub black: T,
    /// White's.
    pub white: T,
}

impl<T> ByColor<T> {
    /// A pair of these values.
    pub const fn new(black: T, white: T) -> Self {
        Self { black, white }
    }

    /// Calls `value` for each side.
    pub fn from_fn(mut value: impl FnMut(Color) -> T) -> Self {
        Self { black: value(Color::Black), white: value(Color::White) }
    }

    /// Applies `change` to both values.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> ByColor<U> {
        ByColor { black: change(self.black), white: change(self.white) }
    }

    /// The pair with the values exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { black: self.white, white: self.black }
    }

    /// Both sides with their values, black first.
    pub fn iter(&self) -> impl Iterator<Item = (Color, &T)> {
        [(Color::Black, &self.black), (Color::White, &self.white)].into_iter()
    }
}

impl<T> Index<Color> for ByColor<T> {
    type Output = T;

    fn index(&self, color: Color) -> &T {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }
}

impl<T> IndexMut<Color> for ByColor<T> {
    fn index_mut(&mut self, color: Color) -> &mut T {
        match color {
            Color::Black => &mut self.black,
            Color::White => &mut self.white,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexing_reaches_the_field_of_the_color() {
        let mut pair = ByColor::new(1, 2);
        pair[Color::White] += 10;
        assert_eq!(pair, ByColor::new(1, 12));
        assert_eq!(pair.swapped(), ByColor::new(12, 1));
        assert_eq!(pair.map(|n| n * 2), ByColor::from_fn(|c| pair[c] * 2));
        assert_eq!(pair.iter().collect::<Vec<_>>(), [(Color::Black, &1), (Color::White, &12)]);
    }
}
