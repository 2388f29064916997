//! The codec of the server: prost, with small buffers, and messages that are encoded already.
//!
//! Streams live for hours and most of them are silent: with tonic's own codec each would keep 8 KiB for what comes in, half of
//! what a connected bot takes.

use std::marker::PhantomData;

use bytes::{BufMut as _, Bytes};
use prost::Message;
use tonic::{
    Status,
    codec::{BufferSettings, Codec, EncodeBuf, Encoder},
};
use tonic_prost::ProstDecoder;

/// Bytes that the decoder of a call keeps: a few messages of a game. Larger messages get a buffer of their own.
const DECODE_BUFFER: usize = 1024;

/// Bytes from which on a stream passes on what is encoded, before it asks for more; tonic's own value.
const YIELD: usize = 32 * 1024;

/// What the server can send: a message, or one that is encoded already.
pub trait Encodable: Send + 'static {
    /// Appends the bytes of the message.
    ///
    /// # Errors
    /// When there is no room for it in the buffer.
    fn encode_to(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status>;
}

impl<M: Message + 'static> Encodable for M {
    fn encode_to(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(self.encoded_len());
        self.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

/// The bytes of a message, without the length that gRPC puts before them. Clones share the bytes, so that an event is
/// encoded once for all watchers of its room.
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
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> ServerEncoder<T> {
        ServerEncoder(PhantomData)
    }

    fn decoder(&mut self) -> ProstDecoder<U> {
        ProstDecoder::new(BufferSettings::new(DECODE_BUFFER, YIELD))
    }
}

/// Encodes `T`, with a buffer that is as long as what is in it.
#[derive(Clone, Debug)]
pub struct ServerEncoder<T>(PhantomData<T>);

impl<T: Encodable> Encoder for ServerEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode_to(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(0, YIELD)
    }
}
