//! A message as it stands in a stream.

use bytes::Bytes;
use prost::Message;

/// What stands before a message: 0, as it is not compressed, and its length in four bytes, the highest first.
const PREFIX: usize = 5;

/// A message as gRPC sends it in a stream: its bytes, behind their length. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Bytes);

impl Frame {
    /// Of a message.
    #[must_use]
    pub fn of(message: &impl Message) -> Self {
        // A vector always has room.
        Self::filled(message.encoded_len(), |wire| message.encode_raw(wire))
    }

    /// Of a message of about so many bytes, which `fill` writes.
    pub(super) fn filled(size: usize, fill: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut wire = Vec::with_capacity(PREFIX + size);
        wire.extend_from_slice(&[0; PREFIX]);
        fill(&mut wire);
        let length = wire.len() - PREFIX;
        debug_assert!(u32::try_from(length).is_ok(), "no message comes near to 4 GiB");
        let length = length as u32;
        wire[1..PREFIX].copy_from_slice(&length.to_be_bytes());
        // Bytes that fill their memory need no other to say how much of it they are.
        if wire.len() == wire.capacity() { Self(wire.into()) } else { Self(Bytes::copy_from_slice(&wire)) }
    }

    /// What [`Frame::into_bytes`] made of one.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        debug_assert!(bytes.get(1..PREFIX) == Some(&((bytes.len() - PREFIX) as u32).to_be_bytes()[..]));
        Self(bytes)
    }

    /// All of it, as it is sent.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The message alone.
    #[must_use]
    pub fn message(&self) -> Bytes {
        self.0.slice(PREFIX..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1;

    #[test]
    fn a_frame_is_the_message_behind_its_length() {
        for length in [0, 1, 300, 70_000] {
            let message = v1::PlayMoveRequest { game_id: "x".repeat(length), ..Default::default() };
            let (frame, encoded) = (Frame::of(&message), message.encode_to_vec());
            assert_eq!(frame.message(), encoded);
            assert_eq!(
                frame.into_bytes()[..PREFIX],
                [&[0][..], &u32::try_from(encoded.len()).unwrap().to_be_bytes()].concat()
            );
        }
    }
}
