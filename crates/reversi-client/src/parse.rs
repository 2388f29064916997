//! Parsers of common fields. `what` names the field in the error.

use std::time::{Duration, SystemTime};

use prost_types::Timestamp;

use super::Malformed;
use crate::{
    rules::{Color, Square},
    v1,
};

pub(super) fn required<T>(value: Option<T>, what: &'static str) -> Result<T, Malformed> {
    value.ok_or_else(|| Malformed::new(what, "missing"))
}

/// Rejects control characters, so that a name is safe to print to a terminal.
pub(super) fn plain(text: String, what: &'static str) -> Result<String, Malformed> {
    if text.chars().any(char::is_control) {
        return Err(Malformed::new(what, format_args!("{text:?} has control characters")));
    }
    Ok(text)
}

/// Rejects negative numbers.
pub(super) fn count(value: i32, what: &'static str) -> Result<u32, Malformed> {
    u32::try_from(value).map_err(|_| Malformed::new(what, value))
}

/// A number of discs, at most 64.
pub(super) fn discs(value: i32, what: &'static str) -> Result<u8, Malformed> {
    u8::try_from(value).ok().filter(|&discs| discs <= 64).ok_or_else(|| Malformed::new(what, value))
}

/// Rejects negative durations.
pub(super) fn maybe_duration(
    value: Option<prost_types::Duration>,
    what: &'static str,
) -> Result<Option<Duration>, Malformed> {
    value.map(|value| Duration::try_from(value).map_err(|_| Malformed::new(what, value))).transpose()
}

/// Microseconds, which may be negative; saturates.
pub(super) fn micros(value: prost_types::Duration) -> i64 {
    value.seconds.saturating_mul(1_000_000).saturating_add(i64::from(value.nanos / 1000))
}

pub(super) fn maybe_time(value: Option<Timestamp>, what: &'static str) -> Result<Option<SystemTime>, Malformed> {
    value.map(|value| SystemTime::try_from(value).map_err(|_| Malformed::new(what, value))).transpose()
}

/// Saturates.
pub(super) fn to_wire(duration: Duration) -> prost_types::Duration {
    duration.try_into().unwrap_or(prost_types::Duration { seconds: i64::MAX, nanos: 0 })
}

/// `None` if unspecified.
pub(super) fn maybe_side(value: i32, what: &'static str) -> Result<Option<Color>, Malformed> {
    match v1::Side::try_from(value) {
        Ok(v1::Side::Unspecified) => Ok(None),
        Ok(v1::Side::Black) => Ok(Some(Color::Black)),
        Ok(v1::Side::White) => Ok(Some(Color::White)),
        Err(_) => Err(Malformed::new(what, value)),
    }
}

/// Rejects an unspecified side.
pub(super) fn side(value: i32, what: &'static str) -> Result<Color, Malformed> {
    required(maybe_side(value, what)?, what)
}

/// The side of a seat number: 0 is black.
pub(super) fn seat(value: i32, what: &'static str) -> Result<Color, Malformed> {
    match value {
        0 => Ok(Color::Black),
        1 => Ok(Color::White),
        _ => Err(Malformed::new(what, value)),
    }
}

pub(super) fn seat_number(side: Color) -> i32 {
    match side {
        Color::Black => 0,
        Color::White => 1,
    }
}

pub(super) fn square(text: &str, what: &'static str) -> Result<Square, Malformed> {
    text.parse().map_err(|error| Malformed::new(what, format_args!("`{text}`: {error}")))
}

/// `None` for the empty text.
pub(super) fn maybe_square(text: &str, what: &'static str) -> Result<Option<Square>, Malformed> {
    if text.is_empty() { Ok(None) } else { square(text, what).map(Some) }
}

pub(super) fn squares<S: FromIterator<Square>>(names: &[String], what: &'static str) -> Result<S, Malformed> {
    names.iter().map(|name| square(name, what)).collect()
}

pub(super) fn all<W, T: TryFrom<W, Error = Malformed>>(items: Vec<W>) -> Result<Vec<T>, Malformed> {
    items.into_iter().map(T::try_from).collect()
}
