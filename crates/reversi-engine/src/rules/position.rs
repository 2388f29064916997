//! A board and the side to move.
use std::fmt;
use std::str::FromStr;

use super::{Bitboard, Board, Color, Outcome, ParseBoardError, Square};

/// A position of a game: everything that the rules depend on.
///
/// If the side to move has no legal move, it must pass ([`Position::after_forced_pass`]) or the game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    board: Board,
    turn: Color,
}

impl Position {
    /// The standard start, black to move.
    pub const START: Self = Self::new(Board::START, Color::Black);

    /// This board with this side to move.
    #[must_use]
    pub const fn new(board: Board, turn: Color) -> Self {
        Self { board, turn }
    }

    /// The discs.
    #[must_use]
    pub const fn board(self) -> Board {
        self.board
    }

    /// The side to move.
    #[must_use]
    pub const fn turn(self) -> Color {
        self.turn
    }

    /// The legal moves of the side to move.
    #[must_use]
    pub fn legal_moves(self) -> Bitboard {
        self.board.legal_moves(self.turn)
    }

    /// The position after a move, with the opponent to move, who may have to pass.
    ///
    /// # Errors
    /// [`IllegalMove`] if the square is taken or the move flips nothing.
    pub fn play(self, square: Square) -> Result<Self, IllegalMove> {
        let flips = self.board.flips(self.turn, square);
        if flips.is_empty() || !self.board.empties().contains(square) {
            return Err(IllegalMove { square, color: self.turn });
        }
        Ok(self.placed(square, flips))
    }

    /// Like [`Position::play`] for a `square` of [`Position::legal_moves`]. Any other square gives an unreachable
    /// position, and in debug builds a panic.
    #[must_use]
    pub fn play_unchecked(self, square: Square) -> Self {
        let flips = self.board.flips(self.turn, square);
        debug_assert!(self.board.empties().contains(square) && !flips.is_empty());
        self.placed(square, flips)
    }

    /// Whether the side to move has no move while the other side has one.
    #[must_use]
    pub fn must_pass(self) -> bool {
        self.legal_moves().is_empty() && !self.pass_unchecked().legal_moves().is_empty()
    }

    /// The position after a forced pass; `None` if none is forced.
    #[must_use]
    pub fn pass(self) -> Option<Self> {
        self.must_pass().then(|| self.pass_unchecked())
    }

    /// Like [`Position::pass`], without the check that the pass is forced.
    #[must_use]
    pub const fn pass_unchecked(self) -> Self {
        Self::new(self.board, self.turn.opposite())
    }

    /// Makes the forced pass, if any, and returns the side that passed. Then the side to move has a move, or the game
    /// is over.
    #[must_use]
    pub fn after_forced_pass(self) -> (Self, Option<Color>) {
        match self.pass() {
            Some(passed) => (passed, Some(self.turn)),
            None => (self, None),
        }
    }

    /// Whether neither side can move.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.legal_moves().is_empty() && self.pass_unchecked().legal_moves().is_empty()
    }

    /// The result, once the game is over.
    #[must_use]
    pub fn outcome(self) -> Option<Outcome> {
        self.is_over().then(|| Outcome::of(self.board))
    }

    fn placed(self, square: Square, flips: Bitboard) -> Self {
        Self::new(self.board.placed(self.turn, square, flips), self.turn.opposite())
    }
}

/// The board's 64 characters, a space, and the side to move: `X` or `O`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turn = match self.turn {
            Color::Black => 'X',
            Color::White => 'O',
        };
        write!(f, "{} {turn}", self.board)
    }
}

impl FromStr for Position {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let (board, turn) = text.split_once(' ').ok_or(ParsePositionError::Turn)?;
        let turn = match turn {
            "X" | "x" | "*" => Color::Black,
            "O" | "o" => Color::White,
            _ => return Err(ParsePositionError::Turn),
        };
        let board = board.parse().map_err(ParsePositionError::Board)?;
        Ok(Self::new(board, turn))
    }
}

