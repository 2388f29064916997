//! A message that is encoded once and shared by all who watch.

use bytes::{Buf, BufMut, Bytes};
use prost::{
    DecodeError, Message,
    encoding::{DecodeContext, WireType, skip_field},
};

use super::v1;

/// A `WatchRoomResponse` as its bytes: what a server sends, never what it reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedWatchRoomResponse(Bytes);

impl SharedWatchRoomResponse {
    /// Encodes `message`; clones share the bytes.
    #[must_use]
    pub fn new(message: &v1::WatchRoomResponse) -> Self {
        Self(message.encode_to_vec().into())
    }
}

/// Takes an encoded `WatchRoomResponse`.
impl From<Bytes> for SharedWatchRoomResponse {
    fn from(wire: Bytes) -> Self {
        Self(wire)
    }
}

impl Message for SharedWatchRoomResponse {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        skip_field(wire_type, tag, buf, ctx)
    }

    fn encoded_len(&self) -> usize {
        self.0.len()
    }

    fn clear(&mut self) {
        self.0 = Bytes::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_the_message() {
        let message = v1::WatchRoomResponse {
            message: Some(v1::watch_room_response::Message::Event(v1::RoomEvent { seq: 7, ..Default::default() })),
        };
        let shared = SharedWatchRoomResponse::new(&message);
        assert_eq!(v1::WatchRoomResponse::decode(shared.encode_to_vec().as_slice()), Ok(message));
    }
}
