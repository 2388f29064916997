//! Training is repeatable: the same recipe gives the same files, also after interruptions.
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::super::tests::{random_board, seeds};
use super::super::{Engine, Weights};
use super::{Example, Examples, Recipe, StageLoss, fit, play, seed};
use crate::rules::{Bitboard, Board, Color, Position};

/// Games that are nearly over after their random plies.
const RECIPE: Recipe = Recipe { random_plies: (47, 50), depth: 1, opinion: 50, chunks: 3, seed: 9 };

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("reversi-train-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect()
}

/// Plays the recipe in the folder; returns the chunks played.
fn chunks_played(folder: &Path, recipe: &Recipe, threads: usize) -> Vec<u64> {
    let done = Mutex::new(Vec::new());
    play(&Arc::new(seed()), recipe, folder, threads, &|chunk| done.lock().unwrap().push(chunk)).unwrap();
    let mut done = done.into_inner().unwrap();
    done.sort_unstable();
    done
}

#[test]
fn a_recipe_and_seed_give_the_same_files_for_any_number_of_threads() {
    let [one, two, other] = ["one", "two", "other"].map(Folder::new);
    assert_eq!(chunks_played(one.path(), &RECIPE, 1), [0, 1, 2]);
    assert_eq!(chunks_played(two.path(), &RECIPE, 2), [0, 1, 2]);
    let files_of_one = files(one.path());
    assert_eq!(files_of_one.keys().collect::<Vec<_>>(), ["000000.bin", "000001.bin", "000002.bin"]);
    assert_eq!(files(two.path()), files_of_one);
    chunks_played(other.path(), &Recipe { seed: RECIPE.seed + 1, chunks: 1, ..RECIPE }, 1);
    assert_ne!(files(other.path()).first_key_value(), files_of_one.first_key_value());
    let mut chunks: Vec<_> = files_of_one.into_values().collect();
    chunks.dedup();
    assert_eq!(chunks.len(), 3, "chunks have different games");
}

#[test]
fn an_interrupted_training_continues_to_the_same_files() {
    let folder = Folder::new("interrupted");
    let path = |name: &str| folder.path().join(name);
    chunks_played(folder.path(), &RECIPE, 2);
    let whole = files(folder.path());

    // One chunk was not begun, one was interrupted while being written, and one is complete and not played again.
    fs::remove_file(path("000000.bin")).unwrap();
    let bytes = fs::read(path("000001.bin")).unwrap();
    fs::remove_file(path("000001.bin")).unwrap();
    fs::write(path("000001.part"), &bytes[..bytes.len() / 2]).unwrap();
    let mut examples = Examples::default();
    examples.read(folder.path()).unwrap();
    assert_eq!(examples.fitted.len() + examples.tested.len(), fs::read(path("000002.bin")).unwrap().len() / 18);

    let done = fs::metadata(path("000002.bin")).unwrap().modified().unwrap();
    chunks_played(folder.path(), &RECIPE, 2);
    assert_eq!(files(folder.path()), whole);
    assert_eq!(fs::metadata(path("000002.bin")).unwrap().modified().unwrap(), done);
}

#[test]
fn games_that_cannot_be_written_or_read_are_an_error() {
    let folder = Folder::new("unfit");
    let file = folder.path().join("000000.bin");
    fs::write(&file, [0; 18 + 1]).unwrap();
    assert!(Examples::default().read(folder.path()).is_err(), "half an example");
    assert!(play(&Arc::new(seed()), &RECIPE, &file, 2, &|_| {}).is_err(), "a file is no folder");
}

/// Positions of all stages with their evaluations by `weights`.
fn examples_of(weights: Arc<Weights>) -> Examples {
    let engine = Engine::new(weights, 1 << 16);
    let example = |seed| {
        let board = random_board(seed, 1 + seed as u32 % 50);
        let position = Position::new(Board::new(Bitboard(board.own), Bitboard(board.opponent)).unwrap(), Color::Black);
        Example { board, value: (engine.evaluate(position) * 64.0) as i32 }
    };
    // The test examples have every number of empty squares.
    Examples { fitted: seeds(3_500).map(example).collect(), tested: seeds(4_000).skip(3_500).map(example).collect() }
}

#[test]
fn training_approximates_the_weights_of_its_examples_repeatably() {
    let examples = examples_of(Arc::new(seed()));
    let fitted = |steps| {
        let mut losses: Vec<StageLoss> = Vec::new();
        let weights = fit(&examples, 1.0, steps, &mut |loss| losses.push(loss));
        (weights.write(), losses)
    };
    let (_, untouched) = fitted(0);
    let (bytes, losses) = fitted(20);
    assert_eq!(losses.iter().map(|loss| loss.examples).sum::<usize>(), examples.fitted.len());
    for (before, after) in untouched.iter().zip(&losses).filter(|(before, _)| before.examples > 0) {
        assert!(after.fitted < before.fitted / 4.0, "{before:?} {after:?}");
        assert!(after.tested < before.tested * 0.9, "{before:?} {after:?}");
    }
    assert_eq!(fitted(20), (bytes, losses));
}
