//! `reversi backup` and `reversi restore`: complete copies of the file. `reversi store`: copies everything that a
//! stopped server keeps into a store of either kind.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;

use super::{
    say,
    storage::{self, CopyTarget, StorageOptions, StoreLocation},
    terminal::progress::Progress,
    warn,
};
use crate::store::{self, BackupError, Copied, OpenError, SqliteStore};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi backup /backup/reversi-monday.db\n  \
    reversi backup --data /srv/reversi copy.db\n\n\
    The server may run: the copy has all that it has answered before. The file is readable only by its owner, and is never \
    overwritten. The copy is checked; if it is damaged, it is kept and the exit status is 1.\n\
    A PostgreSQL database has its own tools: pg_dump.")]
pub(super) struct BackupArgs {
    /// The new file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi restore /backup/reversi-monday.db\n  \
    reversi restore --data /srv/reversi copy.db\n\n\
    The server must be stopped. The backup is checked first, and stays where it is. What it replaces is kept beside the new \
    file, under a name that is printed.\n\
    A PostgreSQL database has its own tools: pg_restore.")]
pub(super) struct RestoreArgs {
    /// A file made by `reversi backup`, or the file of a stopped server.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Copy players, games, ratings, tournaments and open rooms from one store into an empty one.
    #[command(after_help = "Examples:\n  \
        reversi store copy ~/.local/share/reversi postgres://reversi@db/reversi\n  \
        reversi store copy postgres://reversi@db/reversi /srv/reversi\n\n\
        A store is the folder of a database file, or the URL of a PostgreSQL database. No server may use them. No server \
        starts with a copy that was interrupted.")]
    Copy {
        /// The store to read, which is only upgraded if it is of an older version.
        from: StoreLocation,
        /// The store to write, which must be empty.
        to: StoreLocation,
    },
}

pub(super) async fn back_up(args: BackupArgs) -> anyhow::Result<ExitCode> {
    let folder = args.storage.folder_of_file("pg_dump --format=custom --file=FILE URL")?;
    let copied = with_progress(move |pages| {
        let damage = store::backup(&folder, &args.file, pages).map_err(explain);
        let from = folder.join(SqliteStore::FILE);
        let failed = || format!("cannot back up {}", from.display());
        damage.with_context(failed).map(|damage| (damage, from, args.file))
    });
    let (damage, from, file) = copied.await?;
    say(format_args!("the backup of {} is {}", from.display(), file.display()));
    let Some(damage) = damage else { return Ok(ExitCode::SUCCESS) };
    warn(format_args!(
        "reversi: the backup is damaged as its original is: {damage}; stop the server and run `reversi doctor`"
    ));
    Ok(ExitCode::FAILURE)
}

pub(super) async fn restore(args: RestoreArgs) -> anyhow::Result<()> {
    let folder =
        args.storage.folder_of_file("stop all servers, then pg_restore --clean --if-exists --dbname=URL FILE")?;
    let restored = with_progress(move |pages| {
        let to = folder.join(SqliteStore::FILE);
        let kept = store::restore(&args.file, &folder, pages).map_err(explain);
        let refused = || format!("cannot restore {} to {}", args.file.display(), to.display());
        kept.with_context(refused).map(|kept| (kept, to.clone()))
    });
    let (kept, file) = restored.await?;
    say(format_args!("restored: {}", file.display()));
    if let Some(kept) = kept {
        say(format_args!("what was there is {}; delete it when you need it no longer", kept.display()));
    }
    Ok(())
}

/// Copies a file in a thread of its own, and shows how far it is.
async fn with_progress<T: Send + 'static>(
    copy: impl FnOnce(&mut store::Pages<'_>) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let work = move || {
        let progress = Progress::of(0, "pages");
        let copied = copy(&mut |done, all| match done < all {
            true => progress.set(done, all),
            false => progress.wait_for("checking the copy".to_owned()),
        });
        progress.finish_and_clear();
        copied
    };
    tokio::task::spawn_blocking(work).await.context("the copy failed")?
}

fn explain(error: BackupError) -> anyhow::Error {
    let hint = if matches!(error, BackupError::Store(OpenError::InUse)) { storage::STOP } else { "" };
    anyhow::anyhow!("{error}{hint}")
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let StoreCommand::Copy { from, to } = args.command;
    let from = storage::open_source(&from).await?;
    let to = CopyTarget::begin(&to).await?;
    let games = from.size().await.context("the store cannot be read")?.games;
    let progress = Progress::of(games, "games");
    let copied = store::copy(&*from, to.store(), |games| progress.set_position(games as u64)).await;
    progress.finish_and_clear();
    let Copied { games, players, rooms, tournaments } = copied.context("the copy is not complete")?;
    to.finish().await.context("the copy is not complete")?;
    say(format_args!("copied: {games} games, {players} players, {rooms} open rooms and {tournaments} tournaments"));
    Ok(())
}
