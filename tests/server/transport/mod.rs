//! Connections: TLS, HTTP/1.1, abuse, slow readers, and shutdown.

mod abuse;
mod gzip;
mod health;
#[cfg(unix)]
mod idle_connections;
mod links;
mod misuse;
mod out_of_service;
pub(crate) mod shutdown;
#[cfg(target_os = "linux")]
mod slow_readers;
mod status_only;
mod tls;
mod web;

pub(crate) use tls::{Authority, handshake};
