//! The server's clock. Only this file reads the time.
#![expect(clippy::disallowed_methods, reason = "only this file reads the clock")]

use std::{
    sync::{LazyLock, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use crate::room::Timestamp;

/// Maximum difference between the rates of the server's time and of the monotonic clock, in parts per million. At this
/// rate a turn of a minute is 0.3 seconds shorter or longer.
const MAX_RATE: i64 = 5_000;

/// The time in which a small difference to the system's clock is corrected.
const CATCH_UP: Duration = Duration::from_secs(60);

/// A greater difference to the system's clock is logged, because it takes hours to correct.
const LARGE_DIFFERENCE: Duration = Duration::from_secs(60);

/// The pace of the clock of the process.
static PROCESS: LazyLock<RwLock<Pace>> = LazyLock::new(|| RwLock::new(Pace::new(system_time())));

/// The server's time. It runs on the monotonic clock and never goes back, so that no player loses on time by a
/// correction of the system's clock. The clock of the process runs a little faster or slower until it agrees with the
/// system's again.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// None for the clock of the process.
    pace: Option<Pace>,
}

/// The rate of the server's time since an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pace {
    since: Instant,
    /// The time at that instant.
    time: Timestamp,
    /// How much faster than the monotonic clock, in parts per million. Negative if slower.
    rate: i64,
}

impl Clock {
    /// The clock of the process, which starts at the system's time and follows it.
    #[must_use]
    pub fn of_process() -> Self {
        LazyLock::force(&PROCESS);
        Self { pace: None }
    }

    /// A clock that starts at the system's time, and does not follow it.
    #[must_use]
    pub fn system() -> Self {
        Self::starting(system_time())
    }

    /// A clock that starts now at `origin`. It pauses when tokio's clock is paused.
    #[must_use]
    pub fn starting(origin: Timestamp) -> Self {
        Self { pace: Some(Pace::new(origin)) }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.at(Instant::now())
    }

    /// The time at an instant of tokio's clock.
    pub(crate) fn at(&self, moment: Instant) -> Timestamp {
        self.pace().at(moment)
    }

    /// The instant of tokio's clock at a time.
    pub(crate) fn instant(&self, moment: Timestamp) -> Instant {
        self.pace().instant(moment)
    }

    /// The time from now to `moment`. Zero if it has passed.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        moment.since(self.now())
    }

    /// Reads the system's clock. The clock of the process runs towards its time from now on; other clocks do not
    /// change.
    pub(crate) fn follow_system(&self) {
        if self.pace.is_some() {
            return;
        }
        let (now, system) = (Instant::now(), system_time());
        let pace = self.pace();
        let next = pace.towards(system, now);
        if pace.rate.abs() < MAX_RATE && is_large(next.time, system) {
            tracing::warn!(
                server_micros = next.time.0,
                system_micros = system.0,
                "the system's clock was changed; the server's time follows it slowly, or at once after a restart"
            );
        }
        *PROCESS.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    fn pace(&self) -> Pace {
        self.pace.unwrap_or_else(|| *PROCESS.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl Pace {
    fn new(time: Timestamp) -> Self {
        Self { since: Instant::now(), time, rate: 0 }
    }

    fn at(&self, moment: Instant) -> Timestamp {
        if moment < self.since {
            // For a message that arrived before the last change of the pace.
            return self.time.shifted(-micros(self.since - moment));
        }
        let passed = micros(moment.saturating_duration_since(self.since));
        self.time.shifted(passed.saturating_add(scaled(passed, self.rate, 1_000_000)))
    }

    fn instant(&self, moment: Timestamp) -> Instant {
        let passed = micros(moment.since(self.time));
        // Rounded up, so that the time has come at that instant.
        let passed = passed.saturating_sub(scaled(passed, self.rate, 1_000_000 + self.rate)).saturating_add(1);
        self.since + Duration::from_micros(passed.unsigned_abs())
    }

    /// A pace with the same time at `now`, which then runs towards the system's time.
    fn towards(&self, system: Timestamp, now: Instant) -> Self {
        let time = self.at(now);
        let missing = system.0.saturating_sub(time.0);
        let rate = scaled(missing, 1_000_000, micros(CATCH_UP)).clamp(-MAX_RATE, MAX_RATE);
        Self { since: now, time, rate }
    }
}

/// The product of a time in microseconds and a fraction.
fn scaled(micros: i64, numerator: i64, denominator: i64) -> i64 {
    i64::try_from(i128::from(micros) * i128::from(numerator) / i128::from(denominator)).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn is_large(one: Timestamp, other: Timestamp) -> bool {
    one.since(other).max(other.since(one)) > LARGE_DIFFERENCE
}

fn system_time() -> Timestamp {
    Timestamp(0).after(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO))
}

/// The monotonic clock, for threads.
pub(crate) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_runs_towards_the_systems_without_a_jump() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let pace = Pace { since: start, time: Timestamp(0), rate: 0 };
        let later = start + 100 * second;
        for (system, rate) in [(103_000_000, MAX_RATE), (97_000_000, -MAX_RATE), (100_000_060, 1), (100_000_000, 0)] {
            let next = pace.towards(Timestamp(system), later);
            assert_eq!(next, Pace { since: later, time: pace.at(later), rate }, "{system}");
            let minute = next.at(later + 60 * second).since(next.time);
            assert_eq!(minute, Duration::from_micros((60_000_000 + 60 * rate).unsigned_abs()));
        }
    }

    #[test]
    fn a_moment_before_the_pace_changed_is_not_later_than_it_was() {
        let (since, second) = (Instant::now() + Duration::from_secs(9), Duration::from_secs(1));
        let pace = Pace { since, time: Timestamp(50_000_000), rate: MAX_RATE };
        assert_eq!(pace.at(since - 2 * second), Timestamp(48_000_000));
    }

    #[test]
    fn a_difference_is_made_up_and_then_kept() {
        let (mut pace, mut now) = (Pace::new(Timestamp(0)), Instant::now());
        let (begin, step) = (now, Duration::from_secs(15));
        let system = |now: Instant| Timestamp(-2_000_000).after(now - begin);
        for _ in 0..60 {
            let before = pace.at(now);
            now += step;
            assert!(pace.at(now) > before);
            pace = pace.towards(system(now), now);
        }
        assert!(!is_large(pace.at(now), system(now)));
        assert!(pace.at(now).since(system(now)) < Duration::from_micros(1_000), "{pace:?}");
    }

    #[test]
    fn at_the_instant_of_a_time_it_has_come() {
        for rate in [-MAX_RATE, -1, 0, 1, MAX_RATE] {
            let pace = Pace { since: Instant::now(), time: Timestamp(5), rate };
            for time in [0, 6, 1_234_567, 3_600_000_000] {
                let reached = pace.at(pace.instant(Timestamp(time)));
                assert!(reached >= Timestamp(time) && (time < 5 || reached.0 - time <= 3), "{rate} {time} {reached:?}");
            }
        }
    }
}
