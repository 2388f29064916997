//! What an operator does with the real server.

mod health_command;
mod host;
#[cfg(unix)]
mod reload;
#[cfg(target_os = "linux")]
mod reverse_proxies;
mod start;
mod trusted_proxy;
#[cfg(unix)]
mod unix_socket;
