//! Time management: how long to search for one move.
use std::time::Duration;

/// The times of one move: the caller begins no new depth after `enough` and stops the search at `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// After this a next depth would hardly be finished.
    pub enough: Duration,
    /// The latest time for the move.
    pub most: Duration,
}

/// The last moves of each side for which no time is kept, as the end is solved in an instant.
const INSTANT_MOVES: u32 = 7;

impl Plan {
    /// Divides the remaining time, with the increment of each move, among the moves that still need a search. `most` leaves
    /// a fifth of the clock even when the search is in the middle of a depth.
    #[must_use]
    pub fn new(remaining: Duration, increment: Duration, empties: u8) -> Self {
        let moves = (u32::from(empties).div_ceil(2)).saturating_sub(INSTANT_MOVES).max(1) + 1;
        let most_ever = remaining * 4 / 5;
        let share = (remaining / moves + increment * 4 / 5).min(most_ever);
        Self { enough: share / 2, most: (share * 2).min(most_ever) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_never_lost_on_time() {
        for (minutes, increment) in [(1, 0), (5, 2), (60, 0)] {
            let mut remaining = Duration::from_secs(60 * minutes);
            let increment = Duration::from_secs(increment);
            for empties in (1..=60).rev().step_by(2) {
                let plan = Plan::new(remaining, increment, empties);
                assert!(plan.enough <= plan.most && plan.most < remaining, "{empties}");
                remaining = remaining - plan.most + increment;
            }
        }
    }

    #[test]
    fn a_steady_player_uses_most_of_its_time() {
        let whole = Duration::from_secs(300);
        let mut remaining = whole;
        for empties in (1..=60).rev().step_by(2) {
            remaining -= Plan::new(remaining, Duration::ZERO, empties).enough;
        }
        assert!(remaining < whole / 4, "{remaining:?}");
    }
}
