//! The `reversi` command as a process: its arguments, its output and its exit codes.

mod arena;
mod bench;
mod commands;
mod host;
mod python_bot;
