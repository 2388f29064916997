//! Stored rejections, as one node of a cluster sends them to another.

use reversi_engine::rules::Bitboard;

use super::{StoredError, required};
use crate::{
    rejection::{self, Rejection},
    settings::SettingsError,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredRejection {
    #[prost(uint32, tag = "1")]
    number: u32,
    /// The legal squares after an illegal move.
    #[prost(fixed64, tag = "2")]
    legal: u64,
    /// The text of the reason.
    #[prost(string, tag = "3")]
    reason: String,
}

/// The rejections without a value.
const PLAIN: [Rejection; 18] = [
    Rejection::NotOwner,
    Rejection::NotAdmin,
    Rejection::NotSeated,
    Rejection::NotMember,
    Rejection::Banned,
    Rejection::BadPassword,
    Rejection::RoomNotFound,
    Rejection::GameNotFound,
    Rejection::PlayerNotFound,
    Rejection::RoomFull,
    Rejection::SeatTaken,
    Rejection::RoomInGame,
    Rejection::SeatsNotReady,
    Rejection::RoomClosed,
    Rejection::NotYourTurn,
    Rejection::GameOver,
    Rejection::StalePly,
    Rejection::StaleSettings,
];

const BAD_SETTINGS: u32 = 19;
const WRONG_PHASE: u32 = 20;
const ILLEGAL_MOVE: u32 = 21;

fn number(rejection: Rejection) -> u32 {
    match rejection {
        Rejection::NotOwner => 1,
        Rejection::NotAdmin => 2,
        Rejection::NotSeated => 3,
        Rejection::NotMember => 4,
        Rejection::Banned => 5,
        Rejection::BadPassword => 6,
        Rejection::RoomNotFound => 7,
        Rejection::GameNotFound => 8,
        Rejection::PlayerNotFound => 9,
        Rejection::RoomFull => 10,
        Rejection::SeatTaken => 11,
        Rejection::RoomInGame => 12,
        Rejection::SeatsNotReady => 13,
        Rejection::RoomClosed => 14,
        Rejection::NotYourTurn => 15,
        Rejection::GameOver => 16,
        Rejection::StalePly => 17,
        Rejection::StaleSettings => 18,
        Rejection::BadSettings(_) => BAD_SETTINGS,
        Rejection::WrongPhase(_) => WRONG_PHASE,
        Rejection::IllegalMove(_) => ILLEGAL_MOVE,
    }
}

/// Read for settings that are out of bounds. Settings are checked where they are read from a client, so that a room of
/// another node refuses only those of a newer version.
const OUT_OF_BOUNDS: SettingsError = SettingsError { field: "settings", problem: "are out of bounds" };

/// Read for a reason that this version does not know.
const NOT_NOW: &str = "the room is in another phase";

impl From<Rejection> for StoredRejection {
    fn from(rejection: Rejection) -> Self {
        let (legal, reason) = match rejection {
            Rejection::IllegalMove(legal) => (legal.0, ""),
            Rejection::WrongPhase(reason) => (0, reason),
            _ => (0, ""),
        };
        Self { number: number(rejection), legal, reason: reason.to_owned() }
    }
}

impl StoredRejection {
    pub(super) fn read(self) -> Result<Rejection, StoredError> {
        Ok(match self.number {
            BAD_SETTINGS => Rejection::BadSettings(OUT_OF_BOUNDS),
            WRONG_PHASE => {
                let reason = rejection::WRONG_PHASES.into_iter().find(|reason| *reason == self.reason);
                Rejection::WrongPhase(reason.unwrap_or(NOT_NOW))
            }
            ILLEGAL_MOVE => Rejection::IllegalMove(Bitboard(self.legal)),
            other => required(PLAIN.into_iter().find(|plain| number(*plain) == other), "rejection")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{decode_rejection, encode_rejection};

    #[test]
    fn every_rejection_is_read_as_it_was_written_but_for_the_bounds_of_settings() {
        let phases = rejection::WRONG_PHASES.map(Rejection::WrongPhase);
        let illegal = Rejection::IllegalMove(Bitboard(1 << 63 | 1));
        let all: Vec<_> = PLAIN.into_iter().chain(phases).chain([illegal]).collect();
        let mut numbers: Vec<_> = all.iter().map(|rejection| number(*rejection)).collect();
        numbers.dedup();
        assert_eq!(numbers.len(), PLAIN.len() + 2, "each has a number of its own");
        for rejection in all {
            assert_eq!(decode_rejection(&encode_rejection(rejection)), Ok(rejection));
        }
        let games = SettingsError { field: "games", problem: "must be 1 to 1000" };
        let read = decode_rejection(&encode_rejection(Rejection::BadSettings(games)));
        assert_eq!(read, Ok(Rejection::BadSettings(OUT_OF_BOUNDS)));
        let newer = decode_rejection(&encode_rejection(Rejection::WrongPhase("a reason of a newer version")));
        assert_eq!(newer, Ok(Rejection::WrongPhase(NOT_NOW)));
    }
}
