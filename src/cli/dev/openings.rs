//! `reversi openings`: makes the list of even openings from which bots play.

use std::{collections::HashSet, ops::ControlFlow};

use anyhow::bail;

use crate::{
    ai::engine::{Limits, with_engine},
    cli::{say, terminal::progress::Progress},
    rules::{Color, Position, SplitMix64, Symmetry, Transcript, opening},
    search::Stop,
};

/// Nodes of the search that judges an opening.
const NODES: u64 = 500_000;

/// The largest lead of either side, in discs.
const MAX_LEAD: f32 = 2.0;

/// Maximum random lines per requested opening. One in four is even; a list that needs more would have nearly equal
/// ones.
const TRIES: u32 = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example, the list in this program:\n  reversi openings --count 500 --seed 1 > openings.txt")]
pub(in crate::cli) struct Args {
    /// Number of openings.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// The same seed gives the same openings.
    #[arg(long, default_value_t = 1)]
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
        "# {} openings of {} random plies, after which black moves; no two are equal, nor turned or mirrored into each other.",
        args.count,
        opening::BALANCED_PLIES
    ));
    say(format_args!(
        "# For neither side the engine sees more than {MAX_LEAD} discs after {NODES} positions searched."
    ));
    say(format_args!("# Made by: reversi openings --count {} --seed {}", args.count, args.seed));
    openings.iter().for_each(say);
    Ok(())
}

/// The first even openings of a seed; `report` is called with their number so far.
fn find(args: &Args, nodes: u64, report: &dyn Fn(u64)) -> Vec<Transcript> {
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
            report(found.len() as u64);
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
    // A short search rejects most uneven openings without a long one.
    let within = |limits, lead: f32| search(limits).is_some_and(|report| report.discs.abs() <= lead);
    within(Limits::of_nodes(nodes / 50), 2.0 * MAX_LEAD) && within(Limits::of_nodes(nodes), MAX_LEAD)
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
