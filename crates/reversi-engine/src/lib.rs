//! The rules of Reversi, game-tree search, and computer players.
//!
//! ```text
//!      ai         players that choose a move
//!     /  \
//!  rules  search  Reversi itself; search over any two-player game
//!
//!  match_statistics  the difference in strength of two players, from paired games
//! ```

#[cfg(feature = "ai")]
pub mod ai;
pub mod match_statistics;
pub mod rules;
#[cfg(feature = "ai")]
pub mod search;
