//! Connections below HTTP: accepting them up to the limits, trusted proxies, TLS, the deadline of the first request,
//! limits of HTTP/2, and write buffers.

pub(crate) mod connection;
pub(crate) mod connection_limit;
mod control_frames;
mod frames;
mod http2;
mod keepalive;
pub(crate) mod listener;
pub(crate) mod open_streams;
pub(crate) mod period_offset;
pub(crate) mod server_socket;
pub(crate) mod tls;
pub(crate) mod trusted_proxy;
mod write_buffer;
