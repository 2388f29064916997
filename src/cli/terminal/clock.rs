//! Clocks that run locally between two messages of the server.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    client::Clocks,
    rules::{ByColor, Color},
};

/// The server's clocks and the time at which they arrived.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Clock {
    clocks: Clocks,
    at: Instant,
    runs_for: Option<Color>,
}

impl Clock {
    /// Clocks that arrived at `at`; that of `runs_for` runs.
    pub(in crate::cli) fn new(clocks: Clocks, runs_for: Option<Color>, at: Instant) -> Self {
        Self { clocks, at, runs_for }
    }

    /// The time left of each side: for the running move, or else on the total clock.
    pub(in crate::cli) fn left(&self, now: Instant) -> ByColor<Option<Duration>> {
        let elapsed = now.saturating_duration_since(self.at);
        ByColor::from_fn(|side| {
            let total = self.clocks.total[side];
            if self.runs_for != Some(side) {
                return total;
            }
            // The move's limit may end before the total clock.
            let left = [total, self.clocks.time_left].into_iter().flatten().min();
            left.map(|left| left.saturating_sub(elapsed))
        })
    }
}

/// `m:ss`, with tenths in the last ten seconds.
pub(in crate::cli) fn show(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..10 => format!("{seconds}.{}", left.subsec_millis() / 100),
        10..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clock_of_the_side_to_move_runs_and_never_below_zero() {
        let seconds = Duration::from_secs;
        let clocks = Clocks {
            total: ByColor::new(Some(seconds(300)), Some(seconds(200))),
            time_left: Some(seconds(60)),
            deadline: None,
        };
        let start = Instant::now();
        let clock = Clock::new(clocks, Some(Color::Black), start);
        assert_eq!(clock.left(start + seconds(20)), ByColor::new(Some(seconds(40)), Some(seconds(200))));
        assert_eq!(clock.left(start + seconds(500)).black, Some(Duration::ZERO));
    }

    #[test]
    fn times_are_short_to_read() {
        let shown = [3_999, 59_000, 61_000, 3_600_000].map(|millis| show(Duration::from_millis(millis)));
        assert_eq!(shown, ["3.9", "0:59", "1:01", "1:00:00"]);
    }
}
