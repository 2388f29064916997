//! Connections below HTTP: accepting them up to the limits, TLS, the deadline of the first request, and write buffers.

pub(crate) mod connection;
pub(crate) mod connection_limit;
pub(crate) mod listener;
pub(crate) mod tls;
mod write_buffer;
