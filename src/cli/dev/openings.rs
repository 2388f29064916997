//! `reversi openings`: the list of even openings that games of bots begin with.

use std::{collections::HashSet, ops::ControlFlow};

use anyhow::bail;

use crate::{
    ai::engine::{Limits, with_engine},
    cli::{say, terminal::progress::Progress},
    rules::{Color, Position, SplitMix64, Symmetry, Transcript, opening},
    search::Stop,
};

/// How far the engine looks before it calls an opening even.
const NODES: u64 = 500_000;

/// The largest lead of either side, in discs.
const MOST_DISCS: f32 = 2.0;

/// Lines tried for each one that is asked for, before it is believed that there are no more. One in four is even, and longer lists than
/// this allows would hold nearly equal openings anyway.
const TRIES: u32 = 100;

/// How many, and which.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example, the list in this program:\n  reversi openings --count 500 --seed 1 > crates/reversi-engine/src/rules/openings.txt"
)]
pub(in crate::cli) struct Args {
    /// Number of openings.
    #[arg(long, env = "REVERSI_COUNT", value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// The same seed gives the same openings.
    #[arg(long, env = "REVERSI_SEED", default_value_t = 1)]
    seed: u64,
}

/// Prints the list, and how it was made.
pub(in crate::cli) fn run(args: &Args) -> anyhow::Result<()> {
    let progress = Progress::of(args.count.into(), "openings");
    let openings = find(args, NODES, &|found| progress.set_position(found));
    progress.finish_and_clear();
    if openings.len() < args.count as usize {
        bail!("only {} openings were found", openings.len());
    }
    say(format_args!(
        "# {} openings of {} random plies, after which black moves; no two are equal, nor turned or mirrored into each other.\n\
         # For neither side the engine sees more than {MOST_DISCS} discs after {NODES} positions searched.\n\
         # Made by: reversi openings --count {} --seed {}",
        args.count,
        opening::BALANCED_PLIES,
        args.count,
        args.seed
    ));
    openings.iter().for_each(say);
    Ok(())
}

/// The first even ones of a seed; `each` gets their number so far.
fn find(args: &Args, nodes: u64, each: &dyn Fn(u64)) -> Vec<Transcript> {
    let mut random = SplitMix64::new(args.seed);
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for _ in 0..args.count.saturating_mul(TRIES) {
        let Some((squares, position)) = opening::random_line(opening::BALANCED_PLIES, &mut random) else {
            continue;
        };
        if position.turn() == Color::Black
            && seen.insert(Symmetry::normal(position.board()))
            && is_even(position, nodes)
        {
            found.extend(Transcript::from_squares(squares));
            each(found.len() as u64);
        }
        if found.len() == args.count as usize {
            break;
        }
    }
    found
}

fn is_even(position: Position, nodes: u64) -> bool {
    let search = |limits: Limits| {
        with_engine(|engine| engine.search(position, &limits, &Stop::new(), &mut |_| ControlFlow::Continue(())))
    };
    // A short look spares the long one where it would be in vain.
    let within = |limits, most: f32| search(limits).is_some_and(|report| report.discs.abs() <= most);
    within(Limits::of_nodes(nodes / 50), 2.0 * MOST_DISCS) && within(Limits::of_nodes(nodes), MOST_DISCS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_openings() {
        let find = |seed| find(&Args { count: 4, seed }, 2_000, &|_| {});
        assert_eq!(find(5), find(5));
        assert_ne!(find(5), find(6));
        assert!(find(5).iter().all(|opening| opening.squares().len() == usize::from(opening::BALANCED_PLIES)));
    }
}
