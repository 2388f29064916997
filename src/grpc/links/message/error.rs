//! Errors of rooms.

use std::time::Duration;

use super::{read_room, required};
use crate::{
    proto::cluster::{self, RoomErrorKind as Kind},
    room::{Rejection, stored::StoredError},
    runtime::RoomError,
    tournament::stored::read_rejection,
};

/// The text of another node's `QuotaRooms`: that node is full. A player's limit is checked where the player connects.
const TOO_MANY_ROOMS: &str = "the server has as many as it can";

impl From<RoomError> for cluster::RoomError {
    fn from(error: RoomError) -> Self {
        let (mut rejection, mut tournament, mut value) = (None, None, 0);
        let kind = match error {
            RoomError::Rejected(reason) => {
                rejection = Some(reason.into());
                Kind::Rejected
            }
            RoomError::PlayerNotFound => Kind::PlayerNotFound,
            RoomError::UnknownAi => Kind::UnknownAi,
            RoomError::QuotaRooms(_) => Kind::QuotaRooms,
            RoomError::QuotaSeats => Kind::QuotaSeats,
            RoomError::QuotaSeatsPlaying(room) => {
                value = room.bits();
                Kind::QuotaSeatsPlaying
            }
            // Checked where the player connects.
            RoomError::InvitationRefused(..) => {
                rejection = Some(Rejection::NotAccepted.into());
                Kind::Rejected
            }
            RoomError::Tournament(reason) => {
                tournament = Some(reason.into());
                Kind::Tournament
            }
            RoomError::TournamentNotFound => Kind::TournamentNotFound,
            // Checked where the player connects.
            RoomError::QuotaTournaments(_) => Kind::Busy,
            RoomError::QuotaStreams => Kind::QuotaStreams,
            RoomError::QuotaAnalyses => Kind::QuotaAnalyses,
            RoomError::QuotaNames => Kind::QuotaNames,
            RoomError::RequestIdReused => Kind::RequestIdReused,
            RoomError::TokenReplaced => Kind::TokenReplaced,
            RoomError::TooFast(wait) => {
                value = nanos(wait);
                Kind::TooFast
            }
            RoomError::WrongGuesses(wait) => {
                value = nanos(wait);
                Kind::WrongGuesses
            }
            RoomError::Draining => Kind::Draining,
            RoomError::StoreUnavailable => Kind::StoreUnavailable,
            RoomError::Damaged => Kind::Damaged,
            RoomError::Moved => Kind::Moved,
            RoomError::Unreachable => Kind::Unreachable,
            RoomError::Busy => Kind::Busy,
        };
        Self { kind: kind.into(), rejection, value, tournament }
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl cluster::RoomError {
    pub(super) fn read(self) -> Result<RoomError, StoredError> {
        let wait = Duration::from_nanos(self.value);
        Ok(match self.kind() {
            Kind::Unspecified => return Err(StoredError::Malformed("refusal")),
            Kind::Rejected => RoomError::Rejected(required(self.rejection, "rejection")?.read()?),
            Kind::Tournament => RoomError::Tournament(read_rejection(required(self.tournament, "rejection")?)?),
            Kind::TournamentNotFound => RoomError::TournamentNotFound,
            Kind::PlayerNotFound => RoomError::PlayerNotFound,
            Kind::UnknownAi => RoomError::UnknownAi,
            Kind::QuotaRooms => RoomError::QuotaRooms(TOO_MANY_ROOMS),
            Kind::QuotaSeats => RoomError::QuotaSeats,
            Kind::QuotaSeatsPlaying => RoomError::QuotaSeatsPlaying(read_room(self.value)?),
            Kind::QuotaStreams => RoomError::QuotaStreams,
            Kind::QuotaAnalyses => RoomError::QuotaAnalyses,
            Kind::QuotaNames => RoomError::QuotaNames,
            Kind::RequestIdReused => RoomError::RequestIdReused,
            Kind::TokenReplaced => RoomError::TokenReplaced,
            Kind::TooFast => RoomError::TooFast(wait),
            Kind::WrongGuesses => RoomError::WrongGuesses(wait),
            Kind::Draining => RoomError::Draining,
            Kind::StoreUnavailable => RoomError::StoreUnavailable,
            Kind::Damaged => RoomError::Damaged,
            Kind::Moved => RoomError::Moved,
            Kind::Unreachable => RoomError::Unreachable,
            Kind::Busy => RoomError::Busy,
        })
    }
}
