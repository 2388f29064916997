//! The codec of the server: prost with small buffers, and messages that are already encoded.
//!
//! tonic's own codec would encode an event once for every watcher, and keep 8 KiB for each stream to receive, half of
//! the memory of a connected bot, though streams live for hours and are mostly silent. Here all streams share the
//! bytes of an event. Encoding once, in an earlier form beside tonic's encoder, earned 237 instead of 272 simulated
//! cache misses a move (`benches/README.md`).

use std::{any::TypeId, marker::PhantomData};

use bytes::{BufMut as _, Bytes};
use prost::Message;
use tonic::{
    Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};
use tonic_prost::ProstDecoder;

use super::v1;

/// Buffer of a call's decoder in bytes: a few messages of a game. Larger messages get a separate buffer.
const DECODE_BUFFER: usize = 1024;

/// Encoded bytes at which a stream is sent before it is polled again; tonic's default.
const YIELD_THRESHOLD: usize = 32 * 1024;

/// A message that the server can send, already encoded or not.
pub trait Encodable: Send + 'static {
    /// Appends the bytes of the message.
    ///
    /// # Errors
    /// When the buffer has no space left.
    fn encode_to(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status>;
}

impl<M: Message + 'static> Encodable for M {
    fn encode_to(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(self.encoded_len());
        self.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

/// The bytes of a message, without gRPC's length prefix. Clones share them: an event is encoded once for all watchers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedMessage(pub Bytes);

impl EncodedMessage {
    /// Encodes a message.
    #[must_use]
    pub fn new(message: &impl Message) -> Self {
        Self(message.encode_to_vec().into())
    }
}

impl Encodable for EncodedMessage {
    fn encode_to(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(self.0.len());
        buffer.put_slice(&self.0);
        Ok(())
    }
}

/// Encodes `T` and decodes `U`.
#[derive(Clone, Debug)]
pub struct ServerCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for ServerCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Encodable, U: Message + Default + Send + 'static> Codec for ServerCodec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ServerEncoder<T>;
    type Decoder = ServerDecoder<U>;

    fn encoder(&mut self) -> ServerEncoder<T> {
        ServerEncoder(PhantomData)
    }

    fn decoder(&mut self) -> ServerDecoder<U> {
        ServerDecoder {
            inner: ProstDecoder::new(BufferSettings::new(DECODE_BUFFER, YIELD_THRESHOLD)),
            has_request: false,
        }
    }
}

/// Decodes `U`, and refuses a second request of a method that takes one: tonic drops it, and the client would not learn
/// that it is not carried out.
#[derive(Debug)]
pub struct ServerDecoder<U> {
    inner: ProstDecoder<U>,
    has_request: bool,
}

impl<U: Message + Default + Send + 'static> Decoder for ServerDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // The only request of which a client sends several in one call.
        let is_streamed = TypeId::of::<U>() == TypeId::of::<v1::PlayRequest>();
        if std::mem::replace(&mut self.has_request, !is_streamed) {
            return Err(Status::internal("this method takes one message, and a second one follows it"));
        }
        self.inner.decode(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.inner.buffer_settings()
    }
}

/// Encodes `T`, with a buffer of the encoded length.
#[derive(Clone, Debug)]
pub struct ServerEncoder<T>(PhantomData<T>);

impl<T: Encodable> Encoder for ServerEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode_to(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(0, YIELD_THRESHOLD)
    }
}

#[cfg(test)]
mod tests {
    use crate::proto::POOL;

    #[test]
    fn the_streamed_requests_are_those_of_play() {
        let methods = POOL.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        let streamed = methods.filter(prost_reflect::MethodDescriptor::is_client_streaming);
        let requests: Vec<_> = streamed.map(|method| method.input().full_name().to_owned()).collect();
        assert_eq!(requests, ["reversi.v1.PlayRequest"]);
    }
}
