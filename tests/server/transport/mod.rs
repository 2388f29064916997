//! Connections below the calls: TLS, HTTP/1.1, abuse, slow readers, shutdown.

mod abuse;
#[cfg(unix)]
mod idle_connections;
mod misuse;
pub(crate) mod shutdown;
#[cfg(target_os = "linux")]
mod slow_readers;
mod tls;
mod web;
