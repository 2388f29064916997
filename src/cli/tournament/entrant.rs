//! A person who takes part.

use anyhow::{Context as _, anyhow};

use super::login::{self, KeepOption};
use crate::cli::{
    connect::{find_tournament, login::LoginOptions, server_address::Address},
    say,
    text::tournament::has_ended,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reversi tournament join Cup --name ada --keep ada.login\n\n\
    The server seats the entrants in the room of each meeting: play there by `reversi play --room ROOM` with the same \
    --keep. The room opens once both entrants are connected: until then keep `reversi rooms` open with that login, or the \
    page. For a bot: `reversi bot --tournament`.")]
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
    joined.map_err(|error| match error {
        error if error.is("BAD_PASSWORD") => {
            anyhow!("the tournament asks for a password; give the right one with --password")
        }
        error => anyhow!(error).context(format!("cannot enter tournament {id}")),
    })?;
    let (name, kept) = (&session.player().name, kept.display());
    say(format_args!("{name} is entered in tournament {id}; the login is kept in {kept}"));
    let server = server.non_default().map(|url| format!(" --server {url}")).unwrap_or_default();
    say("stay connected until your meeting begins, on the page or by the first of these:");
    say(format_args!("  wait:      reversi rooms --keep {kept}{server}"));
    say(format_args!("  your room: reversi tournament meetings {id}{server}"));
    say(format_args!("  to play:   reversi play --room ROOM --keep {kept}{server}"));
    Ok(())
}

pub(super) async fn leave(server: &Address, args: LeaveArgs) -> anyhow::Result<()> {
    let session = login::resume(server, &args.keep).await?;
    let (id, tournament) = find_tournament::find_as(&session, &args.tournament).await?;
    session.leave_tournament(&id).await.with_context(|| format!("cannot leave tournament {id}"))?;
    if has_ended(tournament.phase()) {
        say(format_args!("tournament {id} has ended; {} stays in its standings", session.player().name));
        return Ok(());
    }
    say(format_args!("{} has left tournament {id}", session.player().name));
    Ok(())
}
