//! How messages become bytes, with little memory for each call.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// What a call keeps for either direction, in bytes: a few messages of a game. Streams live for hours and most of them are
/// silent, so that the transport's own 8 KiB for what comes in would be half of what a connected bot takes; what goes out
/// needs none there. Smaller ones are not kept from one message to the next.
const BUFFER: usize = 1024;

/// From so many bytes on what is ready is passed on at once, as the transport does by itself.
pub const YIELD: usize = 32 * 1024;

/// Prost's codec, with small buffers.
#[derive(Clone, Debug)]
pub struct SmallCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Message + Send + 'static, U: Message + Default + Send + 'static> Codec for SmallCodec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::new(BufferSettings::new(BUFFER, YIELD))
    }

    fn decoder(&mut self) -> ProstDecoder<U> {
        ProstDecoder::new(BufferSettings::new(BUFFER, YIELD))
    }
}
