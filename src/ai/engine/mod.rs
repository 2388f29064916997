//! The engine.
mod board;
mod cpu;
mod endgame;
mod lanes;
mod last;
mod moves;
mod searcher;
mod stability;
mod table;

pub use table::Table;
pub mod scratch;
