//! Commands for developers: training, openings, matches between engines, and load tests.

pub(super) mod arena;
pub(super) mod bench;
pub(super) mod openings;
pub(super) mod train;
