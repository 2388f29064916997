//! Commands and refusals, as one node of a cluster sends them to another.

use reversi_room::{
    PasswordHash, SettingsError,
    stored::{
        Numbered, StoredError, narrow, required,
        v1::{self, TournamentRejectionKind as Refusal, tournament_command::Kind},
    },
};

use super::{
    codec::{participant, read_entrant, read_participant},
    event::{read_adjudication, read_outcome},
    settings::read_settings,
};
use crate::{
    command::{Command, Control},
    meeting::Adjudication,
    rejection::Rejection,
};

/// What another node says of settings that its own check does not accept.
const OUT_OF_BOUNDS: SettingsError = SettingsError { field: "settings", problem: "out of bounds" };

/// A command of a player or an administrator; none for one of the server, which no node sends.
#[must_use]
pub fn encode_command(command: &Command) -> Option<v1::TournamentCommand> {
    let kind = match command {
        Command::Configure(settings) => Kind::Configure((&**settings).into()),
        Command::Join { who, rating, password } => Kind::Join(v1::TournamentJoin {
            who: Some(participant(who)),
            rating: (*rating).into(),
            password: password.as_ref().map(|hash| hash.0.to_vec()),
        }),
        Command::Leave => Kind::Leave(()),
        Command::Exclude(entrant) => Kind::Exclude(entrant.0),
        Command::Admit(entrant) => Kind::Admit(entrant.0),
        Command::Control(control) => Kind::Control(control.number()),
        Command::Adjudicate { number, outcome, why } => Kind::Adjudicate(v1::TournamentAdjudicated {
            number: *number,
            outcome: Some(outcome.into()),
            adjudication: Some((&Adjudication { by: None, why: why.clone() }).into()),
        }),
        Command::SetPresence(..) | Command::Finish { .. } | Command::Credit { .. } | Command::Tick { .. } => {
            return None;
        }
    };
    Some(v1::TournamentCommand { kind: Some(kind) })
}

/// Reads what [`encode_command`] returned.
///
/// # Errors
/// [`StoredError::Malformed`] for a message that no server sends.
pub fn read_command(sent: v1::TournamentCommand) -> Result<Command, StoredError> {
    Ok(match required(sent.kind, "command")? {
        Kind::Configure(settings) => Command::Configure(Box::new(read_settings(Some(settings))?)),
        Kind::Join(join) => Command::Join {
            who: read_participant(join.who)?,
            rating: narrow(join.rating, "rating")?,
            password: join.password.map(|hash| PasswordHash(hash.into())),
        },
        Kind::Leave(()) => Command::Leave,
        Kind::Exclude(entrant) => Command::Exclude(read_entrant(entrant)?),
        Kind::Admit(entrant) => Command::Admit(read_entrant(entrant)?),
        Kind::Control(control) => Command::Control(Control::read(control)?),
        Kind::Adjudicate(decided) => Command::Adjudicate {
            number: decided.number,
            outcome: read_outcome(required(decided.outcome, "outcome")?)?,
            why: read_adjudication(required(decided.adjudication, "adjudication")?)?.why,
        },
    })
}

/// One table for both directions; the compiler rejects one without all refusals.
macro_rules! rejections {
    ($($plain:ident),+) => {
        impl From<Rejection> for v1::TournamentRejection {
            fn from(rejection: Rejection) -> Self {
                let (kind, highest) = match rejection {
                    $(Rejection::$plain => (Refusal::$plain, 0),)+
                    Rejection::BadSettings(_) => (Refusal::BadSettings, 0),
                    Rejection::TooManyRounds(highest) => (Refusal::TooManyRounds, highest),
                    Rejection::TooManyMeetings(highest) => (Refusal::TooManyMeetings, highest),
                };
                Self { kind: kind.into(), highest }
            }
        }

        /// Reads a refusal.
        ///
        /// # Errors
        /// [`StoredError::Malformed`] for an unknown one.
        pub fn read_rejection(sent: v1::TournamentRejection) -> Result<Rejection, StoredError> {
            Ok(match sent.kind() {
                Refusal::Unspecified => return Err(StoredError::Malformed("rejection")),
                $(Refusal::$plain => Rejection::$plain,)+
                Refusal::BadSettings => Rejection::BadSettings(OUT_OF_BOUNDS),
                Refusal::TooManyRounds => Rejection::TooManyRounds(sent.highest),
                Refusal::TooManyMeetings => Rejection::TooManyMeetings(sent.highest),
            })
        }
    };
}

rejections! {
    NotOrganiser, NotServer, NotYou, EntrantNotFound, MeetingNotFound, BadOutcome, TournamentFull, NotAdmitted,
    Excluded, TooManyExcluded, BadPassword, TooFewEntrants, AlreadyStarted, NotStarted, TournamentEnded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_read_as_it_was_sent() {
        let kinds = (1..).map_while(|number| Refusal::try_from(number).ok());
        let all: Vec<_> = kinds
            .map(|kind| read_rejection(v1::TournamentRejection { kind: kind.into(), highest: 7 }).expect("known"))
            .collect();
        assert_eq!(all.len(), 18);
        for rejection in all {
            assert_eq!(read_rejection(rejection.into()), Ok(rejection));
        }
    }
}
