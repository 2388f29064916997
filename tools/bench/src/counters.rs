//! Counters of a measurement.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::sync::Notify;

/// Counters over all rooms. They count during the measured time only.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    measuring: AtomicBool,
    moves: AtomicU64,
    /// The number of moves that ends the measured time.
    wanted: u64,
    /// Notified when that number is reached.
    pub(crate) enough: Notify,
    pub(crate) deliveries: AtomicU64,
    /// Snapshots sent to watchers that lagged too far.
    pub(crate) snapshots: AtomicU64,
    /// From the sending of a move until the next turn is requested.
    pub(crate) turns: Histogram,
    /// From the sending of a move until the last watcher has received it.
    pub(crate) last_watchers: Histogram,
}

impl Counters {
    pub(crate) fn new(wanted: Option<u64>) -> Self {
        Self { wanted: wanted.unwrap_or(u64::MAX), ..Self::default() }
    }

    pub(crate) fn measure(&self, on: bool) {
        self.measuring.store(on, Relaxed);
    }

    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Relaxed)
    }

    pub(crate) fn count_move(&self) {
        if self.measuring.load(Relaxed) && self.moves.fetch_add(1, Relaxed) + 1 == self.wanted {
            self.enough.notify_one();
        }
    }

    pub(crate) fn count(&self, counter: impl FnOnce(&Self) -> &AtomicU64) {
        if self.measuring.load(Relaxed) {
            counter(self).fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn record(&self, histogram: impl FnOnce(&Self) -> &Histogram, took: Duration) {
        if self.measuring.load(Relaxed) {
            histogram(self).record(took);
        }
    }
}

/// Buckets per power of two: a relative error of 1/32, in 15 KiB.
const BUCKETS_PER_OCTAVE: u64 = 32;

/// A histogram of durations, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Vec<AtomicU64>,
    longest: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = bucket(u64::MAX) + 1;
        Self { buckets: (0..buckets).map(|_| AtomicU64::new(0)).collect(), longest: AtomicU64::new(0) }
    }
}

impl Histogram {
    fn record(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(nanos)].fetch_add(1, Relaxed);
        self.longest.fetch_max(nanos, Relaxed);
    }

    /// The time that `percent` percent did not exceed; `None` without values.
    pub(crate) fn percentile(&self, percent: u64) -> Option<Duration> {
        let counts: Vec<u64> = self.buckets.iter().map(|count| count.load(Relaxed)).collect();
        let rank = (counts.iter().sum::<u64>() * percent).div_ceil(100).max(1);
        let mut before = 0;
        let found = counts.iter().position(|count| {
            before += count;
            before >= rank
        })?;
        Some(Duration::from_nanos(highest(found)).min(self.longest()?))
    }

    /// `None` without values.
    pub(crate) fn longest(&self) -> Option<Duration> {
        Some(self.longest.load(Relaxed)).filter(|&nanos| nanos > 0).map(Duration::from_nanos)
    }
}

fn bucket(nanos: u64) -> usize {
    let shift = u64::from(nanos.max(BUCKETS_PER_OCTAVE).ilog2() - BUCKETS_PER_OCTAVE.ilog2());
    // Values below BUCKETS_PER_OCTAVE have a bucket each.
    let row = if nanos < BUCKETS_PER_OCTAVE { 0 } else { shift + 1 };
    let column = if nanos < BUCKETS_PER_OCTAVE { nanos } else { (nanos >> shift) - BUCKETS_PER_OCTAVE };
    usize::try_from(row * BUCKETS_PER_OCTAVE + column).unwrap_or(usize::MAX)
}

/// The highest value of a bucket.
fn highest(bucket: usize) -> u64 {
    let (row, column) = (bucket as u64 / BUCKETS_PER_OCTAVE, bucket as u64 % BUCKETS_PER_OCTAVE);
    match row {
        0 => column,
        row => ((BUCKETS_PER_OCTAVE + column) << (row - 1)) + ((1 << (row - 1)) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_bucket_that_is_slightly_longer() {
        for nanos in [0, 1, 31, 32, 33, 63, 64, 65, 1_000, 123_456_789, u64::MAX / 3, u64::MAX] {
            let highest = highest(bucket(nanos));
            assert!(highest >= nanos && highest - nanos <= nanos / BUCKETS_PER_OCTAVE, "{nanos}: {highest}");
        }
    }

    #[test]
    fn percentiles_are_of_the_recorded_times() {
        let histogram = Histogram::default();
        assert_eq!((histogram.percentile(50), histogram.longest()), (None, None));
        for millis in 1..=100 {
            histogram.record(Duration::from_millis(millis));
        }
        let at = |percent| histogram.percentile(percent).unwrap().as_secs_f64() * 1e3;
        assert!((50.0..52.0).contains(&at(50)) && (99.0..102.0).contains(&at(99)), "{} {}", at(50), at(99));
        assert_eq!(histogram.percentile(100), histogram.longest());
        assert_eq!(histogram.longest(), Some(Duration::from_millis(100)));
    }

    #[test]
    fn only_measured_times_count() {
        let counters = Counters::new(None);
        counters.count_move();
        counters.measure(true);
        counters.count_move();
        counters.count(|counters| &counters.deliveries);
        counters.measure(false);
        counters.count_move();
        assert_eq!((counters.moves(), counters.deliveries.load(Relaxed)), (1, 1));
    }
}
