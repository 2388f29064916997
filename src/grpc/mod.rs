//! The services of `reversi.v1` over a runtime: each method converts the request, calls the runtime, and converts the
//! result.
//!
//! One port serves gRPC, gRPC-Web, reflection and the web page, with or without TLS. [`serve()`] takes a bound socket.
//!
//! ```text
//!   socket ─▶ transport ──────────▶ HTTP ───────▶ layer ──────────▶ service ─▶ Runtime
//!             connection limits,    limits of     request ids,      one file
//!             TLS, opening          a connection  web page, CORS,   for each
//!             deadline, buffers                   authentication
//! ```

mod drain;
mod layer;
mod server;
mod service;
mod status;
mod transport;

use bytes::Bytes;

pub use layer::cors::{Origin, ParseOriginError};
pub use server::{Access, ServeError, serve, serve_with};
pub use transport::tls::{Tls, TlsError};

use crate::{
    proto::{EncodedMessage, convert, v1},
    room::{Event, Room},
};

/// Encodes an event as a `WatchRoomResponse`, once for all watchers of its room. `after` is the room after the event.
#[must_use]
pub fn encode(event: &Event, after: &Room) -> Bytes {
    let event = convert::room_event(event, after);
    let message = v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Event(event)) };
    EncodedMessage::new(&message).0
}
