//! A message as its bytes.

use std::{fmt, marker::PhantomData};

use bytes::{Buf, BufMut, Bytes};
use prost::{
    DecodeError, Message,
    encoding::{DecodeContext, WireType, skip_field},
};

/// An `M` that is encoded already: what a server sends, never what it reads. Clones share the bytes.
pub struct Encoded<M> {
    wire: Bytes,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> Encoded<M> {
    /// Encodes `message`.
    #[must_use]
    pub fn new(message: &M) -> Self {
        Self::of(message.encode_to_vec().into())
    }

    /// Takes the bytes of an `M`.
    #[must_use]
    pub fn of(wire: Bytes) -> Self {
        Self { wire, message: PhantomData }
    }
}

impl<M> Clone for Encoded<M> {
    fn clone(&self) -> Self {
        Self { wire: self.wire.clone(), message: PhantomData }
    }
}

impl<M> fmt::Debug for Encoded<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Encoded").field(&self.wire).finish()
    }
}

impl<M> Message for Encoded<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.wire);
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
        self.wire.len()
    }

    fn clear(&mut self) {
        self.wire = Bytes::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1;

    #[test]
    fn the_bytes_are_the_message() {
        let message = v1::WatchRoomResponse {
            message: Some(v1::watch_room_response::Message::Event(v1::RoomEvent { seq: 7, ..Default::default() })),
        };
        let encoded = Encoded::new(&message);
        assert_eq!(v1::WatchRoomResponse::decode(encoded.encode_to_vec().as_slice()), Ok(message));
    }
}
