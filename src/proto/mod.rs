//! The wire types of `reversi.v1`, and their conversion to and from the types of rooms, and to JSON; those of the links
//! between nodes.

pub mod cluster;
mod codec;
pub mod convert;
pub mod generated_services;
pub(crate) mod json;
mod raw_codec;

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

pub use codec::{Encodable, EncodedMessage, ServerCodec, ServerDecoder, ServerEncoder};
pub use raw_codec::RawCodec;
pub use reversi_client::v1;

/// The compiled descriptors, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The descriptors as types of the program.
pub(crate) static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("the embedded descriptors are valid"));
