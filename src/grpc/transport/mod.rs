//! Connections, before any HTTP is read from them: accepting them up to the limits, TLS, the deadline for the first request,
//! and the buffer of what is written.

pub(crate) mod connection;
pub(crate) mod connection_limit;
pub(crate) mod listener;
pub(crate) mod tls;
mod write_buffer;
