//! Parts of messages: numbers of enum variants, pairs of numbers, squares, ids and durations.

use std::time::Duration;

use reversi_engine::{
    rating::Points,
    rules::{Color, Square},
};

use super::{StoredError, checked, required};
use crate::{
    event::{CloseReason, LeaveReason, Offer},
    game::EndReason,
    ids::{JoinCode, PlayerId, RoomId, Seq},
    seat::PlayerKind,
    settings::{Visibility, Watching},
    state::Phase,
};

/// The highest sequence number accepted, far below overflow.
const LAST_SEQ: u64 = 1 << 62;

/// An enum whose variants are stored as numbers from 1; 0 stands for no value.
pub(super) trait Numbered: Sized {
    const NAME: &'static str;

    fn number(self) -> u32;

    fn from_number(number: u64) -> Option<Self>;

    fn read(number: impl Into<u64>) -> Result<Self, StoredError> {
        required(Self::from_number(number.into()), Self::NAME)
    }

    fn read_optional(number: impl Into<u64>) -> Result<Option<Self>, StoredError> {
        match number.into() {
            0 => Ok(None),
            number => Self::read(number).map(Some),
        }
    }
}

/// One table for both directions; the compiler rejects one without all variants.
macro_rules! numbered {
    ($name:ident, $what:literal: $($variant:ident = $number:literal),+) => {
        impl Numbered for $name {
            const NAME: &'static str = $what;

            fn number(self) -> u32 {
                match self { $(Self::$variant => $number),+ }
            }

            fn from_number(number: u64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

numbered!(Color, "side": Black = 1, White = 2);
numbered!(PlayerKind, "kind of player": Human = 1, Bot = 2);
numbered!(Visibility, "visibility": Public = 1, Private = 2);
numbered!(Watching, "watching": Everyone = 1, Members = 2);
numbered!(Phase, "phase": Lobby = 1, Playing = 2, Closed = 3);
numbered!(Points, "result": Loss = 1, Draw = 2, Win = 3);
numbered!(Offer, "offer": Draw = 1, Rematch = 2);
numbered!(LeaveReason, "reason of a leave": Left = 1, Kicked = 2, Banned = 3, Absent = 4);
numbered!(CloseReason, "reason of a close": Empty = 1, Closed = 2, Idle = 3, Server = 4);
numbered!(EndReason, "reason of an end":
    Discs = 1, Resignation = 2, Timeout = 3, Left = 4, Kicked = 5, Agreed = 6, Aborted = 7, Server = 8,
    AbortedByBlack = 9, AbortedByWhite = 10, AbortedByOwner = 11, AbortedByAdmin = 12);

/// The number of a value, 0 for none.
pub(super) fn number_or_zero<T: Numbered>(value: Option<T>) -> u32 {
    value.map_or(0, T::number)
}

pub(super) fn read_seq(number: u64) -> Result<Seq, StoredError> {
    Ok(Seq(checked(number, (1..=LAST_SEQ).contains(&number), "sequence number")?))
}

pub(super) fn read_player(bits: u64) -> Result<PlayerId, StoredError> {
    required(PlayerId::from_bits(bits), "player")
}

pub(super) fn read_room(bits: u64) -> Result<RoomId, StoredError> {
    required(RoomId::from_bits(bits), "id of a room")
}

pub(super) fn read_code(bits: u64) -> Result<JoinCode, StoredError> {
    required(JoinCode::from_bits(bits), "join code")
}

/// Converts a number to a narrower type. Fails with [`StoredError::Malformed`] when it does not fit.
pub(super) fn narrow<T: TryFrom<u64>>(number: impl Into<u64>, what: &'static str) -> Result<T, StoredError> {
    required(T::try_from(number.into()).ok(), what)
}

/// Squares, one byte each.
pub(super) fn squares(squares: &[Square]) -> Vec<u8> {
    squares.iter().map(|square| square.index()).collect()
}

pub(super) fn read_squares(bytes: &[u8]) -> Result<Vec<Square>, StoredError> {
    bytes.iter().map(|&index| required(Square::new(index), "square")).collect()
}

/// Two numbers, flags or ids. As a message, all unsigned types are encoded alike.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct StoredPair {
    #[prost(uint64, tag = "1")]
    pub(super) first: u64,
    #[prost(uint64, tag = "2")]
    pub(super) second: u64,
}

impl StoredPair {
    pub(super) fn new(first: impl Into<u64>, second: impl Into<u64>) -> Self {
        Self { first: first.into(), second: second.into() }
    }
}

/// A duration in whole nanoseconds.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct StoredDuration {
    #[prost(uint64, tag = "1")]
    seconds: u64,
    #[prost(uint32, tag = "2")]
    nanos: u32,
}

impl From<Duration> for StoredDuration {
    fn from(duration: Duration) -> Self {
        Self { seconds: duration.as_secs(), nanos: duration.subsec_nanos() }
    }
}

impl StoredDuration {
    pub(super) fn read(self) -> Result<Duration, StoredError> {
        let nanos = required((self.nanos < 1_000_000_000).then_some(self.nanos), "duration")?;
        Ok(Duration::new(self.seconds, nanos))
    }

    pub(super) fn read_optional(stored: Option<Self>) -> Result<Option<Duration>, StoredError> {
        stored.map(Self::read).transpose()
    }

    /// Zero when absent.
    pub(super) fn read_or_zero(stored: Option<Self>) -> Result<Duration, StoredError> {
        stored.unwrap_or_default().read()
    }
}
