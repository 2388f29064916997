//! What a searcher must know of a game.
use std::fmt::Debug;
use std::hash::Hash;

/// The rules of a two-player game in which the sides take turns at every move; a pass, where a game has it, is a move.
///
/// It is implemented on an empty type, so that the rules themselves need not know of search.
pub trait Game {
    /// A position with the side to move. Equal states have equal futures.
    type State: Copy + Eq + Hash + Debug;
    /// A move of the side to move.
    type Move: Copy + Eq + Debug;

    /// Whose turn it is.
    fn turn(state: &Self::State) -> Player;

    /// Appends the legal moves. It appends none exactly when the game has ended.
    fn moves(state: &Self::State, moves: &mut Vec<Self::Move>);

    /// The state after a legal move, with the other side to move.
    fn play(state: &Self::State, action: Self::Move) -> Self::State;

    /// How the game ended, if it did.
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
    /// Nobody has.
    Drawn,
    /// The side to move has lost.
    Lost,
}

/// The value of a won game where a heuristic does not say otherwise.
pub const WON: i32 = 1_000_000;

/// No value is greater, and none is less than its negative.
pub const MAX_VALUE: i32 = i32::MAX / 2;

/// What a state is worth, in any unit, between minus and plus [`MAX_VALUE`].
pub trait Heuristic<G: Game> {
    /// The estimate for the side to move where the search goes no deeper and the game has not ended.
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
