//! Stored rejections, as one node of a cluster sends them to another.

use reversi_engine::rules::Bitboard;

use super::{
    StoredError, required,
    v1::{self, RejectionKind as Kind},
};
use crate::{
    rejection::{self, Rejection},
    settings::SettingsError,
    timestamp::Timestamp,
};

/// Read for settings that are out of bounds. Settings are checked where they are read from a client, so that a room of
/// another node refuses only those of a newer version.
const OUT_OF_BOUNDS: SettingsError = SettingsError { field: "settings", problem: "are out of bounds" };

/// Read for a reason that this version does not know.
const NOT_NOW: &str = "the room is in another phase";

/// Both directions; those without a value are named once. The compiler rejects a table without all variants.
macro_rules! rejections {
    ($($plain:ident),+) => {
        impl From<Rejection> for v1::Rejection {
            fn from(rejection: Rejection) -> Self {
                let (mut legal, mut reason, mut from) = (0, "", 0);
                let kind = match rejection {
                    $(Rejection::$plain => Kind::$plain,)+
                    Rejection::BadSettings(_) => Kind::BadSettings,
                    Rejection::WrongPhase(why) => {
                        reason = why;
                        Kind::WrongPhase
                    }
                    Rejection::OfferTooSoon(ply) => {
                        from = ply.into();
                        Kind::OfferTooSoon
                    }
                    Rejection::ClaimTooSoon(at) => {
                        from = at.0;
                        Kind::ClaimTooSoon
                    }
                    Rejection::IllegalMove(squares) => {
                        legal = squares.0;
                        Kind::IllegalMove
                    }
                };
                Self { kind: kind.into(), legal, reason: reason.to_owned(), from }
            }
        }

        impl v1::Rejection {
            /// Reads what another node has sent.
            ///
            /// # Errors
            /// [`StoredError::Malformed`] for a message that no server sends.
            pub fn read(self) -> Result<Rejection, StoredError> {
                Ok(match self.kind() {
                    Kind::Unspecified => return Err(StoredError::Malformed("rejection")),
                    $(Kind::$plain => Rejection::$plain,)+
                    Kind::BadSettings => Rejection::BadSettings(OUT_OF_BOUNDS),
                    Kind::WrongPhase => {
                        let reason = rejection::WRONG_PHASES.into_iter().find(|reason| *reason == self.reason);
                        Rejection::WrongPhase(reason.unwrap_or(NOT_NOW))
                    }
                    Kind::OfferTooSoon => {
                        Rejection::OfferTooSoon(required(u16::try_from(self.from).ok(), "ply of an offer")?)
                    }
                    Kind::ClaimTooSoon => Rejection::ClaimTooSoon(Timestamp(self.from)),
                    Kind::IllegalMove => Rejection::IllegalMove(Bitboard(self.legal)),
                })
            }
        }
    };
}

rejections! {
    NotOwner, NotAdmin, NotSeated, NotMember, Banned, BadPassword, RoomNotFound, GameNotFound, PlayerNotFound, RoomFull,
    SeatTaken, RoomInGame, SeatsNotReady, RoomClosed, NotYourTurn, GameOver, StalePly, StaleSettings,
    NotAccepted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rejection_is_read_as_it_was_written_but_for_the_bounds_of_settings() {
        let kinds = (1..).map_while(|number| Kind::try_from(number).ok());
        let illegal = v1::Rejection { legal: 1 << 63 | 1, from: 20, ..Default::default() };
        let of_kinds = kinds.map(|kind| v1::Rejection { kind: kind.into(), ..illegal.clone() }.read().expect("known"));
        let phases = rejection::WRONG_PHASES.map(Rejection::WrongPhase);
        let all: Vec<_> = of_kinds.chain(phases).collect();
        assert_eq!(all.len(), 24 + phases.len());
        for rejection in all {
            assert_eq!(v1::Rejection::from(rejection).read(), Ok(rejection));
        }
        let games = SettingsError { field: "games", problem: "must be 1 to 1000" };
        let read = v1::Rejection::from(Rejection::BadSettings(games)).read();
        assert_eq!(read, Ok(Rejection::BadSettings(OUT_OF_BOUNDS)));
        let newer = v1::Rejection::from(Rejection::WrongPhase("a reason of a newer version")).read();
        assert_eq!(newer, Ok(Rejection::WrongPhase(NOT_NOW)));
    }
}
