//! `reversi tournament edit`.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{
    create, describe, file,
    options::TournamentOptions,
    organiser::{self, Target},
};
use crate::cli::{UsageError, connect::server_address::Address, say};

#[derive(Debug, clap::Args)]
#[command(override_usage = "reversi tournament edit <TOURNAMENT> [OPTIONS] [NAME]")]
#[command(after_help = "It is possible before the start. What is not given stays as it is. Examples:\n  \
    reversi tournament edit Cup --swiss 7 --starts-in 1h\n  \
    reversi tournament edit Cup 'Winter Cup' --without rated --without starts-at\n  \
    reversi tournament edit Cup --file cup.toml")]
pub(super) struct Args {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    options: TournamentOptions,
    /// Read settings from this file, as one of `create`. An option replaces what the file sets.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Take this option away, as `rated` or `starts-at`. May be repeated.
    #[arg(long, value_name = "OPTION")]
    without: Vec<String>,
}

pub(super) async fn run(server: &Address, args: Args) -> anyhow::Result<()> {
    let given = match &args.file {
        Some(path) => args.options.or(&file::read(path)?)?,
        None => args.options,
    };
    if given.values().next().is_none() && args.without.is_empty() {
        return Err(
            UsageError("give the options to change; `reversi tournament show` shows the settings".into()).into()
        );
    }
    let (session, id, tournament) = organiser::open(server, &args.target).await?;
    let settings = tournament.settings.context("the server's answer has no settings")?;
    let given = given.without(&args.without)?;
    let wanted = given.or(&TournamentOptions::of(&settings)?.without(&args.without)?)?;
    let settings = create::settings(&session, &wanted, settings.game.unwrap_or_default()).await?;
    let changed = session.update_tournament(&id, settings).await;
    let changed =
        changed.map_err(|error| organiser::explain(&session, error, format!("cannot change tournament {id}")))?;
    describe::details(&changed, &session.player().name).iter().for_each(say);
    organiser::enter_ais(&session, &id, given.ais()).await
}
