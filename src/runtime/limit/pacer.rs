//! A leaky bucket: delays, never rejects.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The slots of one address, evenly spaced.
pub(crate) struct Pacer {
    /// The time between two slots.
    interval: Duration,
    /// How much earlier than its slot a request may start: the burst.
    tolerance: Duration,
    /// The next free slot; in the past after a pause.
    next: Mutex<Option<Instant>>,
}

impl Pacer {
    /// None when `per_second` is 0, which means no delay.
    pub(crate) fn unless_zero(per_second: u32, burst: u32) -> Option<Self> {
        let interval = Duration::from_secs(1).checked_div(per_second)?;
        Some(Self { interval, tolerance: interval * burst, next: Mutex::default() })
    }

    /// Reserves the next slot, and returns when it starts.
    pub(crate) fn reserve(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = next.map_or(now, |next| next.max(now));
        *next = Some(slot + self.interval);
        slot.checked_sub(self.tolerance).map_or(now, |start| start.max(now))
    }

    /// Frees one reserved slot.
    pub(crate) fn release(&self) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = next.and_then(|next| next.checked_sub(self.interval));
    }

    /// True if the whole burst is available.
    pub(crate) fn is_unused(&self, now: Instant) -> bool {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|next| next <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_start_at_once_within_the_burst_and_then_evenly_spaced() {
        let (pacer, now) = (Pacer::unless_zero(10, 3).unwrap(), Instant::now());
        let after = |now: Instant| pacer.reserve(now).duration_since(now).as_millis();
        assert!(pacer.is_unused(now));
        assert_eq!([(); 6].map(|()| after(now)), [0, 0, 0, 0, 100, 200]);
        assert!(!pacer.is_unused(now));
        let later = now + Duration::from_secs(60);
        assert!(pacer.is_unused(later));
        assert_eq!([(); 5].map(|()| after(later)), [0, 0, 0, 0, 100]);
    }

    #[test]
    fn released_slots_delay_nothing() {
        let (pacer, now) = (Pacer::unless_zero(10, 0).unwrap(), Instant::now());
        for _ in 0..1_000 {
            pacer.reserve(now);
            pacer.release();
        }
        assert_eq!(pacer.reserve(now), now);
    }

    #[test]
    fn a_rate_of_zero_is_no_pacer() {
        assert!(Pacer::unless_zero(0, 3).is_none());
    }
}
