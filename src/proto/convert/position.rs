//! Squares and positions.

use super::{Malformed, WireEnum as _};
use crate::{
    proto::v1,
    rules::{Bitboard, Color, Position, Square},
};

/// A position, for the wire; without a side to move only if neither side can move.
#[must_use]
pub fn position(position: Position) -> v1::Position {
    if position.is_over() {
        return final_position(position);
    }
    let legal = position.legal_moves();
    v1::Position {
        side_to_move: position.turn().wire().into(),
        legal_moves: squares(legal),
        flips: legal.iter().map(|square| position.board().flips(position.turn(), square).0).collect(),
        ..final_position(position)
    }
}

/// The last position of a game, for the wire: without a side to move, even if there are legal moves.
#[must_use]
pub fn final_position(position: Position) -> v1::Position {
    let board = position.board();
    v1::Position {
        board: board.to_string(),
        black: board.discs(Color::Black).0,
        white: board.discs(Color::White).0,
        side_to_move: v1::Side::Unspecified.into(),
        legal_moves: Vec::new(),
        flips: Vec::new(),
        black_discs: board.count(Color::Black).into(),
        white_discs: board.count(Color::White).into(),
    }
}

/// The names of squares, in the order of the board.
#[must_use]
pub fn squares(set: Bitboard) -> Vec<String> {
    set.iter().map(|square| square.name().to_owned()).collect()
}

/// A square by its name, in either case.
///
/// # Errors
/// `BAD_SQUARE` for the field `square`.
pub fn read_square(text: &str) -> Result<Square, Malformed> {
    text.parse()
        .map_err(|_| Malformed::new(Malformed::BAD_SQUARE, "square", "must be a letter a-h and a digit 1-8, as \"d3\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::Board;

    fn agree(wire: &v1::Position) {
        let from_text: Board = wire.board.parse().unwrap();
        assert_eq!(Board::new(Bitboard(wire.black), Bitboard(wire.white)), Ok(from_text));
        assert_eq!(wire.black_discs, wire.black.count_ones() as i32);
        assert_eq!(wire.white_discs, wire.white.count_ones() as i32);
        let turn = match wire.side_to_move() {
            v1::Side::Black => Color::Black,
            v1::Side::White => Color::White,
            v1::Side::Unspecified => return assert!(wire.legal_moves.is_empty()),
        };
        let legal: Bitboard = wire.legal_moves.iter().map(|name| read_square(name).unwrap()).collect();
        assert_eq!(legal, from_text.legal_moves(turn));
    }

    proptest! {
        #[test]
        fn all_forms_of_a_position_agree(black: u64, white: u64, blacks_turn: bool) {
            let board = Board::new(Bitboard(black & !white), Bitboard(white)).unwrap();
            let turn = if blacks_turn { Color::Black } else { Color::White };
            let there = Position::new(board, turn);
            agree(&position(there));
            agree(&final_position(there));
            prop_assert_eq!(position(there).side_to_move() == v1::Side::Unspecified, there.is_over());
        }

        #[test]
        fn any_text_is_read_as_a_square_without_panic(text in ".{0,4}") {
            if let Err(error) = read_square(&text) {
                prop_assert_eq!(error.reason, Malformed::BAD_SQUARE);
            }
        }
    }

    #[test]
    fn the_start_is_written_as_documented() {
        let wire = position(Position::START);
        assert_eq!(wire.board, format!("{}OX------XO{}", "-".repeat(27), "-".repeat(27)));
        assert_eq!(wire.legal_moves, ["d3", "c4", "f5", "e6"]);
        assert_eq!(wire.side_to_move(), v1::Side::Black);
        assert_eq!(read_square("D3"), read_square("d3"));
    }
}
