//! `reversi import`: games of other programs and databases, for the archive.
//!
//! ```text
//!   files ──▶ reader ──▶ Played, or what is wrong with it ──▶ GameRecord ──▶ the archive, many at a time
//! ```
//!
//! A game is named by a hash of what is known of it, so that importing a file again adds nothing. Who played it has a
//! name and no account: results and ratings stay as they are.

mod imported_game;
mod reader;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tokio::runtime::Handle;

use super::{say, serve, terminal::progress::Progress};
use crate::{
    room::GameRecord,
    store::{OpenError, SqliteStore},
};
use reader::Entry;

/// Games that are written together. One commit waits for the disk, and a crash loses what was not committed.
const BATCH: usize = 1_000;

/// Bad games of a file that are told one by one.
const TOLD: usize = 20;

/// Which files, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi import WTH_2004.wtb                   with WTHOR.JOU and WTHOR.TRN beside it for the names\n  \
    reversi import *.ggf --data /srv/reversi\n  \
    reversi import --format transcript moves.txt  f5d6c3..., one game a line\n\n\
    The server must be stopped. Results and ratings stay as they are.")]
pub(super) struct Args {
    /// Files of games: WTHOR (.wtb), GGF, or transcripts.
    #[arg(env = "REVERSI_IMPORT", required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What is in them; else their names and contents tell.
    #[arg(long, env = "REVERSI_FORMAT")]
    format: Option<Format>,
    /// Folder of the server's file [default: this system's place for programs' data].
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
}

/// How games are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The database of the French federation.
    Wthor,
    /// The Generic Game Format.
    Ggf,
    /// f5d6c3..., one game a line.
    Transcript,
}

/// Reads the files and keeps their games.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let folder = serve::folder(args.data.as_deref())
        .context("this system has no place for programs' data; name a folder with --data")?;
    let store = SqliteStore::open(&folder).map_err(|error| {
        let hint = if matches!(error, OpenError::InUse) { "; stop that server first" } else { "" };
        anyhow::anyhow!("cannot keep anything in {}: {error}{hint}", folder.display())
    })?;
    let runtime = Handle::current();
    let import = move || args.files.iter().try_for_each(|file| import(file, args.format, &store, &runtime));
    tokio::task::spawn_blocking(import).await.context("the import failed")?
}

fn import(file: &Path, format: Option<Format>, store: &SqliteStore, runtime: &Handle) -> anyhow::Result<()> {
    let progress = progress(file)?;
    let mut desk = Desk { store, runtime, batch: Vec::with_capacity(BATCH), count: Count::default(), bad: Vec::new() };
    let read = reader::read(file, format, &progress, &mut |entry| desk.take(entry));
    // What was good before a failure is kept.
    let kept = desk.flush();
    progress.finish();
    for bad in &desk.bad {
        eprintln!("{}: {bad}", file.display());
    }
    if desk.count.bad > desk.bad.len() {
        eprintln!("{}: and {} more", file.display(), desk.count.bad - desk.bad.len());
    }
    let Count { added, known, bad } = desk.count;
    say(format_args!("{}: {added} games imported, {known} there already, {bad} bad", file.display()));
    read.and(kept).with_context(|| format!("cannot import {}", file.display()))
}

fn progress(file: &Path) -> anyhow::Result<Progress> {
    let length = std::fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Progress::of_bytes(length, name))
}

/// Keeps the games of a file, and count of them.
struct Desk<'a> {
    store: &'a SqliteStore,
    runtime: &'a Handle,
    batch: Vec<GameRecord>,
    count: Count,
    bad: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    added: usize,
    known: usize,
    bad: usize,
}

impl Desk<'_> {
    fn take(&mut self, Entry { place, game }: Entry) -> anyhow::Result<()> {
        match game.and_then(|played| played.record()) {
            Ok(record) => self.batch.push(record),
            Err(wrong) => {
                self.count.bad += 1;
                if self.bad.len() < TOLD {
                    self.bad.push(format!("{place}: {wrong}"));
                }
            }
        }
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let games = batch.len();
        let added = self.runtime.block_on(self.store.import(batch))?;
        self.count.added += added;
        self.count.known += games - added;
        Ok(())
    }
}
