//! Time limits of engines.

use std::time::Duration;

/// The clock sent to a program, as a multiple of the time for one move: programs use at most 1/4 of a clock for a move.
const CLOCK_FACTOR: u32 = 4;

/// The maximum for a start: some programs read large opening books.
pub(super) const START: Duration = Duration::from_secs(30);

/// The time for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct MoveTime {
    /// The time for the answer, without a start.
    pub(in crate::cli) for_move: Duration,
    /// The time after which the game is lost, if any, including a start.
    pub(in crate::cli) limit: Option<Duration>,
    /// The time left on a total clock, if there is one.
    pub(in crate::cli) left: Option<Duration>,
}

impl MoveTime {
    /// The time for a start.
    pub(super) fn start(self) -> Duration {
        self.limit.map_or(START, |limit| limit.min(START))
    }

    /// The time left after `spent` has passed without a search.
    pub(super) fn after(self, spent: Duration) -> Self {
        let less = |time: Duration| time.saturating_sub(spent);
        let (limit, left) = (self.limit.map(less), self.left.map(less));
        Self { for_move: limit.map_or(self.for_move, |limit| limit.min(self.for_move)), limit, left }
    }

    /// The clock to send to the engine, which implies the limit for one move: the protocols have no such limit.
    pub(super) fn clock(self) -> Duration {
        let by_move = self.for_move.saturating_mul(CLOCK_FACTOR);
        self.left.map_or(by_move, |left| left.min(by_move))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_gets_at_most_its_remaining_time() {
        let seconds = Duration::from_secs;
        let clock = |for_move, left: Option<u64>| {
            MoveTime { for_move: seconds(for_move), limit: None, left: left.map(seconds) }.clock()
        };
        assert_eq!(clock(10, None), seconds(40));
        assert_eq!(clock(10, Some(25)), seconds(25));
        assert_eq!(clock(10, Some(900)), seconds(40));
    }

    #[test]
    fn the_start_takes_no_time_of_a_move_unless_the_game_requires_it() {
        let seconds = Duration::from_secs;
        let time = |limit: Option<u64>| MoveTime { for_move: seconds(2), limit: limit.map(seconds), left: None };
        assert_eq!((time(None).start(), time(None).after(seconds(5))), (START, time(None)));
        assert_eq!((time(Some(60)).start(), time(Some(60)).after(seconds(5))), (START, time(Some(55))));
        assert_eq!((time(Some(6)).start(), time(Some(6)).after(seconds(5)).for_move), (seconds(6), seconds(1)));
    }
}
