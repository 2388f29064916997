//! A person who takes part.

use anyhow::Context as _;

use super::login::{self, KeepOption};
use crate::cli::{
    connect::{find_tournament, login::LoginOptions, server_address::Address},
    say,
    text::tournament::has_ended,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reversi tournament join Cup --name ada --keep ada.login\n\n\
    Then play your meetings by `reversi play --tournament` with the same --keep, which also joins, or on the page. For a \
    bot: `reversi bot --tournament`.")]
pub(super) struct JoinArgs {
    /// Id or name of the tournament.
    tournament: String,
    /// The tournament's password.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    #[command(flatten)]
    login: LoginOptions,
}

#[derive(Debug, clap::Args)]
pub(super) struct LeaveArgs {
    /// Id or name of the tournament.
    tournament: String,
    #[command(flatten)]
    keep: KeepOption,
}

pub(super) async fn join(server: &Address, args: JoinArgs) -> anyhow::Result<()> {
    let (session, kept) = login::log_in(server, args.login, "guest").await?;
    let (id, _) = find_tournament::find_as(&session, &args.tournament).await?;
    let joined = session.join_tournament(&id, &args.password).await;
    joined.map_err(|error| find_tournament::explain_join(error, &id))?;
    let (name, keep, kept) = (&session.player().name, login::option(&kept), kept.display());
    say(format_args!("{name} is entered in tournament {id}; the login is kept in {kept}"));
    let server = server.non_default().map(|url| format!(" --server {url}")).unwrap_or_default();
    say(format_args!("to play your meetings as they begin: reversi play --tournament {id}{keep}{server}"));
    Ok(())
}

pub(super) async fn leave(server: &Address, args: LeaveArgs) -> anyhow::Result<()> {
    let session = login::resume(server, args.keep.file()).await?;
    let (id, tournament) = find_tournament::find_as(&session, &args.tournament).await?;
    session.leave_tournament(&id).await.with_context(|| format!("cannot leave tournament {id}"))?;
    if has_ended(tournament.phase()) {
        say(format_args!("tournament {id} has ended; {} stays in its standings", session.player().name));
        return Ok(());
    }
    say(format_args!("{} has left tournament {id}", session.player().name));
    Ok(())
}
