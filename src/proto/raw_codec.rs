//! A codec that neither encodes nor decodes, for the benchmark and for fuzzing: servers with prepared messages,
//! watchers that compare bytes, and clients that send any bytes.

use bytes::{Buf as _, BufMut as _, Bytes};
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

/// Messages as their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawCodec;

impl Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, wire: &mut EncodeBuf<'_>) -> Result<(), Status> {
        wire.put(message);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, wire: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(wire.copy_to_bytes(wire.remaining())))
    }
}
