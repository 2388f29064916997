//! Computer players: properties, strength, and positions that the engine must solve.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod engine;
mod properties;
mod strength;
