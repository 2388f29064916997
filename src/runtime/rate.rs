//! How often something may be done: so many times a second on average, and so many at once.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota,
    clock::{Clock as _, DefaultClock},
};

/// A request came too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast {
    /// When it will be answered again.
    pub retry_after: Duration,
}

/// What one player, or one address, may do of something.
pub(super) struct Rate {
    quota: Quota,
    limiter: DefaultDirectRateLimiter,
}

impl Rate {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let [per_second, burst] = [per_second, burst].map(at_least_one);
        let quota = Quota::per_second(per_second).allow_burst(burst);
        Self { quota, limiter: DefaultDirectRateLimiter::direct(quota) }
    }

    /// None where nothing a second means that nobody counts.
    pub(super) fn unless_none(per_second: u32, burst: u32) -> Option<Self> {
        (per_second > 0).then(|| Self::new(per_second, burst))
    }

    /// Counts so many at once. What is dearer than all that may be done at once costs that.
    ///
    /// # Errors
    /// When there were too many of late; these are not counted then.
    pub(super) fn take(&self, count: u32) -> Result<(), TooFast> {
        let count = at_least_one(count).min(self.quota.burst_size());
        match self.limiter.check_n(count) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(until)) => Err(TooFast { retry_after: until.wait_time_from(DefaultClock::default().now()) }),
            // It is no more than the burst.
            Err(_) => Ok(()),
        }
    }

    /// Whether as much may be done as of a new one.
    pub(super) fn is_as_new(&mut self) -> bool {
        let is_as_new = self.take(self.quota.burst_size().get()).is_ok();
        if is_as_new {
            // Asking has used it up.
            self.limiter = DefaultDirectRateLimiter::direct(self.quota);
        }
        is_as_new
    }
}

fn at_least_one(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dear_takes_the_place_of_many_and_is_never_too_dear() {
        let rate = Rate::new(1, 10);
        rate.take(7).unwrap();
        let TooFast { retry_after } = rate.take(5).unwrap_err();
        assert!(retry_after > Duration::from_secs(1) && retry_after <= Duration::from_secs(2), "{retry_after:?}");
        rate.take(3).unwrap();
        let mut dear = Rate::new(1, 10);
        assert!(dear.is_as_new() && dear.is_as_new(), "asking changes nothing");
        dear.take(1_000).unwrap();
        assert!(dear.take(1).is_err() && !dear.is_as_new());
        assert!(Rate::unless_none(0, 5).is_none());
    }
}
