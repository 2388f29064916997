//! The generated wire types of `reversi.v1`, and the one place where they meet the room's types.

mod codec;
pub mod convert;
mod frame;
pub mod server;

pub use codec::{SmallCodec, YIELD};
pub use frame::Frame;
pub use reversi_client::v1;

/// The compiled descriptors, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
