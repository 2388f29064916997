//! Time management.
use std::time::Duration;

/// The time limits of one move, which the caller applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The soft limit, after which no new depth begins: it would hardly be finished.
    pub enough: Duration,
    /// The hard limit, at which the search is stopped.
    pub most: Duration,
}

/// The number of last moves of each side for which no time is reserved: the end is solved at once.
const INSTANT_MOVES: u32 = 7;

impl Plan {
    /// Divides the remaining time, with the increment per move, among the moves that still need a search. `most` never
    /// exceeds four fifths of the clock.
    #[must_use]
    pub fn new(remaining: Duration, increment: Duration, empties: u8) -> Self {
        let moves = (u32::from(empties).div_ceil(2)).saturating_sub(INSTANT_MOVES).max(1) + 1;
        let max = remaining * 4 / 5;
        let share = (remaining / moves + increment * 4 / 5).min(max);
        Self { enough: share / 2, most: (share * 2).min(max) }
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
