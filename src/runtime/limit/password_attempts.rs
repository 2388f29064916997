//! How often a player may be wrong about a password or a join code.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    room::{Rejection, Timestamp},
    runtime::{Player, RoomError, Runtime, TooFast},
};

impl Runtime {
    /// Does what the player has given a password or a join code for, and counts it if that was wrong.
    ///
    /// # Errors
    /// What `attempt` fails with, or that too many were wrong of late.
    pub async fn guess<T>(
        &self,
        player: &Player,
        attempt: impl Future<Output = Result<T, RoomError>>,
    ) -> Result<T, RoomError> {
        let counted = guesses(player).begin(self.limits().wrong_guesses_per_minute, self.clock().now());
        counted.map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        let done = attempt.await;
        if !matches!(done, Err(RoomError::Rejected(Rejection::BadPassword | Rejection::RoomNotFound))) {
            guesses(player).forgive();
        }
        done
    }
}

fn guesses(player: &Player) -> MutexGuard<'_, Guesses> {
    player.guesses.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The span in which wrong guesses are counted.
const SPAN: Duration = Duration::from_secs(60);

/// The guesses of one player. Each counts from its beginning, so that none goes uncounted beside others; right ones are
/// taken back.
#[derive(Debug)]
pub(crate) struct Guesses {
    since: Timestamp,
    counted: u32,
}

impl Guesses {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { since: now, counted: 0 }
    }

    /// Counts a guess.
    ///
    /// # Errors
    /// When there were `most` in this minute.
    pub(crate) fn begin(&mut self, most: u32, now: Timestamp) -> Result<(), TooFast> {
        let passed = now.since(self.since);
        if passed >= SPAN {
            *self = Self::new(now);
        }
        if self.counted >= most {
            return Err(TooFast { retry_after: SPAN.saturating_sub(passed) });
        }
        self.counted += 1;
        Ok(())
    }

    /// Takes a guess back that was right, or was not judged.
    pub(crate) fn forgive(&mut self) {
        self.counted = self.counted.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wrong_guesses_of_the_last_minute_count() {
        let at = |seconds| Timestamp(0).after(Duration::from_secs(seconds));
        let mut guesses = Guesses::new(at(0));
        for _ in 0..10 {
            guesses.begin(2, at(1)).unwrap();
            guesses.forgive();
        }
        assert!(guesses.begin(2, at(2)).is_ok() && guesses.begin(2, at(3)).is_ok());
        assert_eq!(guesses.begin(2, at(20)), Err(TooFast { retry_after: Duration::from_secs(40) }));
        assert!(guesses.begin(2, at(60)).is_ok());
    }
}
