//! The positions of running rated games. Requests to analyse them are rejected.

use std::collections::HashSet;

use dashmap::DashMap;

use crate::{
    room::{Room, RoomId},
    rules::{Board, Color, Position, Symmetry},
};

/// Positions up to this ply are in opening books and common to many games, and so free to analyse.
const BOOK_PLIES: u8 = 12;
const DISCS_AT_START: u8 = 4;

/// Positions that are to be analysed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchedPositions(HashSet<Board>);

impl FromIterator<Position> for SearchedPositions {
    fn from_iter<T: IntoIterator<Item = Position>>(positions: T) -> Self {
        Self(positions.into_iter().filter_map(beyond_book).collect())
    }
}

/// Of each running rated game, also in private rooms: the position, the one before it, and those after each legal move.
#[derive(Debug, Default)]
pub(super) struct RatedPositions(DashMap<RoomId, GamePositions>);

/// The positions of one game, without those of opening books.
#[derive(Debug, Default)]
struct GamePositions {
    now: Option<Board>,
    /// Before the last move: its best moves may be those of the game.
    before: Option<Board>,
    /// After each legal move.
    after: Vec<Board>,
}

impl RatedPositions {
    /// Takes the position of the room's rated game, if one runs; `known` says whether it may have one by now.
    pub(super) fn update(&self, room: &Room, known: &mut bool) {
        match room.running().filter(|_| room.settings().rated) {
            Some(game) => {
                let now = beyond_book(game.position);
                let mut known_positions = self.0.entry(room.id()).or_default();
                if now.is_none() || known_positions.now != now {
                    let legal = game.position.legal_moves().iter();
                    let after = legal.filter_map(|square| beyond_book(game.position.play_unchecked(square))).collect();
                    *known_positions = GamePositions { now, before: known_positions.now, after };
                }
                *known = true;
            }
            None => self.remove(room.id(), known),
        }
    }

    pub(super) fn remove(&self, room: RoomId, known: &mut bool) {
        if std::mem::take(known) {
            self.0.remove(&room);
        }
    }

    pub(super) fn contains_any(&self, searched: &SearchedPositions) -> bool {
        !searched.0.is_empty()
            && self.0.iter().any(|positions| {
                let GamePositions { now, before, after } = &*positions;
                now.iter().chain(before).chain(after).any(|board| searched.0.contains(board))
            })
    }
}

/// The canonical image of a position, with the discs of the side to move as black's: equal for positions with the same
/// best moves. None for positions of opening books.
fn beyond_book(position: Position) -> Option<Board> {
    let (position, _) = position.after_forced_pass();
    let board = position.board();
    if board.count(Color::Black) + board.count(Color::White) <= DISCS_AT_START + BOOK_PLIES {
        return None;
    }
    Some(Symmetry::normal(match position.turn() {
        Color::Black => board,
        Color::White => board.swapped(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Transcript;

    #[test]
    fn images_of_a_position_are_one_position_beyond_the_book() {
        let moves = "f5d6c3d3c4f4f6f3e6e7d7c5b6";
        let position = moves.parse::<Transcript>().unwrap().position();
        let normal = beyond_book(position).unwrap();
        for symmetry in Symmetry::ALL {
            let board = symmetry.board(position.board());
            assert_eq!(beyond_book(Position::new(board, position.turn())), Some(normal));
            assert_eq!(beyond_book(Position::new(board.swapped(), position.turn().opposite())), Some(normal));
            assert_ne!(beyond_book(Position::new(board, position.turn().opposite())), Some(normal));
        }
        let before = moves[..24].parse::<Transcript>().unwrap().position();
        assert_eq!(beyond_book(before), None);
    }
}
