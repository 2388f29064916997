//! `reversi store`: copies everything that a stopped server keeps.

use anyhow::Context as _;

use super::{
    say,
    storage::{self, StoreLocation},
    terminal::progress::Progress,
};
use crate::store::{self, Copied};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Copy players, games, ratings and open rooms from one store into an empty one.
    #[command(after_help = "Examples:\n  \
        reversi store copy ~/.local/share/reversi postgres://reversi@db/reversi\n  \
        reversi store copy postgres://reversi@db/reversi /srv/reversi\n\n\
        A store is the folder of a database file, or the URL of a PostgreSQL database. No server may use them.")]
    Copy {
        /// The store to read.
        from: StoreLocation,
        /// The store to write, which must be empty.
        to: StoreLocation,
    },
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let StoreCommand::Copy { from, to } = args.command;
    let [from, to] = [storage::open_to_copy(&from).await?, storage::open_to_copy(&to).await?];
    anyhow::ensure!(store::is_empty(&*to).await?, "the store to write is not empty");
    let games = from.size().await.context("the store cannot be read")?.games;
    let progress = Progress::of(games, "games");
    let copied = store::copy(&*from, &*to, |games| progress.set_position(games as u64)).await;
    progress.finish_and_clear();
    let Copied { games, players, rooms } = copied.context("the copy is not complete")?;
    say(format_args!("copied: {games} games, {players} players and {rooms} open rooms"));
    Ok(())
}
