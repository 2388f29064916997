//! The limits of a search, and its iterations.
use super::probcut;
use super::searcher::SURE;
use super::transposition::Effort;

/// The bounds of one search; the first one reached ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum depth in plies with more than `solve_from` empty squares.
    pub depth: u8,
    /// With at most this many empty squares the search goes to the end of the game.
    pub solve_from: u8,
    /// The goal of a search to the end.
    pub goal: Goal,
    /// The certainty of the first iterations.
    pub least_certainty: Certainty,
    /// Maximum number of positions visited by all threads. With one thread the same number gives the same result on
    /// every machine.
    pub nodes: u64,
}

/// The certainty that ProbCut needs for a cut: the lower, the more cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Certainty(pub(super) u8);

impl Certainty {
    /// The most cuts.
    pub const MIN: Self = Self(0);
    /// No cuts.
    pub const SURE: Self = Self(SURE);
}

/// The goal of a search to the end of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The difference in discs.
    Score,
    /// Only the winner, which is much cheaper.
    Winner,
    /// First the winner, then the difference in discs: for searches that may run out of time between the two.
    WinnerFirst,
}

impl Default for Limits {
    /// Solves the position; only the flag ends it early.
    fn default() -> Self {
        Self { depth: 60, solve_from: 60, goal: Goal::Score, least_certainty: Certainty::MIN, nodes: u64::MAX }
    }
}

impl Limits {
    /// A bound by depth; positions with at most `depth` empty squares are solved.
    #[must_use]
    pub fn of_depth(depth: u8) -> Self {
        Self { depth, solve_from: depth, ..Self::default() }
    }

    /// A bound by positions visited.
    #[must_use]
    pub fn of_nodes(nodes: u64) -> Self {
        Self { nodes, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Iteration {
    pub(super) effort: Effort,
    pub(super) target: Target,
}

/// The goal of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The value.
    Value,
    /// Only the winner.
    Winner,
}

/// Increasing depth, then increasing certainty: the first iterations only order the moves for later ones.
pub(super) fn schedule(empties: u8, limits: &Limits) -> Vec<Iteration> {
    let to_end = empties <= limits.solve_from;
    let deepest = limits.depth.min(empties).max(1);
    let last = if to_end { empties.saturating_sub(END_JUMP).max(1).min(deepest) } else { deepest };
    let least = limits.least_certainty.0;
    let step = |target| move |effort| Iteration { effort, target };
    let mut steps: Vec<_> =
        (1..=last).map(|depth| Effort { depth, certainty: least }).map(step(Target::Value)).collect();
    if to_end {
        let selective = if empties >= SELECTIVE_END { least..probcut::CERTAINTIES } else { 0..0 };
        let end = |certainty| Effort { depth: empties, certainty };
        let target = if limits.goal == Goal::Score { Target::Value } else { Target::Winner };
        steps.extend(selective.chain([SURE]).map(end).map(step(target)));
        if limits.goal == Goal::WinnerFirst {
            // Without selective searches, which could replace a move that is proved to win.
            steps.push(Iteration { effort: end(SURE), target: Target::Value });
        }
    }
    steps
}

/// The search to the end begins this many plies before one by depth would reach the end.
pub const END_JUMP: u8 = 8;

/// From this many empty squares on, selective searches to the end precede the exact one.
const SELECTIVE_END: u8 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_ends_with_the_requested_search() {
        for empties in 1..=60 {
            for goal in [Goal::Score, Goal::Winner, Goal::WinnerFirst] {
                let steps = schedule(empties, &Limits { goal, ..Limits::default() });
                let target = if goal == Goal::Winner { Target::Winner } else { Target::Value };
                let effort = Effort { depth: empties, certainty: SURE };
                assert_eq!(steps.last(), Some(&Iteration { effort, target }));
                assert_eq!(steps.contains(&Iteration { effort, target: Target::Winner }), goal != Goal::Score);
            }
            let by_depth = schedule(empties, &Limits { depth: 5, solve_from: 0, ..Limits::default() });
            assert!(by_depth.iter().map(|step| step.effort.depth).eq(1..=empties.min(5)));
        }
    }
}
