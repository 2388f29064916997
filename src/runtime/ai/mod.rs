//! AI moves and analyses, on threads of their own.

pub(crate) mod analysis;
pub(crate) mod analysis_pool;
pub(crate) mod pool;
pub(crate) mod queue;
