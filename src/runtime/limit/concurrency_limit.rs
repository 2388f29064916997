//! How many there are of something, and may be.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) struct Tally {
    most: usize,
    now: AtomicUsize,
}

impl Tally {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, now: AtomicUsize::new(0) }
    }

    /// As many as one likes, where 0 stands for that.
    pub(crate) fn unless_none(most: usize) -> Self {
        Self::new(if most == 0 { usize::MAX } else { most })
    }

    /// Counts one more, unless there are as many as may be.
    pub(crate) fn try_add(&self) -> bool {
        self.now.fetch_update(Relaxed, Relaxed, |now| (now < self.most).then_some(now + 1)).is_ok()
    }

    /// Whether there is none.
    pub(crate) fn is_none(&self) -> bool {
        self.now.load(Relaxed) == 0
    }

    /// Counts what has come to be `after` and was `before`, even when that is more than may be.
    pub(crate) fn shift(&self, before: usize, after: usize) {
        // The number that a negative difference wraps to does the same.
        self.now.fetch_add(after.wrapping_sub(before), Relaxed);
    }
}
