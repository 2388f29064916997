//! The clocks of a game: time for a move, total time, increment.

use std::time::Duration;

/// The clocks. A side loses when either its move time or its total time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Maximum time for one move; `None` for no limit.
    pub per_move: Option<Duration>,
    /// Initial time for all moves of a side; `None` for no limit.
    pub total: Option<Duration>,
    /// Added to the total time after each move.
    pub increment: Duration,
}

impl Default for TimeControl {
    fn default() -> Self {
        Self { per_move: Some(Self::DEFAULT_MOVE), total: None, increment: Duration::ZERO }
    }
}

impl TimeControl {
    /// Default time per move, without a total time.
    pub const DEFAULT_MOVE: Duration = Duration::from_secs(60);

    /// The total time left after a move that took `spent`.
    #[must_use]
    pub(super) fn after_move(&self, left: Option<Duration>, spent: Duration) -> Option<Duration> {
        left.map(|left| left.saturating_sub(spent).saturating_add(self.increment))
    }

    /// Time for one move of a side with this total time left.
    #[must_use]
    pub(super) fn limit(&self, left: Option<Duration>) -> Duration {
        match (self.per_move, left) {
            (Some(limit), Some(left)) => limit.min(left),
            (Some(limit), None) => limit,
            (None, Some(left)) => left,
            // Rejected by `Settings::check`.
            (None, None) => Self::DEFAULT_MOVE,
        }
    }
}
