//! How long an engine may think.

use std::time::Duration;

/// Of a clock that is told, no program spends more than this part on one move.
const SHARE: u32 = 4;

/// The time for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Time {
    /// The answer must be there after it.
    pub(in crate::cli) for_move: Duration,
    /// What is left for all moves, where a clock says so.
    pub(in crate::cli) left: Option<Duration>,
}

impl Time {
    /// The clock that the engine is told. The protocols have none for a single move, so that a limit of one is told as a
    /// clock of which the engine takes that much.
    pub(super) fn clock(self) -> Duration {
        let by_move = self.for_move.saturating_mul(SHARE);
        self.left.map_or(by_move, |left| left.min(by_move))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_told_no_more_than_it_has() {
        let seconds = Duration::from_secs;
        let clock = |for_move, left: Option<u64>| Time { for_move: seconds(for_move), left: left.map(seconds) }.clock();
        assert_eq!(clock(10, None), seconds(40));
        assert_eq!(clock(10, Some(25)), seconds(25));
        assert_eq!(clock(10, Some(900)), seconds(40));
    }
}
