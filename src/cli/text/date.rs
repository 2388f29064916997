//! Dates and times as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{proto::convert, room::Timestamp};

/// In microseconds.
const SECOND: i64 = 1_000_000;

/// RFC 3339 in UTC, to the second; as long for an unknown time.
pub(in crate::cli) fn date(time: Option<SystemTime>) -> String {
    time.map_or_else(|| format!("{:20}", "unknown date"), |time| rfc3339(micros(time).div_euclid(SECOND) * SECOND))
}

/// RFC 3339 in UTC, to the microsecond, as the server writes times in JSON; `None` for an unknown time.
pub(in crate::cli) fn precise(time: Option<SystemTime>) -> Option<String> {
    time.map(|time| rfc3339(micros(time)))
}

/// Microseconds since 1970; negative before.
fn micros(time: SystemTime) -> i64 {
    let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => micros(after),
        Err(before) => -micros(before.duration()),
    }
}

fn rfc3339(micros: i64) -> String {
    convert::timestamp(Timestamp(micros)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_shown_to_the_second() {
        let time = UNIX_EPOCH + Duration::from_millis(1_767_348_000_987);
        assert_eq!(date(Some(time)), "2026-01-02T10:00:00Z");
        assert_eq!(precise(Some(time)).as_deref(), Some("2026-01-02T10:00:00.987Z"));
        let old = UNIX_EPOCH - Duration::from_millis(1_500);
        assert_eq!(
            (date(Some(old)), precise(Some(old))),
            ("1969-12-31T23:59:58Z".into(), Some("1969-12-31T23:59:58.500Z".into()))
        );
        assert_eq!((date(None), precise(None)), ("unknown date        ".into(), None));
    }
}
