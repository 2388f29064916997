//! Game-tree search for any two-player game of alternating turns and full information; nothing here depends on Reversi.
//!
//! A game is an empty type that implements [`Game`]; a [`Heuristic`] evaluates its positions. Searchers never read a
//! clock or draw unseeded random numbers: with the same [`Budget`] of depth or nodes and the same generator, the result
//! is the same on every machine.
//!
//! ```text
//!   state, budget, generator --> AlphaBeta (plain, or deepening with a cache) --> Found
//!                            \-> Uct (playout policy, reward) ----------------> Sampled
//!   minimax: the unpruned reference that every variant of AlphaBeta must equal
//! ```
//!
//! A searcher checks the stop flag at every node or playout and returns its best move so far; a legal one even if
//! stopped before its start.
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
pub use game::{Ending, Game, Heuristic, MAX_VALUE, Side, WON};
pub use minimax::{Valued, minimax};
pub use rng::{below, pick};
pub use transposition::{Cache, NoCache, Searched, Transpositions, Window, WindowCache};
pub use uct::{Playout, RandomPlayout, Reward, Sampled, Uct, WinShare};
