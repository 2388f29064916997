//! The positions of running rated games. The server gives no help with them: it rejects their analysis, and the
//! AI seats of unrated rooms wait.
//!
//! A position after the first [`BOOK_PLIES`] plies counts if it is on the board, was there one ply before, or can be
//! reached within [`AHEAD`] plies. Further ahead, help with one move would take about a thousand questions. A position
//! also counts when it is rotated, reflected, with exchanged colors, with the other side to move, or with up to
//! [`FLIPPED`] discs of the other color; with more, its best moves tell little about the game. AI seats of rated games
//! do not wait. Otherwise a player could stop such a game by copying it, and a player who asks an AI in this way risks
//! a rating.

use dashmap::DashMap;

use crate::{
    room::{Room, RoomId},
    rules::{Board, Color, Position, Symmetry},
};

/// Positions up to this ply are in opening books and common to many games, so they may be searched.
const BOOK_PLIES: u8 = 12;
const DISCS_AT_START: u8 = 4;
/// Number of plies after the current position that count, too.
const AHEAD: u8 = 2;
/// Maximum number of discs of the other color with which a position still counts.
const FLIPPED: u8 = 2;

/// Positions that are to be searched, without those in opening books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchedPositions(Vec<Board>);

impl FromIterator<Position> for SearchedPositions {
    fn from_iter<T: IntoIterator<Item = Position>>(positions: T) -> Self {
        let boards = positions.into_iter().map(|position| position.board());
        Self(boards.filter(|board| discs(*board) > DISCS_AT_START + BOOK_PLIES).collect())
    }
}

/// Of each running rated game, also in private rooms: its position, the one before it, and those that may follow.
#[derive(Debug, Default)]
pub(super) struct RatedPositions(DashMap<RoomId, GamePositions>);

#[derive(Debug)]
struct GamePositions {
    now: Board,
    /// The current, the previous and the following positions.
    boards: Vec<Board>,
}

impl RatedPositions {
    /// Records the position of the room's running rated game, or removes it if there is none. Sets `known` to whether
    /// the room has an entry now.
    pub(super) fn update(&self, room: &Room, known: &mut bool) {
        match room.running().filter(|_| room.settings().rated) {
            Some(game) => {
                let before = self.0.get(&room.id()).map(|positions| positions.now);
                if before != Some(game.position.board()) {
                    self.0.insert(room.id(), GamePositions::of(game.position, before));
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
        let searched: Vec<_> = searched.0.iter().map(|board| images(*board)).collect();
        !searched.is_empty() && self.0.iter().any(|positions| searched.iter().any(|images| positions.contain(images)))
    }
}

impl GamePositions {
    fn of(position: Position, before: Option<Board>) -> Self {
        let (mut boards, mut last) = (Vec::from_iter(before), vec![position]);
        boards.push(position.board());
        for _ in 0..AHEAD {
            let follows = |position: Position| {
                let (position, _) = position.after_forced_pass();
                position.legal_moves().iter().map(move |square| position.play_unchecked(square))
            };
            last = last.into_iter().flat_map(follows).collect();
            boards.extend(last.iter().map(|position| position.board()));
        }
        Self { now: position.board(), boards }
    }

    /// True if one of the game's positions is like one of these images.
    fn contain(&self, images: &Images) -> bool {
        let (now, asked) = (discs(self.now), discs(images[0]));
        // Most games are in another phase: a cheap check before the comparison.
        (now.saturating_sub(1)..=now + AHEAD).contains(&asked) && self.boards.iter().any(|own| are_alike(*own, images))
    }
}

/// A board in all symmetries, computed once and then compared with many games.
type Images = [Board; Symmetry::ALL.len()];

fn images(board: Board) -> Images {
    Symmetry::ALL.map(|symmetry| symmetry.board(board))
}

fn discs(board: Board) -> u8 {
    board.count(Color::Black) + board.count(Color::White)
}

/// True if a board equals one of the images, except for exchanged colors and at most [`FLIPPED`] discs.
fn are_alike(one: Board, images: &Images) -> bool {
    images.iter().filter(|image| one.empties() == image.empties()).any(|image| {
        let unlike = (one.discs(Color::Black) ^ image.discs(Color::Black)).count();
        unlike.min(discs(one) - unlike) <= FLIPPED
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Transcript;

    /// Beyond the book.
    fn game() -> Position {
        "f5d6c3d3c4f4f6f3e6e7d7c5b6".parse::<Transcript>().unwrap().position()
    }

    fn holds(rated: &GamePositions, position: Position) -> bool {
        SearchedPositions::from_iter([position]).0.iter().any(|board| rated.contain(&images(*board)))
    }

    fn first(position: Position) -> Position {
        position.play(position.legal_moves().first().unwrap()).unwrap()
    }

    /// With this many discs of the other color.
    fn flipped(position: Position, discs: usize) -> Position {
        let board = position.board();
        let turned = board.discs(Color::Black).iter().take(discs).collect();
        let [black, white] = [board.discs(Color::Black) ^ turned, board.discs(Color::White) | turned];
        Position::new(Board::new(black, white).unwrap(), position.turn())
    }

    #[test]
    fn images_of_a_position_are_one_position_beyond_the_book() {
        let rated = GamePositions::of(game(), None);
        for symmetry in Symmetry::ALL {
            let board = symmetry.board(game().board());
            for turn in Color::ALL {
                assert!(
                    holds(&rated, Position::new(board, turn)) && holds(&rated, Position::new(board.swapped(), turn))
                );
            }
        }
        let before = "f5d6c3d3c4f4f6f3e6e7d7c5".parse::<Transcript>().unwrap().position();
        assert!(!holds(&GamePositions::of(before, None), before), "in the book");
        assert!(holds(&GamePositions::of(before, None), game()), "a ply ahead, beyond the book");
    }

    #[test]
    fn positions_near_a_rated_game_are_its_own_and_others_are_not() {
        let rated = GamePositions::of(first(game()), Some(game().board()));
        assert!(holds(&rated, game()), "a ply before");
        let mut ahead = first(game());
        for plies in 0..=3 {
            assert_eq!(holds(&rated, ahead), plies <= AHEAD, "{plies} plies ahead");
            assert_eq!(holds(&rated, flipped(ahead, 1)), plies <= AHEAD, "{plies} plies ahead, a disc flipped");
            ahead = first(ahead);
        }
        assert!(holds(&rated, flipped(game(), 2)) && !holds(&rated, flipped(game(), 3)));
        let before = "f5d6c3d3c4f4f6f3e6e7d7c5".parse::<Transcript>().unwrap().position();
        let others = before.legal_moves().iter().map(|square| before.play(square).unwrap());
        assert!(
            others.filter(|other| *other != game()).all(|other| !holds(&rated, other)),
            "other moves than the game's"
        );
    }
}
