//! Parts of messages: numbers of enum variants, entrants and faults.

use reversi_room::{
    Participant,
    stored::{
        Numbered, StoredError, required,
        v1::{self, occupant::Kind},
    },
};

use crate::{
    command::Control,
    entrant::{EntrantId, Fault},
    event::Ending,
    meeting::{Forfeiter, Stage},
};

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
numbered!(Control as TournamentControl, "control": Start, Pause, Resume, End, Cancel);
numbered!(Ending as TournamentEnding, "end of a tournament": Completed, Stopped, Cancelled, TooFewEntrants, Stale);

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
pub(super) fn read_entrant(number: u32) -> Result<EntrantId, StoredError> {
    required((number > 0).then_some(EntrantId(number)), "number of an entrant")
}

pub(super) fn fault_number(fault: Option<Fault>) -> i32 {
    fault.map_or(0, Fault::number)
}
