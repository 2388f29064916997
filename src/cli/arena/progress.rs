//! How far the games are, for whoever sits at the terminal.

use std::fmt;

use indicatif::{ProgressBar, ProgressStyle};

use crate::rating::{Difference, Score};

/// A bar on standard error, with the score; nothing where that is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Nothing of so many games is played.
    pub(super) fn new(games: u32) -> Self {
        let bar = ProgressBar::new(u64::from(games));
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self(bar)
    }

    /// For tests.
    #[cfg(test)]
    pub(super) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// The score so far.
    pub(super) fn show(&self, score: &Score) {
        self.0.set_position(u64::from(score.games()));
        let difference = Difference::of(score).map(|difference| format!("  {difference}"));
        self.0.set_message(format!("{score}{}", difference.unwrap_or_default()));
    }

    /// Says a line beside the bar.
    pub(super) fn note(&self, line: fmt::Arguments<'_>) {
        self.0.suspend(|| eprintln!("{line}"));
    }

    /// Leaves nothing of the bar behind.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
