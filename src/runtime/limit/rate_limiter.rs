//! How often something may be done: so many times a second on average, and so many at once.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    NotUntil, Quota, RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use tokio::time::Instant;

/// A request came too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast {
    /// When it will be answered again.
    pub retry_after: Duration,
}

/// What one player, or one address, may do of something.
pub(crate) struct Rate {
    quota: Quota,
    limiter: Limiter,
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, Steady, NoOpMiddleware<Duration>>;

/// The time since then, by the clock of the tasks: on a paused runtime it stands still with everything else.
#[derive(Clone, Copy, Debug)]
struct Steady(Instant);

impl Clock for Steady {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Rate {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let [per_second, burst] = [per_second, burst].map(at_least_one);
        let quota = Quota::per_second(per_second).allow_burst(burst);
        Self { quota, limiter: fresh(quota) }
    }

    /// None where nothing a second means that nobody counts.
    pub(crate) fn unless_none(per_second: u32, burst: u32) -> Option<Self> {
        (per_second > 0).then(|| Self::new(per_second, burst))
    }

    /// Counts one.
    ///
    /// # Errors
    /// When there were too many of late; it is not counted then.
    pub(crate) fn take(&self) -> Result<(), TooFast> {
        self.limiter.check().map_err(|until| self.too_fast(&until))
    }

    /// Counts so many more for one that was counted. All that may be done at once is enough for the dearest.
    ///
    /// # Errors
    /// When there were too many of late; none of these is counted then.
    pub(crate) fn take_more(&self, count: u32) -> Result<(), TooFast> {
        let Some(count) = NonZeroU32::new(count.min(self.quota.burst_size().get() - 1)) else { return Ok(()) };
        match self.limiter.check_n(count) {
            Ok(Err(until)) => {
                // Who comes back is counted as one before this.
                let TooFast { retry_after } = self.too_fast(&until);
                Err(TooFast { retry_after: retry_after + self.quota.replenish_interval() })
            }
            // It is less than the burst, which alone can be too small.
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }

    /// Whether as much may be done as of a new one.
    pub(crate) fn is_as_new(&mut self) -> bool {
        let is_as_new = matches!(self.limiter.check_n(self.quota.burst_size()), Ok(Ok(())));
        if is_as_new {
            // Asking has used it up.
            self.limiter = fresh(self.quota);
        }
        is_as_new
    }

    fn too_fast(&self, until: &NotUntil<Duration>) -> TooFast {
        TooFast { retry_after: until.wait_time_from(self.limiter.clock().now()) }
    }
}

fn fresh(quota: Quota) -> Limiter {
    RateLimiter::direct_with_clock(quota, Steady(Instant::now()))
}

fn at_least_one(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dear_takes_the_place_of_many() {
        let rate = Rate::new(1, 10);
        rate.take().unwrap();
        rate.take_more(6).unwrap();
        let TooFast { retry_after } = rate.take_more(5).unwrap_err();
        assert!(retry_after > Duration::from_secs(2) && retry_after <= Duration::from_secs(3), "{retry_after:?}");
        rate.take_more(0).unwrap();
        rate.take_more(3).unwrap();
        assert!(rate.take().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_used_comes_back_with_the_time_of_the_tasks() {
        let rate = Rate::new(2, 1);
        rate.take().unwrap();
        let TooFast { retry_after } = rate.take().unwrap_err();
        assert_eq!(retry_after, Duration::from_millis(500), "no time has passed");
        tokio::time::advance(retry_after).await;
        rate.take().unwrap();
    }

    #[test]
    fn nothing_is_too_dear_for_one_who_has_done_nothing() {
        for burst in 1..4 {
            let rate = Rate::new(1, burst);
            rate.take().unwrap();
            rate.take_more(1_000).unwrap();
            assert!(rate.take().is_err());
        }
    }

    #[test]
    fn asking_whether_it_is_as_new_changes_nothing() {
        let mut rate = Rate::new(1, 10);
        assert!(rate.is_as_new() && rate.is_as_new());
        rate.take().unwrap();
        assert!(!rate.is_as_new());
        rate.take_more(9).unwrap();
        assert!(Rate::unless_none(0, 5).is_none());
    }
}
