//! Commands for developers: training, openings, and matches between engines.

pub(super) mod arena;
pub(super) mod openings;
pub(super) mod train;
