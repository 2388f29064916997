//! The levels of `expert`, the player that uses the engine.
use std::ops::ControlFlow;
use std::time::Duration;

use rand::{Rng, RngExt};

use super::engine::{Engines, Goal, Limits, Report};
use crate::rules::Position;
use crate::search::Stop;

/// The strength of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The percentage of random moves.
    slips: u8,
    /// Maximum number of positions visited per move.
    nodes: u64,
}

pub(super) const LEVELS: u8 = LEVEL_TABLE.len() as u8;

/// The lower levels differ in the share of random moves, the higher ones in the positions visited, not in time, so that
/// a level is equally strong on any machine.
const LEVEL_TABLE: [Level; 16] = [
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
        LEVEL_TABLE.get(usize::from(number.checked_sub(1)?)).copied()
    }

    /// Draws whether the next move is random.
    pub fn slips(self, rng: &mut impl Rng) -> bool {
        rng.random_range(0..100) < self.slips
    }

    /// Maximum number of positions visited per move.
    #[must_use]
    pub const fn nodes(self) -> u64 {
        self.nodes
    }
}

/// The speed of a slow core.
const NODES_PER_SECOND: u64 = 2_000_000;

/// Whether a level may need longer than this for a move.
pub(super) fn is_short(time: Duration, level: u8) -> bool {
    time < Duration::from_micros(positions(level).saturating_mul(1_000_000) / NODES_PER_SECOND)
}

/// The positions that a level visits at most for a move.
pub(super) fn positions(level: u8) -> u64 {
    level_of(level).nodes
}

/// The engine's report at this level, or until stopped without a level; `None` for a random move.
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
    LEVEL_TABLE[usize::from(level.clamp(1, LEVELS)) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_errs_less_or_searches_deeper_than_the_one_below() {
        for pair in LEVEL_TABLE.windows(2) {
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
