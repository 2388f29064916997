//! The phases of a measurement on standard error, if that is a terminal.

use std::{ops::Deref, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

/// The interval at which the bar is redrawn.
const TICK: Duration = Duration::from_millis(200);

pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::no_length();
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Begins a phase of `steps` steps.
    pub(crate) fn begin_phase(&self, what: &'static str, steps: u64) {
        let style = ProgressStyle::with_template("{wide_bar} {percent} % of {msg}, {elapsed}");
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.0.set_message(what);
        self.0.set_length(steps);
        self.0.reset();
    }

    /// Begins a phase of unknown length.
    pub(crate) fn wait_for(&self, what: String) {
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
