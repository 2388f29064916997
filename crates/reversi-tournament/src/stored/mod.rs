//! The stored form of tournaments and their events: messages of `reversi.stored.v1`, as described in
//! [`reversi_room::stored`].

mod codec;
mod command;
mod event;
mod settings;
mod state;

use reversi_room::stored::{StoredError, decode_message, encode_message, v1};

pub use self::{
    codec::{participant, read_participant},
    command::{encode_command, read_command, read_rejection},
    event::read_put_aside,
};
use crate::{
    event::Event,
    state::{Phase, Tournament},
};

/// Encodes an event. The end of a meeting takes about 40 bytes.
#[must_use]
pub fn encode_event(event: &Event) -> Vec<u8> {
    encode_message(&v1::TournamentEvent::from(event))
}

/// Decodes what [`encode_event`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_event(bytes: &[u8]) -> Result<Event, StoredError> {
    event::read_event(decode_message(bytes)?)
}

/// Encodes the whole state of a tournament: about 60 bytes for a meeting.
#[must_use]
pub fn encode_tournament(tournament: &Tournament) -> Vec<u8> {
    encode_message(&v1::Tournament::from(tournament))
}

/// Decodes what [`encode_tournament`] returned.
///
/// # Errors
/// [`StoredError`] for other bytes.
pub fn decode_tournament(bytes: &[u8]) -> Result<Tournament, StoredError> {
    state::read_tournament(decode_message(bytes)?)
}

impl Tournament {
    /// Checks a decoded event before [`Tournament::apply`], which trusts its argument.
    ///
    /// # Errors
    /// [`StoredError::OutOfOrder`] for an event that is not the next one, or follows the end.
    pub fn check_next(&self, event: &Event) -> Result<(), StoredError> {
        let fits = event.seq == self.seq.next() && !matches!(self.phase, Phase::Ended(_));
        if fits { Ok(()) } else { Err(StoredError::OutOfOrder(event.seq)) }
    }
}
