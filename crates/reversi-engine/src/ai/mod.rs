//! The computer players.
//!
//! A player is a kind and a level. It chooses a move from a position, a seed and a stop flag. Depth and playouts, not
//! time, bound it, so that one seed gives one move on every machine; a caller with a clock stops it by the flag.
//!
//! ```text
//!   AiKind + level --> AiPlayer --choose(position, seed, stop)--> Choice
//!                                   |         |          |               |
//!                        random, greedy,  positional,  mcts, mcts-roxanne   expert
//!                            roxanne      alphabeta                        ([`engine`])
//!                          (no search)   (search::      (search::Uct)
//!                                        AlphaBeta)
//! ```
//!
//! [`analysis`] evaluates positions and finished games with the engine.
mod alphabeta;
pub mod analysis;
pub mod engine;
mod expert;
mod greedy;
mod kind;
mod mcts;
mod player;
mod positional;
mod profile;
mod reversi;
mod rng;
mod roxanne;

pub use alphabeta::Orange;
pub use expert::Level;
pub use kind::{AiKind, UnknownAi};
pub use mcts::{DiscDifference, RandomGame, RoxanneGame};
pub use player::{AiPlayer, Choice, UnknownLevel, cheap_move};
pub use positional::{LastSquare, Placed, ReversiByPlacement};
pub use profile::{Elo, Profile, Unit};
pub use reversi::{MoveOrPass, Reversi};
pub use rng::seeded_rng;
