//! Commands for who develops the engine or the server: training, openings, matches between engines, and load tests.

pub(super) mod arena;
pub(super) mod bench;
pub(super) mod openings;
pub(super) mod train;
