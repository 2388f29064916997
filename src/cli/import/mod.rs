//! `reversi import`: adds games of other programs and databases to the archive.
//!
//! ```text
//!   files ──▶ reader ──▶ ImportedGame, or an error ──▶ GameRecord ──▶ the archive, in batches
//! ```
//!
//! A game's id is that in its file, if this program wrote it, or else a hash of its data, so that importing a file
//! again adds nothing. Its players have names and no accounts: results and ratings do not change.

mod imported_game;
mod reader;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use tokio::runtime::Handle;

use super::{
    say,
    storage::StorageOptions,
    terminal::{line, progress::Progress},
    text::printable::printable,
    warn,
};
use crate::{
    room::{GameId, GameRecord},
    store::{Store, StoreError},
};
use imported_game::ImportedGame;
use reader::ImportFormat;

/// Games per commit. A crash loses games that are not committed.
const BATCH: usize = 1_000;

/// The exit status if some games, but not all, could not be imported.
const INCOMPLETE: u8 = 3;

/// Maximum number of bad games of a file that are reported individually.
const REPORTED_ERRORS: usize = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi import WTH_2004.wtb                   with WTHOR.JOU beside it\n  \
    reversi import *.ggf --data /srv/reversi\n  \
    reversi import *.ggf --store postgres://reversi@db/reversi\n  \
    reversi import --format transcript moves.txt  f5d6c3..., one game a line\n  \
    bunzip2 -c games.ggf.bz2 | reversi import -   from standard input\n\n\
    The server must be stopped. Imported games change no results or ratings.\n\n\
    The exit status is 0 if every game is in the archive, 3 if some could not be imported, and 1 if none could.")]
pub(super) struct Args {
    /// Files of games: WTHOR (.wtb), GGF, or transcripts; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the files [default: by name and content].
    #[arg(long)]
    format: Option<ImportFormat>,
    #[command(flatten)]
    storage: StorageOptions,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = Handle::current();
    let import = move || import_all(&args, &runtime);
    tokio::task::spawn_blocking(import).await.context("the import failed")?
}

/// Imports every file; an error in one does not stop the others.
fn import_all(args: &Args, runtime: &Handle) -> anyhow::Result<ExitCode> {
    let (mut stored, mut complete) = (0, true);
    let mut store = LazyStore { storage: &args.storage, runtime, opened: None };
    for file in &args.files {
        let (batch, store) = (Vec::with_capacity(BATCH), &mut store);
        let mut import = FileImport { store, runtime, batch, added: 0, known: 0, bad: 0, reported: Vec::new() };
        if let Err(error) = import.run(file, args.format) {
            if error.is::<Unopened>() {
                return Err(error);
            }
            warn(format_args!("reversi: {error:#}"));
            complete = false;
        }
        stored += import.added + import.known;
        complete &= import.bad == 0;
    }
    anyhow::ensure!(stored > 0, "no game could be imported");
    Ok(if complete { ExitCode::SUCCESS } else { INCOMPLETE.into() })
}

fn progress(file: &Path) -> Progress {
    let name = printable(file.file_name().unwrap_or_default().to_string_lossy());
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Progress::of_bytes(metadata.len(), name),
        _ => {
            let progress = Progress::of_phases();
            progress.wait_for(format!("reading {name}"));
            progress
        }
    }
}

/// The store, which is opened, and created if necessary, with the first game: files without one create nothing.
struct LazyStore<'a> {
    storage: &'a StorageOptions,
    runtime: &'a Handle,
    opened: Option<Store>,
}

/// The store could not be opened, for any file.
#[derive(Debug, thiserror::Error)]
#[error("no game was imported")]
struct Unopened;

impl LazyStore<'_> {
    fn open(&mut self) -> anyhow::Result<&Store> {
        if self.opened.is_none() {
            let store = self.runtime.block_on(self.storage.open("--data names another folder"));
            self.opened = Some(store.map_err(|error| error.context(Unopened))?);
        }
        self.opened.as_ref().context(Unopened)
    }
}

/// Stores and counts the games of a file.
struct FileImport<'a, 'b> {
    store: &'a mut LazyStore<'b>,
    runtime: &'a Handle,
    batch: Vec<GameRecord>,
    added: usize,
    known: usize,
    bad: usize,
    /// The errors of the first bad games.
    reported: Vec<String>,
}

impl FileImport<'_, '_> {
    /// Imports the file, and reports its games.
    fn run(&mut self, file: &Path, format: Option<ImportFormat>) -> anyhow::Result<()> {
        let input = line::open(file).with_context(|| format!("cannot read {}", file.display()))?;
        let progress = progress(file);
        let read = reader::read(file, input, format, &progress, &mut |location, game| self.add(&location, game));
        // Games before an error are stored too.
        let kept = self.flush();
        progress.finish_and_clear();
        if kept.as_ref().is_err_and(|error| error.is::<Unopened>()) {
            return kept;
        }
        let Self { added, known, bad, reported, .. } = self;
        for wrong in &*reported {
            warn(format_args!("{}: {wrong}", file.display()));
        }
        if *bad > reported.len() {
            warn(format_args!("{}: and {} more", file.display(), *bad - reported.len()));
        }
        say(format_args!("{}: {added} games imported, {known} there already, {bad} bad", file.display()));
        read.and(kept).with_context(|| format!("cannot import {}", file.display()))
    }

    fn add(&mut self, location: &str, game: Result<ImportedGame, String>) -> anyhow::Result<()> {
        match game.and_then(|played| Ok((played.id, played.into_record()?))) {
            Ok((id, mut record)) => match id {
                Some(id) if self.is_known(id, &mut record)? => self.known += 1,
                _ => self.batch.push(record),
            },
            Err(wrong) => {
                self.bad += 1;
                if self.reported.len() < REPORTED_ERRORS {
                    self.reported.push(format!("{location}: {wrong}"));
                }
            }
        }
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Whether the archive has the game with the id in its file. A new game gets that id, unless another game has it or
    /// may still get it in its room: one must not be taken for the other.
    fn is_known(&mut self, id: GameId, record: &mut GameRecord) -> anyhow::Result<bool> {
        if self.batch.iter().any(|game| game.id == id) {
            self.flush()?;
        }
        let squares = |game: &GameRecord| game.plies.iter().map(|ply| ply.square).collect::<Vec<_>>();
        let store = self.store.open()?;
        match self.runtime.block_on(store.archive.game(id)) {
            Ok(Some(stored)) => Ok(squares(&stored) == squares(record)),
            Ok(None) => {
                if self.runtime.block_on(store.journal.load(id.room))?.is_none() {
                    record.id = id;
                }
                Ok(false)
            }
            Err(StoreError::Damaged(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let games = batch.len();
        if games == 0 {
            return Ok(());
        }
        let added = self.runtime.block_on(self.store.open()?.archive.import(batch))?;
        self.added += added;
        self.known += games - added;
        Ok(())
    }
}
