//! `reversi doctor`: examines and repairs the data of a stopped server.

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};

use super::{say, storage, terminal::progress::Progress};
use crate::{
    room::{GameRecord, ggf},
    store::{Diagnosis, Doctor, Observer, OpenError, SqliteStore},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi doctor                               what is damaged, and what is lost\n  \
    reversi doctor --export games.ggf            write the readable games, too\n  \
    reversi doctor --repair --data /srv/reversi  make a file of what is readable\n\n\
    The server must be stopped. Without --repair nothing is changed. With it, the damaged file is kept beside the new one, \
    which needs as much space; so does a copy that is made while a file is examined that SQLite cannot read as it is.\n\n\
    The exit status is 0 if all is well or repaired, and 1 if there is damage.")]
pub(super) struct Args {
    /// Folder of the server's database file [default: this system's folder for application data].
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// If there is damage, replace the file by a new one with all that can be read.
    #[arg(long)]
    repair: bool,
    /// Write all games that can be read to this file, in the Generic Game Format.
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    tokio::task::spawn_blocking(move || examine(&args)).await.context("the examination failed")?
}

fn examine(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = storage::folder(args.data.as_deref())?;
    let file = folder.join(SqliteStore::FILE);
    let doctor = Doctor::open(&folder).map_err(|error| {
        let hint = if matches!(error, OpenError::InUse) { storage::STOP } else { "" };
        anyhow::anyhow!("cannot examine {}: {error}{hint}", file.display())
    })?;
    let mut examination = Examination::new(args.export.as_deref())?;
    let diagnosis = doctor.examine(&mut examination).with_context(|| format!("cannot examine {}", file.display()))?;
    if let Some((out, games)) = examination.finish()? {
        say(format_args!("{games} games are in {}", out.display()));
    }
    diagnosis.findings.iter().for_each(say);
    if diagnosis.more > 0 {
        say(format_args!("and {} more", diagnosis.more));
    }
    say(format_args!("{} has {}", file.display(), contents(&diagnosis)));
    if diagnosis.findings.is_empty() {
        say("nothing is damaged");
        return Ok(ExitCode::SUCCESS);
    }
    if !args.repair {
        say("`reversi doctor --repair` makes a new file of what can be read");
        return Ok(ExitCode::FAILURE);
    }
    let mut repair = Examination::new(None)?;
    let (saved, damaged) =
        doctor.repair(&mut repair).with_context(|| format!("cannot repair {}; it is unchanged", file.display()))?;
    repair.finish()?;
    say(format_args!("repaired: a new {} has {}", file.display(), contents(&saved)));
    say(format_args!("the damaged file is {}; delete it when you need it no longer", damaged.display()));
    Ok(ExitCode::SUCCESS)
}

fn contents(Diagnosis { games, rooms, players, .. }: &Diagnosis) -> String {
    format!("{games} games, {rooms} open rooms and {players} players that can be read")
}

/// Shows the progress, and exports the games.
struct Examination<'a> {
    progress: Progress,
    export: Option<Export<'a>>,
}

struct Export<'a> {
    path: &'a Path,
    file: BufWriter<File>,
    games: u64,
    /// The first error of a write.
    written: io::Result<()>,
}

impl<'a> Examination<'a> {
    fn new(export: Option<&'a Path>) -> anyhow::Result<Self> {
        let open = |path: &'a Path| -> anyhow::Result<Export<'a>> {
            // An export of an emptier store must not replace one with games. A device is not replaced.
            let is_taken = path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
            ensure!(!is_taken, "{} is there already; name another file for the games", path.display());
            let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(Export { path, file: BufWriter::new(file), games: 0, written: Ok(()) })
        };
        Ok(Self { progress: Progress::of_phases(), export: export.map(open).transpose()? })
    }

    /// Ends the progress and the export. Returns the file and its number of games.
    fn finish(self) -> anyhow::Result<Option<(&'a Path, u64)>> {
        self.progress.finish_and_clear();
        let Some(Export { path, mut file, games, written }) = self.export else { return Ok(None) };
        written.and_then(|()| file.flush()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Some((path, games)))
    }
}

impl Observer for Examination<'_> {
    fn begin(&mut self, step: &'static str, rows: u64) {
        if rows == 0 {
            self.progress.wait_for(step.to_owned());
        } else {
            self.progress.begin_phase(step, rows);
        }
    }

    fn advance(&mut self) {
        self.progress.inc(1);
    }

    fn found(&mut self, game: &GameRecord) {
        if let Some(export) = self.export.as_mut().filter(|export| export.written.is_ok()) {
            export.written = writeln!(export.file, "{}", ggf::write(game));
            export.games += 1;
        }
    }
}
