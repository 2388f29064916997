//! The services of `reversi.v1` over a runtime: each method is convert, call, convert.
//!
//! One port speaks gRPC, gRPC-Web and reflection, over TLS where it is told to. [`serve()`] runs it on a socket that the
//! caller owns.
//!
//! ```text
//!   socket ─▶ listener ─▶ connection ─▶ HTTP ─▶ layers (in server) ─▶ auth ─▶ service ─▶ Runtime
//!             how many,   says in time   limits of                   who calls,
//!             and whose   what it wants  one connection              by the headers
//! ```

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
    proto::{Frame, convert, v1},
    room::{Event, Room},
};

/// An event as watchers are sent it: in a frame, so that it is made once for all of them.
#[must_use]
pub fn encode(event: &Event, after: &Room) -> Bytes {
    let event = convert::room_event(event, after);
    let message = v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Event(event)) };
    Frame::of(&message).into_bytes()
}
