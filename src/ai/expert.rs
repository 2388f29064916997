//! The engine at a seat: its levels.
use std::ops::ControlFlow;

use rand::{Rng, RngExt};

use super::engine::{Limits, Report, with_engine};
use crate::rules::Position;
use crate::search::Stop;

/// What a level plays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// Of a hundred moves so many are any legal move.
    slips: u8,
    /// The most positions visited for a move.
    nodes: u64,
}

/// How many levels there are.
pub(super) const LEVELS: u8 = LADDER.len() as u8;

/// The lower levels differ by how often they slip, the higher ones by how much they see. Bounds by positions make a level equal on any
/// machine.
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

/// What the engine finds at this level; `None` for a slip, when any move will do.
pub(super) fn search(position: Position, level: u8, rng: &mut impl Rng, stop: &Stop) -> Option<Report> {
    let level = LADDER[usize::from(level.clamp(1, LEVELS)) - 1];
    if rng.random_range(0..100) < level.slips {
        return None;
    }
    with_engine(|engine| {
        engine.search(position, &Limits::of_nodes(level.nodes), stop, &mut |_| ControlFlow::Continue(()))
    })
}

/// The most positions that a level visits for a move; the nearest level where there is none such.
#[must_use]
pub fn nodes(level: u8) -> u64 {
    LADDER[usize::from(level.clamp(1, LEVELS)) - 1].nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_slips_less_or_sees_more_than_the_one_below() {
        for pair in LADDER.windows(2) {
            let [below, above] = pair else { continue };
            assert!(above.slips <= below.slips && above.nodes >= below.nodes && above != below);
        }
    }
}
