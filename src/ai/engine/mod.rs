//! The engine.
mod board;
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
mod searcher;
mod stability;
mod table;
#[cfg(test)]
mod tests;
pub mod train;
mod weights;

pub use engine::{Certainty, Engine, Goal, Limits, Report};
pub use weights::{BadWeights, Weights};
pub use table::Table;
pub mod scratch;
