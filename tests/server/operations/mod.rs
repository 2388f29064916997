//! What an operator does with the real server.

mod health_command;
mod host;
#[cfg(unix)]
mod reload;
mod start;
mod trusted_proxy;
#[cfg(unix)]
mod unix_socket;
