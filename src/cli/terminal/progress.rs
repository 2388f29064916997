//! A progress bar on standard error, if that is a terminal.

use std::{borrow::Cow, io::Read, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

const COUNT: &str = "{wide_bar} {pos}/{len} {msg}, {eta} to go";
const BYTES: &str = "{wide_bar} {bytes}/{total_bytes} of {msg}, {eta} to go";
const PHASE: &str = "{wide_bar} {percent} % of {msg}, {elapsed}";

/// Often enough for the eye.
const TICK: Duration = Duration::from_millis(200);

/// A progress bar.
pub(in crate::cli) struct Progress(ProgressBar);

impl Progress {
    /// Counts up to `all` things called `what`.
    pub(in crate::cli) fn of(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(COUNT)).with_message(what))
    }

    /// Counts up to `all` bytes of `what`.
    pub(in crate::cli) fn of_bytes(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(BYTES)).with_message(what))
    }

    /// For work in phases: see `begin` and `wait_for`.
    pub(in crate::cli) fn of_phases() -> Self {
        let bar = ProgressBar::no_length();
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    #[cfg(test)]
    pub(in crate::cli) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    pub(in crate::cli) fn advance(&self) {
        self.0.inc(1);
    }

    pub(in crate::cli) fn advance_by(&self, count: u64) {
        self.0.inc(count);
    }

    pub(in crate::cli) fn reach(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Position and length.
    pub(in crate::cli) fn is_at(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// A reader that advances the bar by what is read from it.
    pub(in crate::cli) fn reading<R: Read>(&self, from: R) -> impl Read + use<R> {
        self.0.wrap_read(from)
    }

    /// Begins a phase of `steps` steps.
    pub(in crate::cli) fn begin(&self, what: &'static str, steps: u64) {
        self.0.set_style(style(PHASE));
        self.0.set_message(what);
        self.0.set_length(steps);
        self.0.reset();
    }

    /// Begins a phase of unknown length.
    pub(in crate::cli) fn wait_for(&self, what: String) {
        self.0.unset_length();
        self.0.set_style(ProgressStyle::default_spinner());
        self.0.set_message(what);
    }

    /// The text beside the bar.
    pub(in crate::cli) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    /// Hides the bar while `print` prints.
    pub(in crate::cli) fn above(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Removes the bar.
    pub(in crate::cli) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
