//! Tests without sockets and other processes: rooms, stores, the simulation, and the rules of the repository.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod apply;
#[path = "../../crates/reversi-room/tests/room/fixtures/mod.rs"]
mod fixtures;
mod sim;
mod store;
mod tidy;
