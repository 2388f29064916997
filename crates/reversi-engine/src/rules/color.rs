//! The two sides.
use std::fmt;
use std::str::FromStr;

/// A side, and the colour of its discs. Black moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Color {
    /// The side that moves first.
    Black,
    /// The side that moves second.
    White,
}

impl Color {
    /// Both sides, in the order of their first moves.
    pub const ALL: [Self; 2] = [Self::Black, Self::White];

    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Black => "black",
            Self::White => "white",
        })
    }
}

impl FromStr for Color {
    type Err = ParseColorError;

    fn from_str(text: &str) -> Result<Self, ParseColorError> {
        Self::ALL.into_iter().find(|color| text.eq_ignore_ascii_case(&color.to_string())).ok_or(ParseColorError)
    }
}

/// The text is neither `black` nor `white`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseColorError;

impl fmt::Display for ParseColorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a color is `black` or `white`")
    }
}

impl std::error::Error for ParseColorError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_the_opposite_of_the_opposite_is_the_color() {
        for color in Color::ALL {
            assert_eq!(color.to_string().parse(), Ok(color));
            assert_ne!(color.opposite(), color);
            assert_eq!(color.opposite().opposite(), color);
        }
        assert_eq!("BLACK".parse(), Ok(Color::Black));
        assert_eq!("green".parse::<Color>(), Err(ParseColorError));
    }
}
