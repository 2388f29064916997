//! When it is whose turn, where many come at once and nobody is turned away.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Turns of one address, one after the other.
pub(crate) struct Pace {
    /// The time between two turns.
    every: Duration,
    /// How much earlier than that they may come.
    ahead: Duration,
    /// When the next turn would be; in the past for one who has not come of late.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// None where nothing a second means that nobody waits.
    pub(crate) fn unless_none(per_second: u32, burst: u32) -> Option<Self> {
        let every = Duration::from_secs(1).checked_div(per_second)?;
        Some(Self { every, ahead: every * burst, next: Mutex::default() })
    }

    /// Takes the next turn.
    pub(crate) fn take(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = next.map_or(now, |next| next.max(now));
        *next = Some(turn + self.every);
        turn.checked_sub(self.ahead).map_or(now, |turn| turn.max(now))
    }

    /// One turn fewer is taken.
    pub(crate) fn give_back(&self) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = next.and_then(|next| next.checked_sub(self.every));
    }

    /// Whether nobody has to wait for those who came before.
    pub(crate) fn is_as_new(&self, now: Instant) -> bool {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|next| next <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_at_once_and_then_one_by_one() {
        let (pace, now) = (Pace::unless_none(10, 3).unwrap(), Instant::now());
        let after = |now: Instant| pace.take(now).duration_since(now).as_millis();
        assert!(pace.is_as_new(now));
        assert_eq!([(); 6].map(|()| after(now)), [0, 0, 0, 0, 100, 200]);
        assert!(!pace.is_as_new(now));
        let later = now + Duration::from_secs(60);
        assert!(pace.is_as_new(later));
        assert_eq!([(); 5].map(|()| after(later)), [0, 0, 0, 0, 100]);
    }

    #[test]
    fn nobody_waits_for_turns_that_were_given_back() {
        let (pace, now) = (Pace::unless_none(10, 0).unwrap(), Instant::now());
        for _ in 0..1_000 {
            pace.take(now);
            pace.give_back();
        }
        assert_eq!(pace.take(now), now);
    }

    #[test]
    fn where_none_is_set_nobody_waits() {
        assert!(Pace::unless_none(0, 3).is_none());
    }
}
