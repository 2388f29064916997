//! Spreads the periodic work of all connections evenly over each period.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use tokio::time::Instant;

/// 2^32 divided by the golden ratio. Steps of it, modulo 2^32, stay evenly spread for any number of steps, unlike
/// random numbers (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const STEP: u32 = 0x9E37_79B9;

/// The offsets of a server's connections.
pub(crate) struct PeriodOffsets {
    origin: Instant,
    next: AtomicU32,
}

/// The point in each period at which a connection does its work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeriodOffset {
    origin: Instant,
    /// Fraction of a period, in units of 2^-32.
    part: u32,
}

impl PeriodOffsets {
    /// Starts with a random offset.
    pub(crate) fn new(random: u32) -> Self {
        Self { origin: Instant::now(), next: AtomicU32::new(random) }
    }

    /// The offset of one more connection.
    pub(crate) fn next(&self) -> PeriodOffset {
        PeriodOffset { origin: self.origin, part: self.next.fetch_add(STEP, Relaxed) }
    }
}

impl PeriodOffset {
    /// An offset with which every period begins now.
    pub(crate) fn starting_now() -> Self {
        Self { origin: Instant::now(), part: 0 }
    }

    /// The next time at this offset, after `now` and at most one period later.
    pub(crate) fn next(self, period: Duration, now: Instant) -> Instant {
        let offset = period.mul_f64(f64::from(self.part) / 2_f64.powi(32));
        let passed = now.saturating_duration_since(self.origin) + period - offset;
        let since_the_last = passed.as_nanos() % period.as_nanos().max(1);
        now + period - Duration::from_nanos(since_the_last as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_phase_repeats_with_its_period() {
        let offsets = PeriodOffsets::new(7);
        for _ in 0..100 {
            let (offset, began) = (offsets.next(), Instant::now());
            let first = offset.next(PERIOD, began);
            assert!(first > began && first <= began + PERIOD);
            assert_eq!(offset.next(PERIOD, first - Duration::from_nanos(1)), first);
            let second = offset.next(PERIOD, first);
            assert!((second - first).abs_diff(PERIOD) <= Duration::from_nanos(1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_opened_at_once_are_spread_evenly() {
        const SLOTS: usize = 200;
        for connections in [200, 2_000, 20_000] {
            let (offsets, now, mut slots) = (PeriodOffsets::new(12_345), Instant::now(), [0; SLOTS]);
            for _ in 0..connections {
                let after = offsets.next().next(PERIOD, now) - now;
                slots[(after.as_micros() as usize * SLOTS / PERIOD.as_micros() as usize).min(SLOTS - 1)] += 1;
            }
            assert!(slots.iter().all(|&count| count <= 2 * connections / SLOTS), "{connections}: {slots:?}");
        }
    }
}
