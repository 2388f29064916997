//! What an operator does with the real server.

mod health_command;
mod start;
