//! The engine: how a program finds good moves by looking far ahead.
//!
//! ```text
//!   Position + Limits + Stop --> Engine --> Report (and one for each depth on the way)
//!                                  |
//!             schedule: deeper and deeper, then to the end, surer and surer (limits)
//!                                  |
//!              principal variation search (midgame), with cuts by probability (cut)
//!               |                  |                     |                  |
//!         order of moves      Table of what       evaluation: patterns   endgame: exact
//!           (moves)           was met (table)      and their weights     solving (endgame,
//!                                                                         last, stability)
//! ```
//!
//! Nothing here reads a clock or draws chance: with one thread, a position and its limits have one answer on every
//! machine. Values are for the side to move, in discs of the final difference, empty squares counted for the winner.
//! Each mechanism has its own file, with the source of what it does. How the weights were made is in `README.md` beside
//! this file.
mod board;
mod clock;
mod cpu;
mod endgame;
#[expect(clippy::module_inception, reason = "the folder is the engine with its parts, the file what drives them")]
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
pub mod train;
mod transposition;
mod weights;

pub use clock::Plan;
pub use engine::{Engine, Report};
pub use limits::{Certainty, END_JUMP, Goal, Limits};
pub use pool::{Engines, TABLE_BYTES, with_engine};
pub use weights::{BadWeights, Weights};
