//! The server over sockets and the `reversi` command as a process. `tests/core` has the tests that need neither.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod api;
mod cli;
#[cfg(unix)]
mod documents;
mod harness;
mod log;
mod metrics;
mod operations;
mod rust_client;
mod storage;
mod transport;
