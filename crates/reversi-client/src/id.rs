//! Ids assigned by the server, opaque to clients.

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::{Malformed, parse};
use crate::v1;

/// The maximum length of an id.
const MAX_BYTES: usize = 64;

/// The text is empty, too long, or has characters other than letters, digits, `-` and `_`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("an id is 1 to 64 letters, digits, `-` and `_`")]
pub struct ParseIdError;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub(super) fn parse(text: String) -> Result<Self, Malformed> {
                text.parse().map_err(|error| Malformed::new($what, error))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
                let fits = (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(plain);
                if fits { Ok(Self(text.to_owned())) } else { Err(ParseIdError) }
            }
        }
    };
}

id!(
    /// The id of a player.
    PlayerId,
    "player id"
);
id!(
    /// The id of a room.
    RoomId,
    "room id"
);
id!(
    /// The id of a tournament.
    TournamentId,
    "tournament id"
);
id!(
    /// The id of a game.
    GameId,
    "game id"
);

/// The meeting of a tournament to which a room or a game belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeetingRef {
    /// The tournament.
    pub tournament: TournamentId,
    /// The number of the meeting in it, from 1.
    pub number: u32,
    /// The round, from 1.
    pub round: u32,
}

impl TryFrom<v1::RoomMeeting> for MeetingRef {
    type Error = Malformed;

    fn try_from(meeting: v1::RoomMeeting) -> Result<Self, Malformed> {
        Ok(Self {
            tournament: TournamentId::parse(meeting.tournament_id)?,
            number: parse::count(meeting.number, "meeting")?,
            round: parse::count(meeting.round, "round")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_and_other_text_is_refused() {
        let id: RoomId = "7k2m9x".parse().unwrap();
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "a b", "é", "../x", &"x".repeat(65)] {
            assert_eq!(text.parse::<GameId>(), Err(ParseIdError), "{text:?}");
        }
    }
}
