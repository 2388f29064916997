//! The levels of `expert`, which plays by the engine.
use std::ops::ControlFlow;
use std::time::Duration;

use rand::{Rng, RngExt};

use super::engine::{Engines, Goal, Limits, Report};
use crate::rules::Position;
use crate::search::Stop;

/// The strength of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The percentage of moves that are random legal moves.
    slips: u8,
    /// The most positions visited for a move.
    nodes: u64,
}

/// The number of levels.
pub(super) const LEVELS: u8 = LADDER.len() as u8;

/// The lower levels differ by the share of random moves, the higher ones by the positions visited, which makes a level
/// equally strong on any machine.
const LADDER: [Level; 16] = [
    Level { slips: 70, nodes: 200 },
    Level { slips: 50, nodes: 200 },
    Level { slips: 35, nodes: 200 },
    Level { slips: 24, nodes: 200 },
    Level { slips: 15, nodes: 200 },
    Level { slips: 8, nodes: 200 },
    Level { slips: 3, nodes: 200 },
    Level { slips: 0, nodes: 300 },
    Level { slips: 0, nodes: 1_000 },
    Level { slips: 0, nodes: 3_000 },
    Level { slips: 0, nodes: 10_000 },
    Level { slips: 0, nodes: 40_000 },
    Level { slips: 0, nodes: 160_000 },
    Level { slips: 0, nodes: 700_000 },
    Level { slips: 0, nodes: 3_000_000 },
    Level { slips: 0, nodes: 12_000_000 },
];

impl Level {
    /// The level with this number, from 1.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        LADDER.get(usize::from(number.checked_sub(1)?)).copied()
    }

    /// Draws whether this move is a random one.
    pub fn slips(self, rng: &mut impl Rng) -> bool {
        rng.random_range(0..100) < self.slips
    }

    /// The most positions visited for a move.
    #[must_use]
    pub const fn nodes(self) -> u64 {
        self.nodes
    }
}

/// Positions a second on a slow core.
const SLOW: u64 = 2_000_000;

/// Whether a level may need longer than this for a move.
pub(super) fn is_short(time: Duration, level: u8) -> bool {
    time < Duration::from_micros(level_of(level).nodes.saturating_mul(1_000_000) / SLOW)
}

/// The engine's report at this level, or without a level until it is stopped; `None` for a random move.
pub(super) fn search(
    engines: &Engines,
    position: Position,
    (level, goal): (Option<u8>, Goal),
    rng: &mut impl Rng,
    stop: &Stop,
) -> Option<Report> {
    let level = level.map(level_of);
    if level.is_some_and(|level| level.slips(rng)) {
        return None;
    }
    let limits = Limits { goal, nodes: level.map_or(u64::MAX, Level::nodes), ..Limits::default() };
    engines.with(|engine| engine.search(position, &limits, stop, &mut |_| ControlFlow::Continue(())))
}

fn level_of(level: u8) -> Level {
    LADDER[usize::from(level.clamp(1, LEVELS)) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_errs_less_or_searches_deeper_than_the_one_below() {
        for pair in LADDER.windows(2) {
            let [below, above] = pair else { continue };
            assert!(above.slips <= below.slips && above.nodes >= below.nodes && above != below);
        }
    }

    #[test]
    fn deep_levels_need_more_time() {
        let second = Duration::from_secs(1);
        assert!(is_short(second, LEVELS) && !is_short(second, LEVELS - 3) && !is_short(10 * second, LEVELS));
    }
}
