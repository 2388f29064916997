//! A message that is encoded already.

use bytes::Bytes;
use prost::Message;

/// The bytes of a message, without the length that gRPC puts before them. Clones share the bytes, so that an event is encoded
/// once for all who watch its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedMessage(pub Bytes);

impl EncodedMessage {
    /// Encodes a message.
    #[must_use]
    pub fn new(message: &impl Message) -> Self {
        Self(message.encode_to_vec().into())
    }
}
