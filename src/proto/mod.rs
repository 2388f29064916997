//! The generated wire types of `reversi.v1`, and the one place where they meet the room's types.

mod codec;
pub mod convert;
mod frame;
pub mod server;

pub use codec::{SmallCodec, YIELD};
pub use frame::Frame;

/// Messages and clients of `reversi.v1`.
#[allow(missing_docs, clippy::all, clippy::too_many_lines, unreachable_pub)]
pub mod v1 {
    tonic::include_proto!("reversi.v1");
}

/// The compiled descriptors, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
