//! Computer players: laws, strength, and the positions that the engine must solve.

mod engine;
mod laws;
mod strength;
