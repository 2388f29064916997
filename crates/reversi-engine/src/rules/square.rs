//! The squares of the board.
use std::fmt;
use std::str::FromStr;

/// A square, numbered along the rows from the top left: a1 is 0, h1 is 7, a2 is 8, h8 is 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Every square, a1 to h8.
    pub const ALL: [Self; 64] = {
        let mut all = [Self(0); 64];
        let mut index = 0;
        while index < 64 {
            all[index as usize] = Self(index);
            index += 1;
        }
        all
    };

    /// The square with this number; `None` above 63.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 64 { Some(Self(index)) } else { None }
    }

    /// The square in this column (0 is a) and row (0 is the top); `None` unless both are below 8.
    #[must_use]
    pub const fn at(column: u8, row: u8) -> Option<Self> {
        if column < 8 && row < 8 { Some(Self(row * 8 + column)) } else { None }
    }

    /// The square's number, 0 to 63.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The letter and the digit, such as `d3`.
    #[must_use]
    pub fn name(self) -> &'static str {
        std::str::from_utf8(self.letters()).unwrap_or_default()
    }

    /// [`Self::name`] as bytes.
    #[must_use]
    pub fn letters(self) -> &'static [u8; 2] {
        const NAMES: [[u8; 2]; 64] = {
            let mut names = [[0; 2]; 64];
            let mut index = 0;
            while index < 64 {
                names[index as usize] = [b'a' + Square(index).column(), b'1' + Square(index).row()];
                index += 1;
            }
            names
        };
        &NAMES[usize::from(self.0 & 63)]
    }

    /// The column, 0 (a) to 7 (h).
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 8
    }

    /// The row from the top, 0 to 7.
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 8
    }

    /// The square of the lowest bit; `bits` must not be zero.
    pub(super) const fn of_lowest_bit(bits: u64) -> Self {
        debug_assert!(bits != 0);
        Self((bits.trailing_zeros() & 63) as u8)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Square {
    type Err = ParseSquareError;

    fn from_str(text: &str) -> Result<Self, ParseSquareError> {
        let &[letter, digit] = text.as_bytes() else {
            return Err(ParseSquareError);
        };
        let column = letter.to_ascii_lowercase().wrapping_sub(b'a');
        let row = digit.wrapping_sub(b'1');
        Self::at(column, row).ok_or(ParseSquareError)
    }
}

/// The text is not a letter a-h followed by a digit 1-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseSquareError;

impl fmt::Display for ParseSquareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a square is a letter a-h and a digit 1-8")
    }
}

impl std::error::Error for ParseSquareError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_have_the_documented_numbers() {
        for (name, index) in [("a1", 0), ("h1", 7), ("a2", 8), ("D3", 19), ("h8", 63)] {
            assert_eq!(name.parse::<Square>().unwrap().index(), index);
        }
    }

    #[test]
    fn text_numbers_and_coordinates_round_trip() {
        for (index, square) in Square::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(square.index()), index);
            assert_eq!(square.to_string().parse(), Ok(square));
            assert_eq!(Square::new(square.index()), Some(square));
            assert_eq!(Square::at(square.column(), square.row()), Some(square));
        }
        assert_eq!(Square::new(64), None);
        assert_eq!(Square::at(8, 0), None);
        assert_eq!(Square::at(0, 8), None);
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "a", "a0", "a9", "i1", "a11", " a1", "1a", "é", "a\u{0}"] {
            assert_eq!(text.parse::<Square>(), Err(ParseSquareError), "{text:?}");
        }
    }
}
