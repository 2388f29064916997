//! The `reversi` command as a process: arguments, output and exit codes.

mod arena;
mod bench;
mod bots;
mod commands;
mod host;
