//! How far something long has come: a bar on standard error where that is a terminal, and nothing elsewhere.

use std::{borrow::Cow, io::Read, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

const COUNT: &str = "{wide_bar} {pos}/{len} {msg}, {eta} to go";
const BYTES: &str = "{wide_bar} {bytes}/{total_bytes} of {msg}, {eta} to go";
const PHASE: &str = "{wide_bar} {percent} % of {msg}, {elapsed}";

/// Often enough for the eye.
const TICK: Duration = Duration::from_millis(200);

/// So much of so much.
pub(in crate::cli) struct Progress(ProgressBar);

impl Progress {
    /// At the beginning of so many of these.
    pub(in crate::cli) fn of(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(COUNT)).with_message(what))
    }

    /// At the beginning of so many bytes of this.
    pub(in crate::cli) fn of_bytes(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(BYTES)).with_message(what))
    }

    /// Of something that is done in phases.
    pub(in crate::cli) fn of_phases() -> Self {
        let bar = ProgressBar::no_length();
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    #[cfg(test)]
    pub(in crate::cli) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// One more is done.
    pub(in crate::cli) fn advance(&self) {
        self.0.inc(1);
    }

    /// So many more are.
    pub(in crate::cli) fn advance_by(&self, count: u64) {
        self.0.inc(count);
    }

    /// So many are done.
    pub(in crate::cli) fn reach(&self, done: u64) {
        self.0.set_position(done);
    }

    /// So many are done, of so many.
    pub(in crate::cli) fn is_at(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// What is read from this is done.
    pub(in crate::cli) fn reading<R: Read>(&self, from: R) -> impl Read + use<R> {
        self.0.wrap_read(from)
    }

    /// A phase of so many steps begins.
    pub(in crate::cli) fn begin(&self, what: &'static str, steps: u64) {
        self.0.set_style(style(PHASE));
        self.0.set_message(what);
        self.0.set_length(steps);
        self.0.reset();
    }

    /// A phase begins whose end nobody knows.
    pub(in crate::cli) fn wait_for(&self, what: String) {
        self.0.unset_length();
        self.0.set_style(ProgressStyle::default_spinner());
        self.0.set_message(what);
    }

    /// Says this beside the count.
    pub(in crate::cli) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    /// Prints above the bar.
    pub(in crate::cli) fn above(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Leaves nothing of the bar.
    pub(in crate::cli) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
