//! The services of `reversi.v1` over a runtime: each method is convert, call, convert.
//!
//! One port speaks gRPC, gRPC-Web and reflection, over TLS where it is told to. [`serve()`] runs it on a socket that the
//! caller owns.
//!
//! ```text
//!   socket ─▶ listener ─▶ connection ─▶ HTTP ─▶ layers (in serve) ─▶ services ─▶ Runtime
//!             how many,   says in time   limits of
//!             and whose   what it wants  one connection
//! ```

mod call;
mod caller;
mod connection;
mod cors;
mod farewell;
mod feed;
mod game;
mod json;
mod listener;
mod lobby;
mod pace;
mod page;
mod record;
mod remote;
mod room;
mod serve;
mod session;
mod status;
mod tls;

use bytes::Bytes;
use prost::Message as _;

pub use cors::{Origin, ParseOriginError};
pub use serve::{Access, ServeError, serve, serve_with};
pub use tls::{Tls, TlsError};

use crate::{
    proto::{convert, v1},
    room::{Event, Room},
};

/// The largest request. Every field has a bound of its own far below it.
pub const MOST_MESSAGE: usize = 64 * 1024;

/// An event as watchers are sent it.
#[must_use]
pub fn encode(event: &Event, after: &Room) -> Bytes {
    let event = convert::room_event(event, after);
    let message = v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Event(event)) };
    message.encode_to_vec().into()
}
