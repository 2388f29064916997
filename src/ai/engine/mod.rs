//! The engine.
mod board;
mod clock;
mod cpu;
mod cut;
mod endgame;
mod engine;
mod evaluation;
mod lanes;
mod last;
mod midgame;
mod moves;
mod pattern;
mod pool;
mod searcher;
mod stability;
mod table;
#[cfg(test)]
mod tests;
pub mod train;
mod weights;

pub use clock::Plan;
pub use engine::{Certainty, Engine, Goal, Limits, Report};
pub use weights::{BadWeights, Weights};
pub use pool::{TABLE_BYTES, with_engine};
pub mod scratch;
