//! A progress bar on standard error, if that is a terminal.

use std::{borrow::Cow, ops::Deref, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

const COUNT: &str = "{wide_bar} {pos}/{len} {msg}, {eta} to go";
const BYTES: &str = "{wide_bar} {bytes}/{total_bytes} of {msg}, {eta} to go";
const PHASE: &str = "{wide_bar} {percent} % of {msg}, {elapsed}";

/// The interval at which the bar is redrawn.
const TICK: Duration = Duration::from_millis(200);

pub(in crate::cli) struct Progress(ProgressBar);

impl Progress {
    /// Counts up to `all` items named `what`.
    pub(in crate::cli) fn of(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(COUNT)).with_message(what))
    }

    /// Counts up to `all` bytes of `what`.
    pub(in crate::cli) fn of_bytes(all: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self(ProgressBar::new(all).with_style(style(BYTES)).with_message(what))
    }

    /// For work in phases: see [`Self::begin_phase`] and [`Self::wait_for`].
    pub(in crate::cli) fn of_phases() -> Self {
        let bar = ProgressBar::no_length();
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    #[cfg(test)]
    pub(in crate::cli) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Sets position and length.
    pub(in crate::cli) fn set(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// Begins a phase of `steps` steps.
    pub(in crate::cli) fn begin_phase(&self, what: &'static str, steps: u64) {
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
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.0
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
