//! A counter with an upper bound.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) struct ConcurrencyLimit {
    limit: usize,
    count: AtomicUsize,
}

impl ConcurrencyLimit {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, count: AtomicUsize::new(0) }
    }

    /// As [`ConcurrencyLimit::new`]; 0 means no limit.
    pub(crate) fn zero_is_unlimited(limit: usize) -> Self {
        Self::new(if limit == 0 { usize::MAX } else { limit })
    }

    /// Counts one more; false when the limit is reached.
    pub(crate) fn try_add(&self) -> bool {
        self.try_add_part(1)
    }

    /// Counts one more. False when the limit divided by `part`, rounded up, is reached.
    pub(crate) fn try_add_part(&self, part: u32) -> bool {
        let most = self.limit.div_ceil(part as usize);
        self.count.fetch_update(Relaxed, Relaxed, |count| (count < most).then_some(count + 1)).is_ok()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// Replaces a count of `before` by one of `after`, even beyond the limit.
    pub(crate) fn adjust(&self, before: usize, after: usize) {
        // If `after` is less, the difference wraps, and so does the sum: the count gets lower.
        self.count.fetch_add(after.wrapping_sub(before), Relaxed);
    }
}
