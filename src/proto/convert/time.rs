//! Timestamps and durations.

use std::time::Duration;

use super::Malformed;
use crate::room::Timestamp;

/// The longest duration that `google.protobuf.Duration` allows: about 10,000 years.
const MAX_SECONDS: i64 = 315_576_000_000;

/// A timestamp, for the wire.
#[must_use]
pub fn timestamp(at: Timestamp) -> prost_types::Timestamp {
    const MICROS: i64 = 1_000_000;
    let nanos = at.0.rem_euclid(MICROS) * 1000;
    prost_types::Timestamp { seconds: at.0.div_euclid(MICROS), nanos: nanos as i32 }
}

/// A time.
///
/// # Errors
/// `BAD_ARGUMENT` for `field`, unless it is a time in the years 1 to 9999.
pub fn read_timestamp(field: &str, wire: prost_types::Timestamp) -> Result<Timestamp, Malformed> {
    // 0001-01-01 and 10000-01-01.
    let is_time =
        (-62_135_596_800..253_402_300_800).contains(&wire.seconds) && (0..1_000_000_000).contains(&wire.nanos);
    match is_time {
        true => Ok(Timestamp(wire.seconds * 1_000_000 + i64::from(wire.nanos) / 1000)),
        false => Err(Malformed::argument(field, "must be a time in the years 1 to 9999")),
    }
}

/// A duration, for the wire, saturating.
#[must_use]
pub fn duration(duration: Duration) -> prost_types::Duration {
    match i64::try_from(duration.as_secs()) {
        Ok(seconds @ ..MAX_SECONDS) => prost_types::Duration { seconds, nanos: duration.subsec_nanos() as i32 },
        _ => prost_types::Duration { seconds: MAX_SECONDS, nanos: 0 },
    }
}

/// Signed microseconds as a duration, for the wire.
#[must_use]
pub fn span(micros: i64) -> prost_types::Duration {
    const MICROS: i64 = 1_000_000;
    // Both parts have the sign of the whole.
    prost_types::Duration { seconds: micros / MICROS, nanos: (micros % MICROS) as i32 * 1000 }
}

/// A duration that is not negative and within the wire's own bounds.
///
/// # Errors
/// `BAD_ARGUMENT` for `field`.
pub fn read_duration(field: &str, wire: prost_types::Duration) -> Result<Duration, Malformed> {
    let bad = |problem| Err(Malformed::argument(field, problem));
    if wire.seconds < 0 || wire.nanos < 0 {
        return bad("must not be negative");
    }
    match (u64::try_from(wire.seconds), u32::try_from(wire.nanos)) {
        (Ok(seconds), Ok(nanos @ ..=999_999_999)) if wire.seconds <= MAX_SECONDS => Ok(Duration::new(seconds, nanos)),
        _ => bad("must be a valid google.protobuf.Duration"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn durations_round_trip(seconds in 0..MAX_SECONDS as u64, nanos in 0..1_000_000_000_u32) {
            let there = Duration::new(seconds, nanos);
            prop_assert_eq!(read_duration("f", duration(there)), Ok(there));
        }

        #[test]
        fn any_duration_is_read_without_panic(seconds: i64, nanos: i32) {
            let wire = prost_types::Duration { seconds, nanos };
            match read_duration("move_limit", wire) {
                Ok(read) => prop_assert_eq!(duration(read).seconds, seconds),
                Err(error) => prop_assert_eq!(error.field, "move_limit"),
            }
        }

        #[test]
        fn any_duration_is_written_without_panic(micros: i64) {
            let wire = span(micros);
            prop_assert_eq!(wire.seconds.signum() * i64::from(wire.nanos).signum() < 0, false);
            prop_assert_eq!(i128::from(wire.seconds) * 1_000_000 + i128::from(wire.nanos / 1000), i128::from(micros));
        }

        #[test]
        fn any_timestamp_is_written_without_panic(micros: i64) {
            let wire = timestamp(Timestamp(micros));
            prop_assert!((0..1_000_000_000).contains(&wire.nanos));
            prop_assert_eq!(i128::from(wire.seconds) * 1_000_000 + i128::from(wire.nanos / 1000), i128::from(micros));
        }
    }

    #[test]
    fn an_invalid_duration_is_refused() {
        for (seconds, nanos) in [(-1, 0), (0, -1), (1, -1), (0, 1_000_000_000), (i64::MAX, 0), (i64::MIN, i32::MIN)] {
            assert!(read_duration("f", prost_types::Duration { seconds, nanos }).is_err(), "{seconds} {nanos}");
        }
        assert_eq!(duration(Duration::MAX).seconds, MAX_SECONDS);
    }
}
