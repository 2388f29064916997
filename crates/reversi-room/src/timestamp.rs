//! Points in time.

use std::time::Duration;

/// A point in time: microseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// An unknown time, as that of an imported game without a date: earlier than any other.
    pub const UNKNOWN: Self = Self(i64::MIN);

    /// `None` for [`Self::UNKNOWN`].
    #[must_use]
    pub fn known(self) -> Option<Self> {
        Some(self).filter(|&time| time != Self::UNKNOWN)
    }

    /// The time `duration` later, saturating.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time `duration` earlier, saturating.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time `micros` later, or earlier if negative, saturating.
    #[must_use]
    pub fn shifted(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// The time from `earlier` to this; zero unless this is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates() {
        let now = Timestamp(1_000_000);
        assert_eq!(now.after(Duration::from_secs(2)), Timestamp(3_000_000));
        assert_eq!(now.after(Duration::MAX), Timestamp(i64::MAX));
        assert_eq!(now.before(Duration::from_secs(2)), Timestamp(-1_000_000));
        assert_eq!(Timestamp(-2).before(Duration::MAX), Timestamp(i64::MIN));
        assert_eq!(now.shifted(-1_000_001), Timestamp(-1));
        assert_eq!(
            (now.shifted(i64::MAX), Timestamp(-2).shifted(i64::MIN)),
            (Timestamp(i64::MAX), Timestamp(i64::MIN))
        );
        assert_eq!(Timestamp(0).since(now), Duration::ZERO);
        assert_eq!(now.since(Timestamp(0)), Duration::from_secs(1));
    }
}
