//! Tests without sockets and other processes: rooms, stores, the simulation, and the rules of the repository.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod room;
mod sim;
mod store;
mod tidy;
