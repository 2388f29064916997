//! Reversi as a game of the search layer.
use crate::rules::{Color, Position, Square};
use crate::search::{Ending, Game, Player};

/// The rules of Reversi as a [`Game`].
#[derive(Clone, Copy, Debug)]
pub enum Reversi {}

/// A move or a forced pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ply {
    /// A disc is placed.
    Place(Square),
    /// The side to move has no move, but the other side has.
    Pass,
}

impl Ply {
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
    type Move = Ply;

    fn turn(position: &Position) -> Player {
        match position.turn() {
            Color::Black => Player::First,
            Color::White => Player::Second,
        }
    }

    fn moves(position: &Position, moves: &mut Vec<Ply>) {
        let squares = position.legal_moves();
        moves.extend(squares.iter().map(Ply::Place));
        if squares.is_empty() && position.must_pass() {
            moves.push(Ply::Pass);
        }
    }

    fn play(position: &Position, ply: Ply) -> Position {
        match ply {
            Ply::Place(square) => position.play_unchecked(square),
            Ply::Pass => position.pass_unchecked(),
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

    fn moves(position: Position) -> Vec<Ply> {
        let mut moves = Vec::new();
        Reversi::moves(&position, &mut moves);
        moves
    }

    #[test]
    fn a_forced_pass_is_the_only_move() {
        assert_eq!(moves(Position::START).len(), 4);
        let text = format!("------OX{} O", "-".repeat(56));
        let blocked: Position = text.parse().unwrap();
        assert_eq!(moves(blocked), [Ply::Pass]);
        assert_eq!(Reversi::ending(&blocked), None);
        let passed = Reversi::play(&blocked, Ply::Pass);
        assert_eq!(Reversi::turn(&passed), Player::First);
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
