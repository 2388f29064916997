//! The games that searchers can search.
use std::fmt::Debug;
use std::hash::Hash;

/// The rules of a two-player game in which the sides take turns at every move; a pass, where a game has it, is a move.
///
/// It is implemented on an empty type, so that the rules do not depend on search.
pub trait Game {
    /// A position with the side to move. Equal states have equal futures.
    type State: Copy + Eq + Hash + Debug;
    /// A move of the side to move.
    type Move: Copy + Eq + Debug;

    /// The side to move.
    fn turn(state: &Self::State) -> Player;

    /// Appends the legal moves. It appends none exactly when the game has ended.
    fn moves(state: &Self::State, moves: &mut Vec<Self::Move>);

    /// The state after a legal move, with the other side to move.
    fn play(state: &Self::State, action: Self::Move) -> Self::State;

    /// The result, once the game has ended.
    fn ending(state: &Self::State) -> Option<Ending>;
}

/// A side of any game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// The one that moves first.
    First,
    /// The other one.
    Second,
}

/// The result of a game for the side that would be to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move has won.
    Won,
    /// A draw.
    Drawn,
    /// The side to move has lost.
    Lost,
}

/// The default value of a won game.
pub const WON: i32 = 1_000_000;

/// The greatest value; the least is its negative.
pub const MAX_VALUE: i32 = i32::MAX / 2;

/// The evaluation of states, in any unit, from minus to plus [`MAX_VALUE`].
pub trait Heuristic<G: Game> {
    /// The estimate for the side to move at the horizon, where the game has not ended.
    fn value(&self, state: &G::State) -> i32;

    /// The value for the side to move of an ended game.
    fn ended(&self, _state: &G::State, ending: Ending) -> i32 {
        match ending {
            Ending::Won => WON,
            Ending::Drawn => 0,
            Ending::Lost => -WON,
        }
    }
}
