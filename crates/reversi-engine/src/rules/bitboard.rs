//! A set of squares in one machine word.
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor, Not};

use super::Square;

/// A set of squares: bit 0 is a1, bit 63 is h8.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bitboard(pub u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Self = Self(0);
    /// All 64 squares.
    pub const FULL: Self = Self(u64::MAX);
    /// a1, h1, a8 and h8.
    pub const CORNERS: Self = Self(0x8100_0000_0000_0081);
    /// d4, e4, d5 and e5, which are never empty in a game from the standard start.
    pub const CENTRE: Self = Self(0x0000_0018_1800_0000);

    /// The set of this one square.
    #[must_use]
    pub const fn of(square: Square) -> Self {
        Self(1 << square.index())
    }

    /// The number of squares in the set, 0 to 64.
    #[must_use]
    pub const fn count(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// Whether the square is in the set.
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The square with the lowest number.
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        if self.is_empty() { None } else { Some(Square::of_lowest_bit(self.0)) }
    }

    /// The squares in the order of their numbers.
    #[must_use]
    pub const fn iter(self) -> Squares {
        Squares(self.0)
    }
}

/// The squares of a [`Bitboard`] in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Squares(u64);

impl Iterator for Squares {
    type Item = Square;

    fn next(&mut self) -> Option<Square> {
        let square = Bitboard(self.0).first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Squares {}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    fn into_iter(self) -> Squares {
        self.iter()
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Self::EMPTY, |set, square| set | Self::of(square))
    }
}

impl From<Square> for Bitboard {
    fn from(square: Square) -> Self {
        Self::of(square)
    }
}

impl BitAnd for Bitboard {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Not for Bitboard {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitOrAssign for Bitboard {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bitboard_is_a_set_of_squares(a: u64, b: u64) {
            let (a, b) = (Bitboard(a), Bitboard(b));
            let (set_a, set_b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
            prop_assert_eq!(a, set_a.iter().copied().collect());
            prop_assert_eq!(a & b, set_a.intersection(&set_b).copied().collect());
            prop_assert_eq!(a | b, set_a.union(&set_b).copied().collect());
            prop_assert_eq!(a ^ b, set_a.symmetric_difference(&set_b).copied().collect());
            prop_assert_eq!(!a, Square::ALL.into_iter().filter(|s| !set_a.contains(s)).collect());
            prop_assert_eq!(usize::from(a.count()), set_a.len());
            prop_assert_eq!(a.iter().len(), set_a.len());
            prop_assert_eq!(a.first(), set_a.first().copied());
            for square in Square::ALL {
                prop_assert_eq!(a.contains(square), set_a.contains(&square));
            }
        }
    }

    #[test]
    fn the_empty_and_the_full_set_have_the_ends_right() {
        assert!(Bitboard::EMPTY.is_empty());
        assert_eq!(Bitboard::EMPTY.first(), None);
        assert_eq!(Bitboard::FULL.count(), 64);
        assert!(Bitboard::FULL.iter().eq(Square::ALL));
        assert_eq!(format!("{:?}", Bitboard::CORNERS), "{a1, h1, a8, h8}");
    }
}
