//! `reversi train`: one round of fitting the engine's evaluation to its own games.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use tokio::task::spawn_blocking;

use crate::{
    ai::engine::{
        Weights,
        train::{
            self, Contest, Example, Examples, GAMES_PER_CHUNK, Recipe,
            deviation::{self, Constants, Deviations},
        },
    },
    cli::{connect::server_address, local_search::processors, say, terminal::progress::Progress},
    match_statistics::{Difference, Score},
};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A round plays games of the old weights against themselves, from random openings, into --folder; the \
        last plies are labelled with exact results, the earlier ones by search. Then it fits new weights to all positions \
        by linear regression, writes them to --out, measures the difference between shallow and deep searches with them, \
        and lets them play against the old weights. It can be stopped at any time: the same command continues. The same \
        options give the same file, with any number of threads.\n\n\
        crates/reversi-engine/src/ai/engine/README.md lists the rounds that made the weights of this program. To build \
        new weights in, replace weights.bin in that folder by the file, and the constants in probcut.rs by the measured \
        ones.\n\nExamples:\n  \
        reversi train --from seed --folder games/1 --out 1.bin      the first round\n  \
        reversi train --from 1.bin --folder games/2 --out 2.bin     the next\n  \
        reversi train --from 2.bin --folder games/3 --also games/2 --out 3.bin"
)]
pub(in crate::cli) struct Args {
    /// The weights to begin with: a file, `embedded` for those of this program, or `seed` for a few simple
    /// rules.
    #[arg(long, value_name = "FILE|embedded|seed", default_value = "embedded")]
    from: String,
    /// File for the new weights.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Folder for the games. All games in it are used.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Folders with games of earlier rounds to use as well.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    also: Vec<PathBuf>,
    /// Games to play, in chunks of 200.
    #[arg(long, value_name = "N", default_value_t = 56_000,
        value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    games: u64,
    /// Random plies at the start of a game, as a range.
    #[arg(long, value_name = "FEWEST-MOST", default_value = "4-30")]
    random_plies: PlyRange,
    /// Search depth of these games.
    #[arg(long, value_name = "PLIES", default_value_t = 5,
        value_parser = clap::value_parser!(u8).range(1..=60))]
    depth: u8,
    /// Part of a label that is the engine's own evaluation rather than the result.
    #[arg(long, value_name = "PERCENT", default_value_t = 50,
        value_parser = clap::value_parser!(i32).range(0..=100))]
    opinion: i32,
    /// The same seed plays the same games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Strength of the ridge regularization, which keeps the weights of rare patterns near those of the next stage.
    #[arg(long, value_name = "N", default_value_t = 200.0, value_parser = positive)]
    ridge: f32,
    /// Steps of the regression, for each stage.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    steps: u16,
    /// Positions that were not used for the fit, by which the constants of ProbCut are measured for the new weights; 0
    /// for none.
    #[arg(long, value_name = "N", default_value_t = 300,
        value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    deviations: u32,
    /// Openings from which the new weights play against the old ones, with both colours; 0 for no match.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pairs: u32,
    /// Nodes searched for each move of the match.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    nodes: u64,
    /// Games that are played in parallel [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// A range of plies, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlyRange(u8, u8);

impl FromStr for PlyRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // After more plies too few are left to learn from.
        const MAX: u8 = 50;
        let ends = text.split_once('-').and_then(|(min, max)| min.parse().ok().zip(max.parse().ok()));
        match ends {
            Some((min, max)) if min <= max && max <= MAX => Ok(Self(min, max)),
            _ => Err(format!("two numbers up to {MAX}, such as 4-30")),
        }
    }
}

/// A ridge of 0 would leave weights without examples undefined.
fn positive(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|&ridge: &f32| ridge.is_finite() && ridge > 0.0).ok_or("a number above 0".to_owned())
}

pub(in crate::cli) async fn run(args: Args) -> anyhow::Result<()> {
    spawn_blocking(move || round(&args)).await.context("the training failed")?
}

fn round(args: &Args) -> anyhow::Result<()> {
    let old = Arc::new(weights(&args.from)?);
    let threads = args.threads.map_or_else(processors, NonZeroUsize::get);
    let recipe = args.recipe();
    check_folder(&args.folder, &recipe, &old)?;
    play(&old, &recipe, &args.folder, threads)?;
    let examples = read(args)?;
    let new = Arc::new(fit(args, &examples));
    let bytes = new.write();
    write(&args.out, &bytes)?;
    say(format_args!("{} has {} bytes", args.out.display(), bytes.len()));
    if args.deviations > 0 {
        measure(args.deviations, &new, &examples.tested, threads);
    }
    if args.pairs > 0 {
        compare(args, &new, &old, threads);
    }
    Ok(())
}

impl Args {
    fn recipe(&self) -> Recipe {
        let PlyRange(min, max) = self.random_plies;
        Recipe {
            random_plies: (min, max),
            depth: self.depth,
            opinion: self.opinion,
            chunks: self.games.div_ceil(GAMES_PER_CHUNK),
            seed: self.seed,
        }
    }
}

fn weights(from: &str) -> anyhow::Result<Weights> {
    match from {
        "seed" => Ok(train::seed()),
        "embedded" => Ok(Weights::clone(&Weights::embedded())),
        file => Weights::read(&server_address::read(Path::new(file))?).with_context(|| format!("cannot use {file}")),
    }
}

