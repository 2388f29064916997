//! The stored form of events and rooms: written by the stores, and readable by every later version of the server.
//!
//! ```text
//!   event:  version │ seq │ at │ fact │ checksum     a byte, two varints, a protobuf message, four bytes
//!   room:   version │ room │ checksum                a byte, a protobuf message, four bytes
//!   search reports of a finished game, the invitations that a player accepts, tournaments and their events: as a room
//! ```
//!
//! The messages are also sent from one node of a cluster to another, commands and rejections only so; then as parts of
//! other messages, without version and checksum.
//!
//! The messages are declared in `proto/reversi/stored/v1`, independent of the public API. Within a version, a field may
//! be added whose default means what its absence meant; tags and numbers never change their meaning. Any other change
//! needs a new version. Both need a new version of the links between servers, and a new version also needs one of the
//! stores' tables. An older server that is started again later reads rooms without the fields that it does not know.
//!
//! The checksum is the CRC-32 of all bytes before it, little-endian: without it, nearly half of all single bit errors
//! would decode to another valid game. Version 1 had no checksum and was otherwise the same.
//!
//! Decoding returns a value equal to the one encoded. Any other bytes give an error, or a value with which nothing else
//! in this layer panics or loops forever. Whether a decoded event fits its room is checked by [`Room::check_next`].

mod codec;
mod command;
mod error;
mod event;
mod game;
mod rejection;
mod room;
mod seat;
mod settings;
pub mod v1;
mod validate;

use prost::{
    Message,
    encoding::{decode_varint, encode_varint},
};

use self::error::VERSION;
pub use self::{
    codec::{Numbered, narrow, read_player, read_player_or_none, read_room, read_seq},
    error::{StoredError, checked, required},
};
use super::{event::Event, settings::Availability, state::Room, thought::Thought};

/// The version without a checksum, which is still read.
const WITHOUT_CHECKSUM: u8 = 1;

/// The most bytes of a version and two varints.
const MAX_HEAD: usize = 21;

const CHECKSUM: usize = 4;

/// Encodes an event. A move takes 19 to 22 bytes, and an AI's search report about the same again.
#[must_use]
pub fn encode_event(event: &Event) -> Vec<u8> {
    let fact = v1::Fact::from(&event.fact);
    let mut bytes = Vec::with_capacity(MAX_HEAD + fact.encoded_len() + CHECKSUM);
    bytes.push(VERSION);
    encode_varint(event.seq.0, &mut bytes);
    encode_varint(event.at.0.cast_unsigned(), &mut bytes);
    fact.encode_raw(&mut bytes);
    append_checksum(&mut bytes);
    bytes
}

/// Decodes what [`encode_event`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_event(bytes: &[u8]) -> Result<Event, StoredError> {
    let mut rest = verify_checksum(bytes)?;
    let (seq, at) = (decode_varint(&mut rest)?, decode_varint(&mut rest)?.cast_signed());
    v1::Event { seq, at, fact: Some(v1::Fact::decode(rest)?) }.read()
}

/// Encodes the whole state of a room.
#[must_use]
pub fn encode_room(room: &Room) -> Vec<u8> {
    encode_message(&v1::Room::from(room))
}

/// Decodes what [`encode_room`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_room(bytes: &[u8]) -> Result<Room, StoredError> {
    decode_message::<v1::Room>(bytes)?.read()
}

/// Encodes the search reports of a finished game: about 25 bytes for each.
#[must_use]
pub fn encode_thoughts(thoughts: &[(u16, Thought)]) -> Vec<u8> {
    encode_message(&v1::Thoughts::from(thoughts))
}

/// Decodes what [`encode_thoughts`] returned for a game of `plies` plies.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_thoughts(bytes: &[u8], plies: usize) -> Result<Vec<(u16, Thought)>, StoredError> {
    decode_message::<v1::Thoughts>(bytes)?.read(plies)
}

/// Encodes the invitations that a player accepts.
#[must_use]
pub fn encode_availability(availability: &Availability) -> Vec<u8> {
    encode_message(&v1::Availability::from(availability))
}

/// Decodes what [`encode_availability`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_availability(bytes: &[u8]) -> Result<Availability, StoredError> {
    decode_message::<v1::Availability>(bytes)?.read()
}

/// Encodes a message of the stored form, with version and checksum.
#[must_use]
pub fn encode_message(message: &impl Message) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + message.encoded_len() + CHECKSUM);
    bytes.push(VERSION);
    message.encode_raw(&mut bytes);
    append_checksum(&mut bytes);
    bytes
}

fn append_checksum(bytes: &mut Vec<u8>) {
    let checksum = crc32fast::hash(bytes);
    bytes.extend(checksum.to_le_bytes());
}

/// Decodes what [`encode_message`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_message<M: Message + Default>(bytes: &[u8]) -> Result<M, StoredError> {
    Ok(M::decode(verify_checksum(bytes)?)?)
}

/// The bytes between version and checksum. Fails when the version is unknown or the checksum is wrong.
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
