//! How far the bench is, where somebody looks on.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, which draws nothing where that is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Says what is being done, whose end nobody knows.
    pub(super) fn say(&self, what: String) {
        self.0.unset_length();
        self.0.set_style(ProgressStyle::default_spinner());
        self.0.set_message(what);
    }

    /// Begins something with so many steps.
    pub(super) fn begin(&self, what: &'static str, steps: u64) {
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {elapsed}") {
            self.0.set_style(style);
        }
        self.0.set_message(what);
        self.0.set_length(steps);
        self.0.reset();
    }

    /// So many steps are done.
    pub(super) fn reach(&self, steps: u64) {
        self.0.set_position(steps);
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
