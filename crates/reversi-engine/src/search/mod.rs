//! Game-tree search for any two-player game of turns and full information; Reversi is not known here.
//!
//! A game is an empty type that implements [`Game`]; what a position is worth is said by a [`Heuristic`].
//! Searchers never read a clock and never draw unseeded randomness: a [`Budget`] bounds them from outside, and a generator is passed in,
//! so one seed and one budget of depth or nodes give one answer on every machine.
//!
//! ```text
//!   state, budget, generator --> AlphaBeta (plain, or deepening with a cache) --> Found
//!                            \-> Uct (playout policy, reward) ----------------> Sampled
//!   minimax: the unpruned oracle that every variant of AlphaBeta must equal
//! ```
//!
//! Asked to stop, a searcher looks at the flag at every node or playout and answers with its best so far; even when it
//! was stopped before it began, it gives a legal move.
mod alpha_beta;
mod budget;
mod game;
mod minimax;
mod rng;
#[cfg(test)]
mod tic_tac_toe;
mod transposition;
mod uct;

pub use alpha_beta::{AlphaBeta, Found};
pub use budget::{Budget, EndedBy, Stop};
pub use game::{Ending, Game, Heuristic, MAX_VALUE, Player, WON};
pub use minimax::{Valued, minimax};
pub use rng::{below, pick};
pub use transposition::{Cache, NoCache, Searched, Transpositions, Window, WindowCache};
pub use uct::{Playout, RandomPlayout, Reward, Sampled, Uct, WinShare};
