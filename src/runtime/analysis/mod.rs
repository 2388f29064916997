//! Analyses of positions and games by the engine, on few threads of the lowest priority.

pub(crate) mod analyses;
pub(crate) mod analysis_pool;
