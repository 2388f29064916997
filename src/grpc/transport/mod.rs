//! Connections below HTTP: accepting them up to the limits, trusted proxies, TLS, the deadline of the first request, and write buffers.

pub(crate) mod connection;
pub(crate) mod connection_limit;
pub(crate) mod listener;
pub(crate) mod server_socket;
pub(crate) mod tls;
pub(crate) mod trusted_proxy;
mod write_buffer;
