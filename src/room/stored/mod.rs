//! The stored form of events and rooms: what a journal keeps, and what a later version of the server must still read.
//!
//! ```text
//!   event:  version │ seq │ at │ fact │ checksum     a byte, two varints, a protobuf message, four bytes
//!   room:   version │ room │ checksum                a byte, a protobuf message, four bytes
//! ```
//!
//! The messages are declared here by hand, field by field, apart from the public API: the two may change without each
//! other. Inside a version, a field may be added whose default means what its absence meant; a tag is never used twice,
//! and a number of a table never gets another meaning. Anything else is a new version.
//!
//! The checksum is the CRC-32 of all before it, least byte first. Of single bits that a disk has turned, nearly half would
//! make another game that fits as well. Version 1 had none, and was the same otherwise.
//!
//! Encoding loses nothing: what is decoded equals what was encoded. Decoding trusts nothing: any bytes give an error, or a
//! value with which nothing else in this layer panics or runs without end. Whether an event then fits the room that it is
//! read for is judged by [`Room::check_next`].

mod codec;
mod event;
mod game;
mod room;
mod score;
mod seat;
mod settings;
mod thought;
mod validate;

use prost::{
    DecodeError, Message as _,
    encoding::{decode_varint, encode_varint},
};
use thiserror::Error;

use self::{event::StoredFact, room::StoredRoom};
use super::{
    event::{Event, Fact},
    ids::Seq,
    state::Room,
    timestamp::Timestamp,
};

/// The version that is written, and the newest that is read.
const VERSION: u8 = 2;

/// The one without a checksum, which is still read.
const WITHOUT_CHECKSUM: u8 = 1;

/// The most bytes of a version and two varints.
const LONGEST_HEAD: usize = 21;

const CHECKSUM: usize = 4;

/// No room has more events. Counting stays far from where it would overflow.
const LAST_SEQ: u64 = 1 << 62;

/// Why bytes are no event or room, or an event not the next one of a room.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoredError {
    /// The server that wrote it knew more than this one.
    #[error("written by a newer version: its form is {0}, and the newest known is {VERSION}")]
    Newer(u8),
    /// It is no message.
    #[error("damaged: {0}")]
    Damaged(#[from] DecodeError),
    /// Something has changed it since.
    #[error("damaged: its checksum is another")]
    BadChecksum,
    /// This part of it is out of its bounds or contradicts others.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The event cannot come next in the room.
    #[error("event {0} does not follow")]
    OutOfOrder(Seq),
}

/// An event as bytes; a move takes 19 to 22 of them, and what an AI thought about as many more.
#[must_use]
pub fn encode_event(event: &Event) -> Vec<u8> {
    let fact = StoredFact::from(&event.fact);
    let mut bytes = Vec::with_capacity(LONGEST_HEAD + fact.encoded_len() + CHECKSUM);
    bytes.push(VERSION);
    encode_varint(event.seq.0, &mut bytes);
    encode_varint(event.at.0.cast_unsigned(), &mut bytes);
    fact.encode_raw(&mut bytes);
    append_checksum(&mut bytes);
    bytes
}

/// The event of [`encode_event`].
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_event(bytes: &[u8]) -> Result<Event, StoredError> {
    let mut rest = verify_checksum(bytes)?;
    let seq = Seq(decode_varint(&mut rest)?);
    let at = Timestamp(decode_varint(&mut rest)?.cast_signed());
    let fact = StoredFact::decode(rest)?.read()?;
    let in_place = matches!(fact, Fact::Created(_)) == (seq == Seq(1));
    if !in_place || !(1..=LAST_SEQ).contains(&seq.0) {
        return Err(StoredError::Malformed("sequence number"));
    }
    Ok(Event { seq, at, fact })
}

/// A room as bytes: all that its events have made of it.
#[must_use]
pub fn encode_room(room: &Room) -> Vec<u8> {
    let room = StoredRoom::from(room);
    let mut bytes = Vec::with_capacity(1 + room.encoded_len() + CHECKSUM);
    bytes.push(VERSION);
    room.encode_raw(&mut bytes);
    append_checksum(&mut bytes);
    bytes
}

/// The room of [`encode_room`].
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_room(bytes: &[u8]) -> Result<Room, StoredError> {
    StoredRoom::decode(verify_checksum(bytes)?)?.read()
}

fn append_checksum(bytes: &mut Vec<u8>) {
    let checksum = crc32fast::hash(bytes);
    bytes.extend(checksum.to_le_bytes());
}

/// What lies between the version and the checksum.
fn verify_checksum(bytes: &[u8]) -> Result<&[u8], StoredError> {
    match bytes.split_first() {
        Some((&WITHOUT_CHECKSUM, rest)) => Ok(rest),
        Some((&VERSION, _)) => {
            let (sealed, checksum) = bytes.split_last_chunk().ok_or(StoredError::BadChecksum)?;
            let intact = crc32fast::hash(sealed) == u32::from_le_bytes(*checksum);
            if intact { Ok(&sealed[1..]) } else { Err(StoredError::BadChecksum) }
        }
        Some((&version, _)) if version > VERSION => Err(StoredError::Newer(version)),
        _ => Err(StoredError::Malformed("version")),
    }
}

/// The value if it is within its bounds.
fn checked<T>(value: T, holds: bool, what: &'static str) -> Result<T, StoredError> {
    if holds { Ok(value) } else { Err(StoredError::Malformed(what)) }
}

fn required<T>(value: Option<T>, what: &'static str) -> Result<T, StoredError> {
    value.ok_or(StoredError::Malformed(what))
}
