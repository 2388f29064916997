//! Reversi as a game of the search layer.
use crate::rules::{Color, Position, Square};
use crate::search::{Ending, Game, Side};

/// The rules of Reversi as a [`Game`].
#[derive(Clone, Copy, Debug)]
pub enum Reversi {}

/// A move or a forced pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveOrPass {
    /// A disc is placed.
    Place(Square),
    /// The side to move has no move, but the other side has.
    Pass,
}

impl MoveOrPass {
    /// The square; `None` for a pass.
    #[must_use]
    pub const fn square(self) -> Option<Square> {
        match self {
            Self::Place(square) => Some(square),
            Self::Pass => None,
        }
    }
}

impl Game for Reversi {
    type State = Position;
    type Move = MoveOrPass;

    fn turn(position: &Position) -> Side {
        match position.turn() {
            Color::Black => Side::First,
            Color::White => Side::Second,
        }
    }

    fn moves(position: &Position, moves: &mut Vec<MoveOrPass>) {
        let squares = position.legal_moves();
        moves.extend(squares.iter().map(MoveOrPass::Place));
        if squares.is_empty() && position.must_pass() {
            moves.push(MoveOrPass::Pass);
        }
    }

    fn play(position: &Position, ply: MoveOrPass) -> Position {
        match ply {
            MoveOrPass::Place(square) => position.play_unchecked(square),
            MoveOrPass::Pass => position.pass_unchecked(),
        }
    }

    fn ending(position: &Position) -> Option<Ending> {
        let winner = position.outcome()?.winner;
        Some(match winner {
            Some(color) if color == position.turn() => Ending::Won,
            Some(_) => Ending::Lost,
            None => Ending::Drawn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(position: Position) -> Vec<MoveOrPass> {
        let mut moves = Vec::new();
        Reversi::moves(&position, &mut moves);
        moves
    }

    #[test]
    fn a_forced_pass_is_the_only_move() {
        assert_eq!(moves(Position::START).len(), 4);
        let text = format!("------OX{} O", "-".repeat(56));
        let blocked: Position = text.parse().unwrap();
        assert_eq!(moves(blocked), [MoveOrPass::Pass]);
        assert_eq!(Reversi::ending(&blocked), None);
        let passed = Reversi::play(&blocked, MoveOrPass::Pass);
        assert_eq!(Reversi::turn(&passed), Side::First);
    }

    #[test]
    fn an_ended_game_has_no_move_and_a_result_for_each_side() {
        let text = format!("XX-OOO{}", "-".repeat(58));
        for (turn, ending) in [("X", Ending::Lost), ("O", Ending::Won)] {
            let end: Position = format!("{text} {turn}").parse().unwrap();
            assert!(moves(end).is_empty());
            assert_eq!(Reversi::ending(&end), Some(ending));
        }
        let drawn: Position = format!("XX-OO{} X", "-".repeat(59)).parse().unwrap();
        assert_eq!(Reversi::ending(&drawn), Some(Ending::Drawn));
        assert_eq!(Reversi::ending(&Position::START), None);
    }
}
