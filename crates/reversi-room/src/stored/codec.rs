//! Parts of messages: numbers of enum variants, squares, ids and durations.

use std::time::Duration;

use reversi_engine::{
    match_statistics::Points,
    rules::{Color, Square},
};

use super::{StoredError, checked, required, v1};
use crate::{
    command::Claim,
    event::{CloseReason, LeaveReason, Offer},
    game::EndReason,
    ids::{JoinCode, PlayerId, RoomId, Seq},
    seat::PlayerKind,
    settings::{Visibility, Watching},
    state::Phase,
};

/// The highest sequence number accepted, far below overflow.
const LAST_SEQ: u64 = 1 << 62;

/// An enum whose variants are stored as numbers; 0 stands for no value.
pub trait Numbered: Sized {
    /// The name of the enum in errors.
    const NAME: &'static str;

    /// The number of the variant.
    fn number(self) -> i32;

    /// The variant with this number, if there is one.
    fn from_number(number: i32) -> Option<Self>;

    /// The variant with this number.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for other numbers.
    fn read(number: i32) -> Result<Self, StoredError> {
        required(Self::from_number(number), Self::NAME)
    }

    /// The variant with this number, none for 0.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for other numbers.
    fn read_optional(number: i32) -> Result<Option<Self>, StoredError> {
        if number == 0 { Ok(None) } else { Self::read(number).map(Some) }
    }
}

/// One table for both directions; the compiler rejects one without all variants.
macro_rules! numbered {
    ($name:ident, $what:literal: $($variant:ident),+) => {
        impl Numbered for $name {
            const NAME: &'static str = $what;

            fn number(self) -> i32 {
                match self { $(Self::$variant => v1::$name::$variant.into()),+ }
            }

            fn from_number(number: i32) -> Option<Self> {
                match v1::$name::try_from(number).ok()? {
                    v1::$name::Unspecified => None,
                    $(v1::$name::$variant => Some(Self::$variant),)+
                }
            }
        }
    };
}

numbered!(Color, "side": Black, White);
numbered!(PlayerKind, "kind of player": Human, Bot);
numbered!(Visibility, "visibility": Public, Private);
numbered!(Watching, "watching": Everyone, Members);
numbered!(Phase, "phase": Lobby, Playing, Closed);
numbered!(Points, "result": Loss, Draw, Win);
numbered!(Offer, "offer": Draw, Rematch, TakeBack);
numbered!(Claim, "claim": Win, Draw);
numbered!(LeaveReason, "reason of a leave": Left, Kicked, Banned, Absent);
numbered!(CloseReason, "reason of a close": Empty, Closed, Idle, Server);
numbered!(EndReason, "reason of an end":
    Discs, Resignation, Timeout, Left, Kicked, Agreed, Aborted, Server, AbortedByBlack, AbortedByWhite,
    AbortedByOwner, AbortedByAdmin, TakenBack);

/// The number of a value, 0 for none.
pub(super) fn number_or_zero<T: Numbered>(value: Option<T>) -> i32 {
    value.map_or(0, T::number)
}

/// Reads a sequence number.
///
/// # Errors
/// [`StoredError::Malformed`] for 0 and for numbers near an overflow.
pub fn read_seq(number: u64) -> Result<Seq, StoredError> {
    Ok(Seq(checked(number, (1..=LAST_SEQ).contains(&number), "sequence number")?))
}

/// Reads the id of a player.
///
/// # Errors
/// [`StoredError::Malformed`] for other numbers.
pub fn read_player(bits: u64) -> Result<PlayerId, StoredError> {
    required(PlayerId::from_bits(bits), "player")
}

/// As [`read_player`]; none for 0.
///
/// # Errors
/// [`StoredError::Malformed`] for other numbers.
pub fn read_player_or_none(bits: u64) -> Result<Option<PlayerId>, StoredError> {
    if bits == 0 { Ok(None) } else { read_player(bits).map(Some) }
}

/// Reads the id of a room.
///
/// # Errors
/// [`StoredError::Malformed`] for other numbers.
pub fn read_room(bits: u64) -> Result<RoomId, StoredError> {
    required(RoomId::from_bits(bits), "id of a room")
}

pub(super) fn read_code(bits: u64) -> Result<JoinCode, StoredError> {
    required(JoinCode::from_bits(bits), "join code")
}

/// Converts a number to a narrower type.
///
/// # Errors
/// [`StoredError::Malformed`] when it does not fit.
pub fn narrow<T: TryFrom<u32>>(number: u32, what: &'static str) -> Result<T, StoredError> {
    required(T::try_from(number).ok(), what)
}

/// Squares, one byte each.
pub(super) fn squares(squares: &[Square]) -> Vec<u8> {
    squares.iter().map(|square| square.index()).collect()
}

pub(super) fn read_squares(bytes: &[u8]) -> Result<Vec<Square>, StoredError> {
    bytes.iter().map(|&index| required(Square::new(index), "square")).collect()
}

impl From<Duration> for v1::Duration {
    fn from(duration: Duration) -> Self {
        Self { seconds: duration.as_secs(), nanos: duration.subsec_nanos() }
    }
}

impl v1::Duration {
    /// Reads a duration.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a second or more of nanoseconds.
    pub fn read(self) -> Result<Duration, StoredError> {
        let nanos = required((self.nanos < 1_000_000_000).then_some(self.nanos), "duration")?;
        Ok(Duration::new(self.seconds, nanos))
    }

    /// As [`Self::read`]; none when absent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a second or more of nanoseconds.
    pub fn read_optional(stored: Option<Self>) -> Result<Option<Duration>, StoredError> {
        stored.map(Self::read).transpose()
    }

    /// As [`Self::read`]; zero when absent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a second or more of nanoseconds.
    pub fn read_or_zero(stored: Option<Self>) -> Result<Duration, StoredError> {
        stored.unwrap_or_default().read()
    }
}
