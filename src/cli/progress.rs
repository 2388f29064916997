//! How far something long has come: a bar on a terminal, and nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// So much of so much.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// At the beginning of so many of these.
    pub(super) fn of(all: u64, what: &'static str) -> Self {
        let bar = ProgressBar::new(all);
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}, {eta} to go");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar }
    }

    /// One more is done.
    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }

    /// So many more are.
    pub(super) fn advance_by(&self, count: u64) {
        self.bar.inc(count);
    }

    /// So many are done, of so many.
    pub(super) fn is_at(&self, done: u64, all: u64) {
        self.bar.set_length(all);
        self.bar.set_position(done);
    }

    /// Prints above the bar.
    pub(super) fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Leaves nothing of the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
