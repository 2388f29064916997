//! The threads that search for the moves of AI seats.

pub(crate) mod pool;
pub(crate) mod queue;
