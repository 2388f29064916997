//! Ids: opaque, random, never reused.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// Crockford's base 32 in lower case: no letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The text is not an id of the expected kind.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed id")]
pub struct ParseIdError;

fn base32<const DIGITS: usize>(value: u64) -> [u8; DIGITS] {
    std::array::from_fn(|place| {
        let index = (value >> (5 * (DIGITS - 1 - place))) & 31;
        ALPHABET[index as usize]
    })
}

fn read_base32(text: &str, digits: usize) -> Result<u64, ParseIdError> {
    if text.len() != digits {
        return Err(ParseIdError);
    }
    text.bytes().try_fold(0, |value, byte| {
        let digit = ALPHABET.iter().position(|&letter| letter == byte.to_ascii_lowercase());
        digit.map(|digit| value << 5 | digit as u64).ok_or(ParseIdError)
    })
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $digits:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The id with the low bits of `random`.
            #[must_use]
            pub const fn from_random(random: u64) -> Self {
                Self(random & Self::MAX)
            }

            const MAX: u64 = (1 << (5 * $digits)) - 1;

            /// Its text in ASCII, without allocation.
            #[must_use]
            pub fn digits(self) -> [u8; $digits] {
                base32(self.0)
            }

            /// The id as a number.
            #[must_use]
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// The inverse of [`Self::bits`]; `None` if out of range.
            #[must_use]
            pub const fn from_bits(bits: u64) -> Option<Self> {
                if bits <= Self::MAX { Some(Self(bits)) } else { None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                read_base32(text, $digits).map(Self)
            }
        }
    };
}

id!(
    /// The id of a player: 12 digits of base 32.
    PlayerId,
    12
);
id!(
    /// The id of a room: 12 digits of base 32.
    RoomId,
    12
);
id!(
    /// The id of a tournament: 12 digits of base 32.
    TournamentId,
    12
);
id!(
    /// The code that admits a player to a private room: 8 digits of base 32.
    JoinCode,
    8
);

/// The meeting of a tournament that is played in a room. Only its players sit there, and after its series they play no
/// other game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeetingRef {
    /// The tournament.
    pub tournament: TournamentId,
    /// The number of the meeting.
    pub number: u32,
    /// The round to which it belongs, from 1.
    pub round: u32,
}

/// The id of a game: its room and its number there. Written `ROOM-NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId {
    /// The room.
    pub room: RoomId,
    /// The number of the game in its room, from 1.
    pub number: u32,
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.room, f)?;
        write!(f, "-{}", self.number)
    }
}

impl FromStr for GameId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let (room, number) = text.split_once('-').ok_or(ParseIdError)?;
        let canonical = !number.starts_with(['+', '0']);
        let number = number.parse().map_err(|_| ParseIdError)?;
        if !canonical {
            return Err(ParseIdError);
        }
        Ok(Self { room: room.parse()?, number })
    }
}

/// The sequence number of an event in its room, from 1 and without gaps; 0 before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The next number.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The number `steps` later.
    #[must_use]
    pub const fn plus(self, steps: u64) -> Self {
        Self(self.0 + steps)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_round_trip(random: u64, number in 1_u32..) {
            let player = PlayerId::from_random(random);
            prop_assert_eq!(player.to_string().parse(), Ok(player));
            prop_assert_eq!(PlayerId::from_bits(player.bits()), Some(player));
            prop_assert_eq!(PlayerId::from_bits(random).is_some(), random < 1 << 60);
            let code = JoinCode::from_random(random);
            prop_assert_eq!(code.to_string().to_uppercase().parse(), Ok(code));
            let game = GameId { room: RoomId::from_random(random), number };
            prop_assert_eq!(game.to_string().parse(), Ok(game));
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".{0,40}") {
            let _ = text.parse::<RoomId>();
            let _ = text.parse::<GameId>();
        }
    }

    #[test]
    fn a_game_id_has_one_spelling() {
        let room = RoomId::from_random(5);
        for number in ["", "0", "01", "+1", "-1", "4294967296"] {
            assert_eq!(format!("{room}-{number}").parse::<GameId>(), Err(ParseIdError), "{number}");
        }
    }
}
