//! The positional player: minimax over the value of the last square taken, by a table that changes as the board fills.
use crate::rules::{Bitboard, Color, Position, Square};
use crate::search::{Ending, Game, Heuristic, Side};

use super::{MoveOrPass, Reversi};

/// [`Reversi`] with the last placed disc in the state, for [`LastSquare`].
#[derive(Clone, Copy, Debug)]
pub enum ReversiByPlacement {}

/// A position and the last placed disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// The position.
    pub position: Position,
    /// The side and square of the last disc; unchanged by a pass, `None` before the first disc.
    pub last: Option<(Color, Square)>,
}

impl Game for ReversiByPlacement {
    type State = Placed;
    type Move = MoveOrPass;

    fn turn(state: &Placed) -> Side {
        Reversi::turn(&state.position)
    }

    fn moves(state: &Placed, moves: &mut Vec<MoveOrPass>) {
        Reversi::moves(&state.position, moves);
    }

    fn play(state: &Placed, ply: MoveOrPass) -> Placed {
        let last = match ply {
            MoveOrPass::Place(square) => Some((state.position.turn(), square)),
            MoveOrPass::Pass => state.last,
        };
        Placed { position: Reversi::play(&state.position, ply), last }
    }

    fn ending(state: &Placed) -> Option<Ending> {
        Reversi::ending(&state.position)
    }
}

/// The value of the last square taken, for the side that took it; also of a finished game, as the source gives no other
/// score.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastSquare;

impl Heuristic<ReversiByPlacement> for LastSquare {
    fn value(&self, state: &Placed) -> i32 {
        let Some((color, square)) = state.last else {
            return 0;
        };
        let worth = worth(state.position, color, square);
        if color == state.position.turn() { worth } else { -worth }
    }

    fn ended(&self, state: &Placed, _ending: Ending) -> i32 {
        self.value(state)
    }
}

/// Orthogonal neighbours of the corners.
const C_SQUARES: Bitboard = Bitboard(0x4281_0000_0000_8142);
/// Diagonal neighbours of the corners.
const X_SQUARES: Bitboard = Bitboard(0x0042_0000_0000_4200);
/// The ring inside the edge.
const NEXT_TO_EDGE: Bitboard = Bitboard(0x007E_4242_4242_7E00);
/// The 4x4 in the middle.
const CENTRAL_BOX: Bitboard = Bitboard(0x0000_3C3C_3C3C_0000);

/// The value of `square` for `color`, which has just taken it in `position`.
fn worth(position: Position, color: Color, square: Square) -> i32 {
    let discs = i32::from(position.board().count(color));
    let filled = 64 - position.board().empties().count();
    let placements = filled - 4;
    if Bitboard::CORNERS.contains(square) {
        64
    } else if X_SQUARES.contains(square) {
        1
    } else if C_SQUARES.contains(square) {
        2
    } else if NEXT_TO_EDGE.contains(square) {
        3
    } else if placements <= 12 && CENTRAL_BOX.contains(square) {
        discs + 4
    } else if filled < 32 {
        60 - discs
    } else {
        discs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(name: &str) -> Square {
        name.parse().unwrap()
    }

    fn after(moves: &str) -> Placed {
        let start = Placed { position: Position::START, last: None };
        let transcript: crate::rules::Transcript = moves.parse().unwrap();
        transcript
            .squares()
            .iter()
            .fold(start, |state, &square| ReversiByPlacement::play(&state, MoveOrPass::Place(square)))
    }

    /// A board of `filled` discs of which black has `black`, all of them anywhere.
    fn board(black: u32, filled: u32) -> Position {
        let low = |count: u32| {
            if count == 64 { u64::MAX } else { (1 << count) - 1 }
        };
        let board = crate::rules::Board::new(Bitboard(low(black)), Bitboard(low(filled) & !low(black)));
        Position::new(board.unwrap(), Color::White)
    }

    #[test]
    fn the_table_is_as_documented() {
        let worth = |black, filled, name: &str| worth(board(black, filled), Color::Black, square(name));
        for filled in [5, 16, 17, 31, 32, 64] {
            assert_eq!(worth(5, filled, "a1"), 64);
            assert_eq!(worth(5, filled, "h8"), 64);
            assert_eq!(worth(5, filled, "g7"), 1, "X");
            assert_eq!(worth(5, filled, "b2"), 1, "X");
            assert_eq!(worth(5, filled, "b1"), 2, "C");
            assert_eq!(worth(5, filled, "h7"), 2, "C");
            assert_eq!(worth(5, filled, "c2"), 3, "next to an edge");
            assert_eq!(worth(5, filled, "g5"), 3, "next to an edge");
        }
        assert_eq!(worth(5, 16, "c3"), 9, "the 12th placement, in the box: s + 4");
        assert_eq!(worth(5, 17, "c3"), 55, "the 13th, in the box: 60 - s");
        assert_eq!(worth(5, 16, "a4"), 55, "the 12th, on the edge: 60 - s");
        assert_eq!(worth(5, 31, "f6"), 55, "fewer than half are filled");
        assert_eq!(worth(5, 32, "f6"), 5, "half are filled: s");
        assert_eq!(worth(20, 60, "e1"), 20);
    }

    #[test]
    fn the_side_that_took_the_square_gains() {
        let state = after("f5");
        assert_eq!(state.last, Some((Color::Black, square("f5"))));
        assert_eq!(LastSquare.value(&state), -(4 + 4), "white is to move, black has four discs");
        let passed = ReversiByPlacement::play(&state, MoveOrPass::Pass);
        assert_eq!(passed.last, state.last);
        assert_eq!(LastSquare.value(&passed), 4 + 4, "after the pass the side that took the square is to move");
    }
}
