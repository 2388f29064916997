//! The stored form of tournaments and their events: messages of `reversi.stored.v1`, as described in
//! [`reversi_room::stored`].

mod event;
mod settings;
mod state;

use reversi_room::{
    Participant,
    stored::{
        Numbered, StoredError, decode_message, encode_message, required,
        v1::{self, occupant::Kind},
    },
};

pub use self::event::read_put_aside;
use crate::{
    entrant::{EntrantId, Fault},
    event::{Ending, Event},
    meeting::{Forfeiter, Stage},
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

/// One table for both directions; the compiler rejects one without all variants.
macro_rules! numbered {
    ($name:ident as $stored:ident, $what:literal: $($variant:ident),+) => {
        impl Numbered for $name {
            const NAME: &'static str = $what;

            fn number(self) -> i32 {
                match self { $(Self::$variant => v1::$stored::$variant.into()),+ }
            }

            fn from_number(number: i32) -> Option<Self> {
                match v1::$stored::try_from(number).ok()? {
                    v1::$stored::Unspecified => None,
                    $(v1::$stored::$variant => Some(Self::$variant),)+
                }
            }
        }
    };
}

numbered!(Fault as TournamentFault, "fault": IllegalMoves, Timeout, Absence);
numbered!(Stage as TournamentStage, "stage": Main, Playoff);
numbered!(Forfeiter as TournamentForfeiter, "forfeiter": First, Second, Both);
numbered!(Ending as TournamentEnding, "end of a tournament": Completed, Stopped, Cancelled);

/// A player or an AI, as an occupant of a seat.
#[must_use]
pub fn participant(who: &Participant) -> v1::Occupant {
    let kind = match who {
        Participant::Player(profile) => Kind::Player(profile.into()),
        Participant::Ai(ai) => Kind::Ai(ai.into()),
    };
    v1::Occupant { kind: Some(kind) }
}

/// Reads what [`participant`] returned.
///
/// # Errors
/// [`StoredError::Malformed`] for none, and for a seat that is not taken.
pub fn read_participant(who: Option<v1::Occupant>) -> Result<Participant, StoredError> {
    match required(who.and_then(|who| who.kind), "entrant")? {
        Kind::Player(profile) => Ok(Participant::Player(profile.read()?)),
        Kind::Ai(ai) => Ok(Participant::Ai(ai.read()?)),
        Kind::Open(()) | Kind::Reserved(_) | Kind::Invited(_) => Err(StoredError::Malformed("entrant")),
    }
}

/// Entrants count from 1.
fn read_entrant(number: u32) -> Result<EntrantId, StoredError> {
    required((number > 0).then_some(EntrantId(number)), "number of an entrant")
}

fn fault_number(fault: Option<Fault>) -> i32 {
    fault.map_or(0, Fault::number)
}
