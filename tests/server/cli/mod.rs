//! The `reversi` command as a process: arguments, output and exit codes.

mod arena;
mod bot_games;
pub(crate) mod bots;
pub(crate) mod command;
mod commands;
mod doctor;
mod host;
mod hostile_server;
mod import;
mod invitations;
mod name;
mod options;
mod output;
mod parting;
mod play_tournament;
mod refusals;
mod silence;
mod store;
mod tournaments;
