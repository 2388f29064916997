//! All random choices of a simulation.

use std::time::Duration;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use reversi::ai;

pub(crate) struct Rng(Pcg64);

impl Rng {
    /// Each `purpose` has a generator of its own, so that a change to one part of a simulation does not change the
    /// others.
    pub(crate) fn seeded(seed: u64, purpose: u64) -> Self {
        Self(ai::seeded_rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(purpose)))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.random()
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }

    /// True with this probability.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A time of at most `most` in microseconds, or as long before.
    pub(crate) fn signed_micros(&mut self, most: Duration) -> i64 {
        let most = i64::try_from(most.as_micros()).unwrap_or(i64::MAX);
        self.0.random_range(-most..=most)
    }

    pub(crate) fn millis(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.0.random_range(range))
    }
}
