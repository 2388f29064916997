//! The engine: principal variation search with a learned evaluation and exact endgames.
//!
//! ```text
//!   Position + Limits + Stop --> Engine --> Report (and one for each depth on the way)
//!                                  |
//!             schedule: increasing depth, then to the end, increasing certainty (limits)
//!                                  |
//!              principal variation search (midgame), selective by ProbCut (probcut)
//!               |                  |                     |                  |
//!         order of moves     transposition table  evaluation: patterns   endgame: exact
//!           (moves)            (transposition)     and their weights     solving (endgame,
//!                                                                        last_four, stability)
//! ```
//!
//! Nothing here reads a clock or draws random numbers: with one thread, a position and its limits have one result on
//! every machine. Values are the final difference in discs for the side to move, with empty squares counted for the
//! winner. Each mechanism has its own file, which names its source. `README.md` here describes how the weights were
//! made.
mod board;
mod cpu;
mod endgame;
#[expect(clippy::module_inception, reason = "the folder has the engine's parts, the file uses them")]
mod engine;
mod evaluation;
mod last_four;
mod limits;
mod line_masks;
mod midgame;
mod moves;
mod pattern;
mod pool;
mod probcut;
mod searcher;
mod stability;
#[cfg(test)]
mod tests;
mod time_plan;
pub mod train;
mod transposition;
mod weights;

pub use engine::{Engine, Report};
pub use limits::{Certainty, END_JUMP, Goal, Limits};
pub use pool::{Engines, TABLE_BYTES, with_engine};
pub use time_plan::Plan;
pub use weights::{BadWeights, Weights};
