//! Connections below HTTP: accepting them up to the limits, TLS, the deadline for the first request, and the write
//! buffer.

pub(crate) mod connection;
pub(crate) mod connection_limit;
pub(crate) mod listener;
pub(crate) mod tls;
mod write_buffer;
