//! A message that is encoded already.

use bytes::Bytes;
use prost::Message;

/// The bytes of a message, without the length that gRPC puts before them. Clones share the bytes, so that an event is encoded
/// once for all who watch its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedMessage(Bytes);

impl EncodedMessage {
    /// Encodes a message.
    #[must_use]
    pub fn new(message: &impl Message) -> Self {
        Self(message.encode_to_vec().into())
    }

    /// The same of bytes that are known to be a message.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// The bytes of the message.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The bytes of the message.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}
