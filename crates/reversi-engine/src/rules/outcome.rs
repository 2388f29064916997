//! The result of a finished game.
use super::{Board, ByColor, Color};

/// The result of a game in which neither side can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The side with more discs; `None` is a draw.
    pub winner: Option<Color>,
    /// The discs on the board.
    pub discs: ByColor<u8>,
}

impl Outcome {
    /// The outcome of a game that ends with this board.
    #[must_use]
    pub fn of(board: Board) -> Self {
        let discs = ByColor::from_fn(|color| board.count(color));
        let winner = match discs.black.cmp(&discs.white) {
            std::cmp::Ordering::Less => Some(Color::White),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Color::Black),
        };
        Self { winner, discs }
    }

    /// The official score, with empty squares counted for the winner; a draw is 32-32. The sum is always 64.
    #[must_use]
    pub fn official(self) -> ByColor<u8> {
        match self.winner {
            Some(Color::Black) => ByColor::new(64 - self.discs.white, self.discs.white),
            Some(Color::White) => ByColor::new(self.discs.black, 64 - self.discs.black),
            None => ByColor::new(32, 32),
        }
    }

    /// Black's minus white's official score, -64 to 64.
    #[must_use]
    pub fn difference(self) -> i8 {
        let official = self.official();
        official.black as i8 - official.white as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Bitboard;

    fn outcome(black: u64, white: u64) -> Outcome {
        Outcome::of(Board::new(Bitboard(black), Bitboard(white)).unwrap())
    }

    #[test]
    fn empties_go_to_the_winner() {
        let black = outcome(0b0111, 0b1000);
        assert_eq!(black.winner, Some(Color::Black));
        assert_eq!(black.discs, ByColor::new(3, 1));
        assert_eq!(black.official(), ByColor::new(63, 1));
        assert_eq!(black.difference(), 62);
        let white = outcome(0, 0b1000);
        assert_eq!(white.winner, Some(Color::White));
        assert_eq!(white.official(), ByColor::new(0, 64));
        assert_eq!(white.difference(), -64);
    }

    #[test]
    fn a_draw_splits_the_empties() {
        let draw = outcome(0b0011, 0b1100);
        assert_eq!(draw.winner, None);
        assert_eq!(draw.discs, ByColor::new(2, 2));
        assert_eq!(draw.official(), ByColor::new(32, 32));
        assert_eq!(draw.difference(), 0);
    }
}
