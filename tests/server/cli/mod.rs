//! The `reversi` command as a process: arguments, output and exit codes.

mod arena;
mod bench;
mod commands;
mod host;
mod python_bot;
