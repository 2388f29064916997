//! Why stored bytes are refused.

use prost::DecodeError;
use thiserror::Error;

use crate::ids::Seq;

/// The version written, and the newest version read.
pub(super) const VERSION: u8 = 2;

/// Why bytes do not decode, or why an event cannot be applied.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoredError {
    /// Written by a newer version of the server.
    #[error("written in format version {0}; the newest known is {VERSION}")]
    Newer(u8),
    /// Not a protobuf message.
    #[error("damaged: {0}")]
    Damaged(#[from] DecodeError),
    /// Changed since it was written.
    #[error("damaged: wrong checksum")]
    BadChecksum,
    /// The named part is out of its bounds or contradicts others.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The event cannot be the next one of the room.
    #[error("event {0} cannot be the next one of its room")]
    OutOfOrder(Seq),
}

/// The value, if `holds`.
///
/// # Errors
/// [`StoredError::Malformed`] otherwise.
pub fn checked<T>(value: T, holds: bool, what: &'static str) -> Result<T, StoredError> {
    if holds { Ok(value) } else { Err(StoredError::Malformed(what)) }
}

/// The value, if there is one.
///
/// # Errors
/// [`StoredError::Malformed`] otherwise.
pub fn required<T>(value: Option<T>, what: &'static str) -> Result<T, StoredError> {
    value.ok_or(StoredError::Malformed(what))
}