/// The square is taken, or placing a disc there flips nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalMove {
    /// The square of the move.
    pub square: Square,
    /// The side that moved.
    pub color: Color,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may not move to {}", self.color, self.square)
    }
}

impl std::error::Error for IllegalMove {}

/// The error of a text that is not a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsePositionError {
    /// The part before the space is not a board.
    Board(ParseBoardError),
    /// There is no space followed by `X` or `O`.
    Turn,
}

impl fmt::Display for ParsePositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(error) => error.fmt(f),
            Self::Turn => f.write_str("a position ends in a space and the side to move, `X` or `O`"),
        }
    }
}

impl std::error::Error for ParsePositionError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::ByColor;

    fn square(name: &str) -> Square {
        name.parse().unwrap()
    }

    fn position(text: &str) -> Position {
        text.parse().unwrap()
    }

    #[test]
    fn a_position_is_small() {
        assert!(size_of::<Position>() <= 24);
    }

    #[test]
    fn a_move_places_and_flips_discs_and_changes_the_turn() {
        let after = Position::START.play(square("f5")).unwrap();
        assert_eq!(after.turn(), Color::White);
        assert_eq!(after.board().count(Color::Black), 4);
        assert_eq!(after.board().count(Color::White), 1);
        assert_eq!(format!("{:?}", after.legal_moves()), "{f4, d6, f6}");
    }

    #[test]
    fn every_square_but_the_legal_ones_is_refused() {
        for square in Square::ALL {
            let legal = Position::START.legal_moves().contains(square);
            assert_eq!(Position::START.play(square).is_ok(), legal, "{square}");
        }
        let taken = position("XOX------------------------------------------------------------- X");
        assert!(taken.play(square("a1")).is_err(), "a taken square that would bracket");
        let error = Position::START.play(square("a1")).unwrap_err();
        assert_eq!(error.to_string(), "black may not move to a1");
    }

    #[test]
    fn a_side_without_a_move_passes_and_only_then() {
        let blocked = position("------OX-------------------------------------------------------- O");
        assert!(blocked.must_pass() && !blocked.is_over());
        let (after_pass, passed) = blocked.after_forced_pass();
        assert_eq!(passed, Some(Color::White));
        assert_eq!(after_pass.turn(), Color::Black);
        assert_eq!(after_pass.after_forced_pass(), (after_pass, None));
        assert_eq!(Position::START.pass(), None);
    }

    #[test]
    fn the_game_ends_on_a_full_board_a_wiped_out_color_or_two_blocked_sides() {
        let full = format!("{}O X", "X".repeat(63));
        let wiped_out = format!("{}XX{} O", "-".repeat(30), "-".repeat(32));
        let blocked = format!("XX-OO{} X", "-".repeat(59));
        for (text, discs) in [(full, (63, 1)), (wiped_out, (2, 0)), (blocked, (2, 2))] {
            let end = position(&text);
            assert!(end.is_over() && !end.must_pass(), "{text}");
            assert_eq!(end.pass(), None);
            let outcome = end.outcome().unwrap();
            assert_eq!(outcome.discs, ByColor::new(discs.0, discs.1));
        }
        assert_eq!(Position::START.outcome(), None);
    }

    proptest! {
        #[test]
        fn a_random_game_keeps_the_invariants(choices in prop::collection::vec(any::<u8>(), 60)) {
            let mut position = Position::START;
            let mut placed = 0;
            for choice in choices {
                position = position.after_forced_pass().0;
                let moves: Vec<_> = position.legal_moves().into_iter().collect();
                prop_assert_eq!(moves.is_empty(), position.is_over());
                let Some(&square) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
                let after = position.play(square).unwrap();
                prop_assert_eq!(after, position.play_unchecked(square));
                prop_assert_eq!(after.turn(), position.turn().opposite());
                prop_assert!(after.board().count(position.turn()) > position.board().count(position.turn()) + 1);
                placed += 1;
                prop_assert_eq!(after.board().empties().count(), 60 - placed);
                prop_assert_eq!(after.to_string().parse(), Ok(after));
                position = after;
            }
        }
    }
}
