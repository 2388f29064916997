//! The discs on the 64 squares.
use std::fmt;
use std::str::FromStr;

use super::{Bitboard, ByColor, Color, Square, moves_and_flips};

/// The discs of both sides; no square has two. The side to move is part of [`Position`](super::Position).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board {
    discs: ByColor<Bitboard>,
}

impl Board {
    /// The standard start: d4 and e5 white, e4 and d5 black.
    pub const START: Self =
        Self { discs: ByColor::new(Bitboard(0x0000_0008_1000_0000), Bitboard(0x0000_0010_0800_0000)) };

    /// # Errors
    /// [`Overlap`] if a square is in both sets.
    pub const fn new(black: Bitboard, white: Bitboard) -> Result<Self, Overlap> {
        if black.0 & white.0 == 0 { Ok(Self::of_disjoint(black, white)) } else { Err(Overlap) }
    }

    /// The board with the colours exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self::of_disjoint(self.discs.white, self.discs.black)
    }

    /// The discs of one side.
    #[must_use]
    pub fn discs(self, color: Color) -> Bitboard {
        self.discs[color]
    }

    /// The squares without a disc.
    #[must_use]
    pub fn empties(self) -> Bitboard {
        !(self.discs.black | self.discs.white)
    }

    /// The number of a side's discs.
    #[must_use]
    pub fn count(self, color: Color) -> u8 {
        self.discs[color].count()
    }

    /// The colour of the disc on the square.
    #[must_use]
    pub fn color_at(self, square: Square) -> Option<Color> {
        Color::ALL.into_iter().find(|&color| self.discs[color].contains(square))
    }

    /// The legal moves of a side: the empty squares that bracket at least one opposing disc.
    #[must_use]
    pub fn legal_moves(self, color: Color) -> Bitboard {
        let (own, opponent) = (self.discs[color], self.discs[color.opposite()]);
        Bitboard(moves_and_flips::moves(own.0, opponent.0))
    }

    /// 64 letters from a1, b1 to h8: `X` black, `O` white, `-` empty.
    #[must_use]
    pub fn letters(self) -> [u8; 64] {
        let mut letters = [b'-'; 64];
        for (color, letter) in [(Color::Black, b'X'), (Color::White, b'O')] {
            self.discs[color].iter().for_each(|square| letters[usize::from(square.index())] = letter);
        }
        letters
    }

    /// The discs that a side's move to `square` flips, on all bracketed lines. Does not check that the square is empty.
    #[must_use]
    pub fn flips(self, color: Color, square: Square) -> Bitboard {
        let (own, opponent) = (self.discs[color], self.discs[color.opposite()]);
        Bitboard(moves_and_flips::flips(own.0, opponent.0, square.index()))
    }

    /// The board after `color` placed a disc on the empty `square` and flipped the opponent's discs `flips`.
    pub(super) fn placed(self, color: Color, square: Square, flips: Bitboard) -> Self {
        let own = self.discs[color] ^ flips ^ Bitboard::of(square);
        let opponent = self.discs[color.opposite()] ^ flips;
        match color {
            Color::Black => Self::of_disjoint(own, opponent),
            Color::White => Self::of_disjoint(opponent, own),
        }
    }

    pub(super) const fn of_disjoint(black: Bitboard, white: Bitboard) -> Self {
        debug_assert!(black.0 & white.0 == 0);
        Self { discs: ByColor::new(black, white) }
    }
}

/// The letters of [`Board::letters`].
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.letters()).unwrap_or_default())
    }
}

/// Reads the format of `Display`, and also lower case, `*` for black and `.` for empty.
impl FromStr for Board {
    type Err = ParseBoardError;

    fn from_str(text: &str) -> Result<Self, ParseBoardError> {
        if text.len() != 64 {
            return Err(ParseBoardError::Length(text.len()));
        }
        let mut discs = ByColor::new(Bitboard::EMPTY, Bitboard::EMPTY);
        for (square, character) in Square::ALL.into_iter().zip(text.bytes()) {
            match character {
                b'X' | b'x' | b'*' => discs.black |= Bitboard::of(square),
                b'O' | b'o' => discs.white |= Bitboard::of(square),
                b'-' | b'.' => {}
                _ => return Err(ParseBoardError::Character(square)),
            }
        }
        Ok(Self { discs })
    }
}

