//! How long to think, by the clock.
use std::time::Duration;

/// The times of one move. Who reads the clock begins no new depth after `enough` and raises the flag at `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// A next depth would hardly be finished after this.
    pub enough: Duration,
    /// The move must be made.
    pub most: Duration,
}

/// The last squares are solved in an instant, so that no time is kept for so many moves of each side.
const INSTANT_MOVES: u32 = 7;

impl Plan {
    /// Shares what remains among the moves that still need thought, with the increment that each brings. `most` leaves
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
