//! Dates and times as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{proto::convert, room::Timestamp};

/// RFC 3339 in UTC, to the second.
pub(in crate::cli) fn date(time: Option<SystemTime>) -> String {
    rfc3339(Duration::from_secs(since_epoch(time).as_secs()))
}

/// RFC 3339 in UTC, to the microsecond, as the server writes times in JSON.
pub(in crate::cli) fn precise(time: Option<SystemTime>) -> String {
    rfc3339(since_epoch(time))
}

fn since_epoch(time: Option<SystemTime>) -> Duration {
    time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default()
}

fn rfc3339(since_epoch: Duration) -> String {
    let micros = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
    convert::timestamp(Timestamp(micros)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_shown_to_the_second() {
        let time = UNIX_EPOCH + Duration::from_millis(1_767_348_000_987);
        assert_eq!(date(Some(time)), "2026-01-02T10:00:00Z");
        assert_eq!(precise(Some(time)), "2026-01-02T10:00:00.987Z");
        assert_eq!(date(None), "1970-01-01T00:00:00Z");
    }
}
