//! The limit of wrong passwords and join codes of a player.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    room::{Rejection, Timestamp},
    runtime::{outcome::RoomError, server_clock::Clock},
};

/// The span in which wrong attempts are counted.
const SPAN: Duration = Duration::from_secs(60);

/// Each attempt counts from its start, so that concurrent ones cannot exceed the limit; a correct one is subtracted.
#[derive(Debug)]
pub(crate) struct PasswordAttempts {
    limit: u32,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    since: Timestamp,
    count: u32,
}

impl PasswordAttempts {
    /// At most `limit` wrong attempts a minute.
    pub(crate) fn new(limit: u32, now: Timestamp) -> Self {
        Self { limit, counted: Mutex::new(Counted { since: now, count: 0 }) }
    }

    /// Runs an attempt, and counts it if wrong. [`RoomError::TooFast`] when too many were wrong in the last minute.
    pub(crate) async fn count<T>(
        &self,
        clock: Clock,
        attempt: impl Future<Output = Result<T, RoomError>>,
    ) -> Result<T, RoomError> {
        self.start(clock.now())?;
        let outcome = attempt.await;
        if !matches!(outcome, Err(RoomError::Rejected(Rejection::BadPassword | Rejection::RoomNotFound))) {
            self.take_back();
        }
        outcome
    }

    fn start(&self, now: Timestamp) -> Result<(), RoomError> {
        let mut counted = self.counted();
        let passed = now.since(counted.since);
        if passed >= SPAN {
            *counted = Counted { since: now, count: 0 };
        }
        if counted.count >= self.limit {
            return Err(RoomError::TooFast(SPAN.saturating_sub(passed)));
        }
        counted.count += 1;
        Ok(())
    }

    fn take_back(&self) {
        let mut counted = self.counted();
        counted.count = counted.count.saturating_sub(1);
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wrong_attempts_of_the_last_minute_count() {
        let at = |seconds| Timestamp(0).after(Duration::from_secs(seconds));
        let attempts = PasswordAttempts::new(2, at(0));
        for _ in 0..10 {
            attempts.start(at(1)).unwrap();
            attempts.take_back();
        }
        assert!(attempts.start(at(2)).is_ok() && attempts.start(at(3)).is_ok());
        assert_eq!(attempts.start(at(20)), Err(RoomError::TooFast(Duration::from_secs(40))));
        assert!(attempts.start(at(60)).is_ok());
    }
}
