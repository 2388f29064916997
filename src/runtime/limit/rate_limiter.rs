//! A rate limiter: an average, and a burst above it.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    NotUntil, Quota,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use tokio::time::Instant;

/// A request exceeded its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast {
    /// Time until it would be admitted.
    pub retry_after: Duration,
}

/// The rate of one player or one address.
pub(crate) struct RateLimiter {
    quota: Quota,
    limiter: Limiter,
}

type Limiter = governor::RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

/// Tokio's clock, as the time since an instant. Tests can pause it.
#[derive(Clone, Copy, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

impl RateLimiter {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self::of(Quota::per_second(at_least_one(per_second)), burst)
    }

    /// None when `per_second` is 0, which means no limit.
    pub(crate) fn unless_zero(per_second: u32, burst: u32) -> Option<Self> {
        (per_second > 0).then(|| Self::new(per_second, burst))
    }

    /// As [`RateLimiter::unless_zero`], with an average per minute.
    pub(crate) fn per_minute_unless_zero(per_minute: u32, burst: u32) -> Option<Self> {
        (per_minute > 0).then(|| Self::per_minute(per_minute, burst))
    }

    /// With an average per minute.
    pub(crate) fn per_minute(per_minute: u32, burst: u32) -> Self {
        Self::of(Quota::per_minute(at_least_one(per_minute)), burst)
    }

    /// With an average per hour, which is also the burst. None when it is 0.
    pub(crate) fn per_hour_unless_zero(per_hour: u32) -> Option<Self> {
        (per_hour > 0).then(|| Self::of(Quota::per_hour(at_least_one(per_hour)), per_hour))
    }

    fn of(average: Quota, burst: u32) -> Self {
        let quota = average.allow_burst(at_least_one(burst));
        Self { quota, limiter: fresh(quota) }
    }

    /// Counts one request. Fails, without counting it, when the rate is exceeded.
    pub(crate) fn admit(&self) -> Result<(), TooFast> {
        self.limiter.check().map_err(|until| self.too_fast(&until))
    }

    /// Counts `count` more for a request that is already counted, at most the rest of the burst. Fails, counting none,
    /// when the rate is exceeded.
    pub(crate) fn admit_more(&self, count: u32) -> Result<(), TooFast> {
        let Some(count) = NonZeroU32::new(count.min(self.quota.burst_size().get() - 1)) else { return Ok(()) };
        match self.limiter.check_n(count) {
            Ok(Err(until)) => {
                // A repeated call is counted itself first, so it needs one more.
                let TooFast { retry_after } = self.too_fast(&until);
                Err(TooFast { retry_after: retry_after + self.quota.replenish_interval() })
            }
            // The error means that `count` exceeds the burst, which it does not.
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }

    /// True if the whole burst is available.
    pub(crate) fn is_unused(&mut self) -> bool {
        let is_unused = matches!(self.limiter.check_n(self.quota.burst_size()), Ok(Ok(())));
        if is_unused {
            // The check has used the burst.
            self.limiter = fresh(self.quota);
        }
        is_unused
    }

    fn too_fast(&self, until: &NotUntil<Duration>) -> TooFast {
        TooFast { retry_after: until.wait_time_from(self.limiter.clock().now()) }
    }
}

fn fresh(quota: Quota) -> Limiter {
    governor::RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()))
}

fn at_least_one(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_request_counts_as_many() {
        let rate = RateLimiter::new(1, 10);
        rate.admit().unwrap();
        rate.admit_more(6).unwrap();
        let TooFast { retry_after } = rate.admit_more(5).unwrap_err();
        assert!(retry_after > Duration::from_secs(2) && retry_after <= Duration::from_secs(3), "{retry_after:?}");
        rate.admit_more(0).unwrap();
        rate.admit_more(3).unwrap();
        assert!(rate.admit().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_burst_refills_by_tokios_clock() {
        let rate = RateLimiter::new(2, 1);
        rate.admit().unwrap();
        let TooFast { retry_after } = rate.admit().unwrap_err();
        assert_eq!(retry_after, Duration::from_millis(500), "no time has passed");
        tokio::time::advance(retry_after).await;
        rate.admit().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_by_the_minute_refills_in_parts() {
        let rate = RateLimiter::per_minute_unless_zero(60, 2).unwrap();
        (0..2).for_each(|_| rate.admit().unwrap());
        let TooFast { retry_after } = rate.admit().unwrap_err();
        assert_eq!(retry_after, Duration::from_secs(1));
        tokio::time::advance(retry_after).await;
        rate.admit().unwrap();
        assert!(rate.admit().is_err() && RateLimiter::per_minute_unless_zero(0, 2).is_none());
    }

    #[test]
    fn no_cost_exceeds_an_unused_burst() {
        for burst in 1..4 {
            let rate = RateLimiter::new(1, burst);
            rate.admit().unwrap();
            rate.admit_more(1_000).unwrap();
            assert!(rate.admit().is_err());
        }
    }

    #[test]
    fn checking_whether_it_is_unused_changes_nothing() {
        let mut rate = RateLimiter::new(1, 10);
        assert!(rate.is_unused() && rate.is_unused());
        rate.admit().unwrap();
        assert!(!rate.is_unused());
        rate.admit_more(9).unwrap();
        assert!(RateLimiter::unless_zero(0, 5).is_none());
    }
}