/// Fails if the folder has games of another recipe or other weights: they must not be mixed.
fn check_folder(folder: &Path, recipe: &Recipe, old: &Weights) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let Recipe { random_plies: (min, max), depth, opinion, seed, .. } = recipe;
    let text = format!("random plies {min}-{max}, depth {depth}, opinion {opinion}, seed {seed}\n");
    for (name, claimed) in [("recipe.txt", text.into_bytes()), ("played-by.weights", old.write())] {
        let path = folder.join(name);
        match fs::read(&path) {
            Ok(there) if there == claimed => {}
            Ok(_) => bail!("{} has games of another recipe or other weights; name another folder", folder.display()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => write(&path, &claimed)?,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    train::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn play(old: &Arc<Weights>, recipe: &Recipe, folder: &Path, threads: usize) -> anyhow::Result<()> {
    let progress = Progress::of(recipe.chunks * GAMES_PER_CHUNK, "games");
    let played = train::play(old, recipe, folder, threads, &|_| progress.inc(GAMES_PER_CHUNK));
    progress.finish_and_clear();
    played.with_context(|| format!("cannot write games to {}", folder.display()))?;
    say(format_args!("{} games are in {}", recipe.chunks * GAMES_PER_CHUNK, folder.display()));
    Ok(())
}

fn read(args: &Args) -> anyhow::Result<Examples> {
    let mut examples = Examples::default();
    for folder in args.also.iter().chain([&args.folder]) {
        examples.read(folder).with_context(|| format!("cannot read games from {}", folder.display()))?;
    }
    Ok(examples)
}

fn fit(args: &Args, examples: &Examples) -> Weights {
    say(format_args!(
        "{} positions to learn from, {} kept apart; the error by stage, in discs:",
        examples.fitted.len(),
        examples.tested.len()
    ));
    say("stage  positions  fitted  kept apart");
    let progress = Progress::of(train::STAGES as u64, "stages");
    let new = train::fit(examples, args.ridge, args.steps.into(), &mut |loss| {
        let train::StageLoss { stage, examples, fitted, tested } = loss;
        // Games that begin with many random plies have no examples of the first stages.
        if examples > 0 {
            progress.suspend(|| say(format_args!("{stage:5}  {examples:9}  {fitted:6.2}  {tested:10.2}")));
        }
        progress.inc(1);
    });
    progress.finish_and_clear();
    new
}

fn measure(positions: u32, new: &Arc<Weights>, examples: &[Example], threads: usize) {
    let progress = Progress::of(positions.into(), "positions searched to many depths");
    let deviations = Deviations::measure(new, examples, positions as usize, threads, &|| progress.inc(1));
    progress.finish_and_clear();
    let text = |constants: Constants| {
        let [constant, by_empties, by_depth, by_shallow] = constants;
        let distance = deviations.distance(constants);
        format!("{constant:.3} {by_empties:.4} {by_depth:.3} {by_shallow:.3} (off by {distance:.2})")
    };
    let built_in = text(deviation::built_in());
    say(match deviations.constants() {
        Some(found) => format!(
            "constants of cuts, by {} positions to {} plies: {}; built in: {built_in}",
            deviations.positions(),
            deviation::DEEPEST,
            text(found)
        ),
        None => format!("{} positions say too little of the constants of cuts", deviations.positions()),
    });
}

fn compare(args: &Args, new: &Arc<Weights>, old: &Arc<Weights>, threads: usize) {
    let contest = Contest { pairs: args.pairs, nodes: args.nodes, seed: args.seed };
    let progress = Progress::of(args.pairs.into(), "pairs of games against the old weights");
    let score = contest.play(new, old, threads, &|| progress.inc(1));
    progress.finish_and_clear();
    let Some(difference) = Difference::of(&Score { pairs: score.pairs, ..Score::default() }) else { return };
    say(format_args!(
        "{:.1} % against {}: {difference}, at 95 %, in {} games of {} positions a move; {:+.1} discs a game",
        100.0 * score.share(),
        args.from,
        score.games(),
        args.nodes,
        score.discs as f64 / score.games() as f64
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_ridges_are_checked() {
        assert_eq!("4-30".parse(), Ok(PlyRange(4, 30)));
        for text in ["", "4", "30-4", "4-51", "-4-5", "a-b"] {
            assert!(text.parse::<PlyRange>().is_err(), "{text:?}");
        }
        assert_eq!(positive("0.5"), Ok(0.5));
        assert!(["0", "-1", "NaN", "inf", ""].into_iter().all(|text| positive(text).is_err()));
    }

    #[test]
    fn a_folder_takes_games_of_one_recipe_and_one_set_of_weights() {
        let folder = std::env::temp_dir().join(format!("reversi-claim-{}", std::process::id()));
        let recipe = Recipe { random_plies: (4, 8), depth: 1, opinion: 0, chunks: 1, seed: 1 };
        let claim = |recipe: &Recipe, weights: &Weights| check_folder(&folder, recipe, weights);
        claim(&recipe, &train::seed()).unwrap();
        claim(&Recipe { chunks: 9, ..recipe }, &train::seed()).unwrap();
        assert!(claim(&Recipe { depth: 2, ..recipe }, &train::seed()).is_err());
        assert!(claim(&recipe, &Weights::embedded()).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
