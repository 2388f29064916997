//! Time limits of engines.

use std::time::Duration;

/// The clock sent to a program, as a multiple of the time for one move: programs use at most 1/4 of a clock for a move.
const CLOCK_FACTOR: u32 = 4;

/// The maximum for a start: some programs read large opening books.
pub(super) const START: Duration = Duration::from_secs(30);

/// The time for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct MoveTime {
    /// The time that the engine should take for the answer, without a start.
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

    /// Whether the game is lost.
    pub(super) fn is_over(self) -> bool {
        self.limit.is_some_and(|limit| limit.is_zero())
    }

    /// The longest wait for an answer: until the engine has used up the clock that it was sent, or the game is lost. An
    /// engine that takes longer than it should loses no game in which there is time left.
    pub(super) fn wait(self) -> Duration {
        self.limit.map_or(self.clock(), |limit| limit.min(self.clock()))
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
    fn an_engine_may_use_up_its_clock_unless_the_game_is_lost_before() {
        let seconds = Duration::from_secs;
        let wait = |limit: Option<u64>, left: Option<u64>| {
            MoveTime { for_move: seconds(2), limit: limit.map(seconds), left: left.map(seconds) }.wait()
        };
        assert_eq!((wait(None, None), wait(Some(58), Some(60))), (seconds(8), seconds(8)));
        assert_eq!((wait(Some(5), None), wait(Some(4), Some(5))), (seconds(5), seconds(4)));
        let time = MoveTime { for_move: seconds(2), limit: Some(seconds(9)), left: None };
        assert!(!time.after(seconds(8)).is_over() && time.after(seconds(9)).is_over());
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
