//! Training of the evaluation: self-play games, and a regression over their positions.
//!
//! ```text
//!   weights so far --> games (chunk by chunk, each from its own seed) --> *.bin --> fit, stage by stage --> weights
//! ```
//!
//! A [`Contest`] compares new weights with the old ones, and [`deviation`] measures their constants for ProbCut.
//! `reversi train` does one round of all this.
//!
//! A chunk of games is a file, written atomically, so that an interrupted training continues. The same recipe and seed
//! give the same files and weights with any number of threads.
mod contest;
pub mod deviation;
mod example;
mod fit;
mod game;
mod seed;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, io, thread};

use rand::SeedableRng;
use rand_pcg::Pcg64;

pub use super::weights::STAGES;
use super::weights::{rounded, stage_of};
use super::{Engine, Weights};
pub use contest::{Contest, MatchScore};
pub use example::Example;
use fit::Equations;
pub use game::Recipe;
pub use seed::seed;

/// The games of one file: some seconds of work, so that an interruption loses little.
pub const GAMES_PER_CHUNK: u64 = 200;

/// Table size of each engine, enough for shallow searches.
const TABLE_BYTES: usize = 1 << 20;

/// Plays the games that are not yet in `folder`, on `threads` threads, and calls `each` with every finished chunk.
///
/// # Errors
/// A file cannot be written.
pub fn play(
    weights: &Arc<Weights>,
    recipe: &Recipe,
    folder: &Path,
    threads: usize,
    each: &(dyn Fn(u64) + Sync),
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let next = AtomicU64::new(0);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut engine = Engine::new(Arc::clone(weights), TABLE_BYTES);
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= recipe.chunks {
                        return;
                    }
                    if let Err(error) = write_chunk(&mut engine, recipe, folder, chunk) {
                        *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
                        return;
                    }
                    each(chunk);
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

fn write_chunk(engine: &mut Engine, recipe: &Recipe, folder: &Path, chunk: u64) -> io::Result<()> {
    let path = folder.join(format!("{chunk:06}.bin"));
    if path.exists() {
        return Ok(());
    }
    let mut rng = Pcg64::seed_from_u64(recipe.seed ^ chunk.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let examples: Vec<_> = (0..GAMES_PER_CHUNK).flat_map(|_| game::play(engine, recipe, &mut rng)).collect();
    write(&path, &Example::write_all(&examples))
}

/// Writes a file atomically: under a temporary name, which is changed after a sync.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("part");
    let mut file = fs::File::create(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}

/// The examples of folders, of which a twentieth is for testing only.
#[derive(Debug, Default)]
pub struct Examples {
    /// The examples to fit to.
    pub fitted: Vec<Example>,
    /// The examples to test with.
    pub tested: Vec<Example>,
}

impl Examples {
    /// Adds all complete files of a folder, in the order of their names.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(&mut self, folder: &Path) -> io::Result<()> {
        let mut paths: Vec<_> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "bin"));
        paths.sort();
        for path in paths {
            let mut examples = Example::read_all(&fs::read(path)?).ok_or(io::ErrorKind::InvalidData)?;
            let tested = examples.split_off(examples.len() - examples.len() / 20);
            self.fitted.extend(examples);
            self.tested.extend(tested);
        }
        Ok(())
    }
}

/// The quality of the fit of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageLoss {
    /// The stage, of four numbers of empty squares; 0 is the last of a game.
    pub stage: usize,
    /// The number of fitted examples.
    pub examples: usize,
    /// The root mean square error on the fitted examples, in discs.
    pub fitted: f32,
    /// The root mean square error on the test examples, in discs.
    pub tested: f32,
}

/// Fits weights to the examples, and calls `each` after every stage.
#[must_use]
pub fn fit(examples: &Examples, ridge: f32, steps: usize, each: &mut dyn FnMut(StageLoss)) -> Weights {
    let mut prior = vec![0.0; super::weights::stage_len()];
    let mut stages = Vec::with_capacity(STAGES);
    for stage in 0..STAGES {
        let of_stage =
            |all: &[Example]| Equations::new(all.iter().filter(|e| stage_of(e.board.empties().count_ones()) == stage));
        let (fitted, tested) = (of_stage(&examples.fitted), of_stage(&examples.tested));
        prior = fitted.solve(&prior, ridge, steps);
        each(StageLoss { stage, examples: fitted.len(), fitted: fitted.loss(&prior), tested: tested.loss(&prior) });
        stages.push(prior.iter().map(|&weight| rounded(weight)).collect());
    }
    Weights::of_stages(&stages)
}
