//! The services of `reversi.v1` over a runtime. One port serves gRPC, gRPC-Web, reflection and the web page, with or
//! without TLS. [`serve()`] takes a bound socket, [`serve_streams`] connections that are already open, such as those in
//! memory. [`NodeLinks`] are the links between the nodes of a cluster, on a port of their own.
//!
//! ```text
//!   socket ─▶ transport ──────────▶ HTTP ───────▶ layer ──────────▶ service ─▶ Runtime
//!             connection limits,    limits of     request ids,      one file
//!             TLS, opening          a connection  web page, CORS,   for each
//!             deadline, buffers                   authentication
//! ```

mod drain;
mod layer;
mod links;
mod server;
mod service;
mod status;
mod transport;

pub use layer::{
    cors::{Origin, ParseOriginError},
    host::{HostName, ParseHostNameError, ServedHosts},
};
pub use links::{NodeLinks, NodeTls};
pub use server::{Access, ServeError, serve, serve_streams, serve_with, stand_by};
pub use transport::{
    server_socket::ServerSocket,
    tls::{Tls, TlsError},
    trusted_proxy::{ParseTrustedProxyError, TrustedProxy},
};

pub use crate::proto::convert::encode_event as encode;
