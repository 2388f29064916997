//! The interface of games for the searchers.
use std::fmt::Debug;
use std::hash::Hash;

/// The rules of a two-player game in which the sides alternate at every move; a pass is a move.
///
/// It is implemented for an empty type, so that the rules do not depend on search.
pub trait Game {
    /// A position with the side to move. Equal states have equal futures.
    type State: Copy + Eq + Hash + Debug;
    /// A move of the side to move.
    type Move: Copy + Eq + Debug;

    /// The side to move.
    fn turn(state: &Self::State) -> Side;

    /// Appends the legal moves; none if and only if the game has ended.
    fn moves(state: &Self::State, moves: &mut Vec<Self::Move>);

    /// The state after a legal move, with the other side to move.
    fn play(state: &Self::State, action: Self::Move) -> Self::State;

    /// The result, if the game has ended.
    fn ending(state: &Self::State) -> Option<Ending>;
}

/// A side of any game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that moves first.
    First,
    /// The other side.
    Second,
}

/// The result of a game for the side to move at its end.
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

/// The maximum value; the minimum is its negative.
pub const MAX_VALUE: i32 = i32::MAX / 2;

/// The evaluation of states, in any unit, from minus to plus [`MAX_VALUE`].
pub trait Heuristic<G: Game> {
    /// The estimate for the side to move in a game that has not ended.
    fn value(&self, state: &G::State) -> i32;

    /// The value of an ended game for the side to move.
    fn ended(&self, _state: &G::State, ending: Ending) -> i32 {
        match ending {
            Ending::Won => WON,
            Ending::Drawn => 0,
            Ending::Lost => -WON,
        }
    }
}