/// A square has discs of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap;

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a square holds both a black and a white disc")
    }
}

impl std::error::Error for Overlap {}

/// The error of a text that is not a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseBoardError {
    /// The text has this many bytes, not 64.
    Length(usize),
    /// The character for this square is unknown.
    Character(Square),
}

impl fmt::Display for ParseBoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => write!(f, "a board is 64 characters, not {length}"),
            Self::Character(square) => {
                write!(f, "the character for {square} is not one of `X`, `O`, `-`")
            }
        }
    }
}

impl std::error::Error for ParseBoardError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START_TEXT: &str = "---------------------------OX------XO---------------------------";

    #[test]
    fn the_start_is_the_standard_one() {
        assert_eq!(Board::START.to_string(), START_TEXT);
        let color_at = |name: &str| Board::START.color_at(name.parse().unwrap());
        assert_eq!(color_at("d4"), Some(Color::White));
        assert_eq!(color_at("e5"), Some(Color::White));
        assert_eq!(color_at("e4"), Some(Color::Black));
        assert_eq!(color_at("d5"), Some(Color::Black));
        assert_eq!(color_at("a1"), None);
        assert_eq!(Board::START.empties().count(), 60);
        let moves = Board::START.legal_moves(Color::Black);
        assert_eq!(format!("{moves:?}"), "{d3, c4, f5, e6}");
    }

    #[test]
    fn a_move_flips_every_bracketed_line_and_no_other() {
        // Black brackets seven of the eight lines from d4: nothing of its own ends the one to the north.
        let board: Board =
            concat!("X-----X-", "-O-O-O--", "--OOO---", "XOO-OOOX", "--OOO---", "-O-O-O--", "X--X--X-", "-------X",)
                .parse()
                .unwrap();
        let flips = board.flips(Color::Black, "d4".parse().unwrap());
        assert_eq!(format!("{flips:?}"), "{b2, f2, c3, e3, b4, c4, e4, f4, g4, c5, d5, e5, b6, d6, f6}");
        assert!(board.flips(Color::White, "d4".parse().unwrap()).is_empty());
    }

    #[test]
    fn two_discs_on_a_square_are_refused() {
        assert_eq!(Board::new(Bitboard(3), Bitboard(2)), Err(Overlap));
        assert!(Board::new(Bitboard(1), Bitboard(2)).is_ok());
    }

    #[test]
    fn other_spellings_are_read_and_bad_ones_refused() {
        let lenient = START_TEXT.replace('X', "*").replace('O', "o").replace('-', ".");
        assert_eq!(lenient.parse(), Ok(Board::START));
        assert_eq!(START_TEXT.to_lowercase().parse(), Ok(Board::START));
        assert_eq!("".parse::<Board>(), Err(ParseBoardError::Length(0)));
        let long = format!("{START_TEXT}-");
        assert_eq!(long.parse::<Board>(), Err(ParseBoardError::Length(65)));
        let bad = START_TEXT.replacen('O', "0", 1);
        let d4 = "d4".parse().unwrap();
        assert_eq!(bad.parse::<Board>(), Err(ParseBoardError::Character(d4)));
        let wide = format!("é{}", &START_TEXT[2..]);
        assert!(matches!(wide.parse::<Board>(), Err(ParseBoardError::Character(_))));
    }

    proptest! {
        #[test]
        fn text_round_trips(black: u64, white: u64) {
            let board = Board::new(Bitboard(black & !white), Bitboard(white)).unwrap();
            prop_assert_eq!(board.to_string().parse(), Ok(board));
            prop_assert_eq!(board.count(Color::Black) + board.count(Color::White) + board.empties().count(), 64);
        }
    }
}
