//! What needs no socket and no other process: rooms, stores, computer players, the simulation, and the rules of the repository.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod ai;
mod room;
mod sim;
mod store;
mod tidy;
