//! Tests without sockets and other processes: the simulation, rooms as clients see them, and the rules of the
//! repository.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod apply;
#[path = "../../crates/reversi-room/tests/room/fixtures/mod.rs"]
mod fixtures;
#[path = "../../crates/reversi-store/tests/store/lossy_folder/mod.rs"]
mod lossy_folder;
mod sim;
mod tidy;
