//! `reversi name`: keeps a player's name for good, changes its token, or gives it up.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use super::{
    connect::{
        login::{connect, resume},
        server_address::Address,
        token_file,
    },
    random, say,
};
use crate::client::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, after a game with `reversi play --name ada --keep ada.token`:\n  \
    reversi name --keep ada.token claim        reserve the name, and keep results and rating\n  \
    reversi name --keep ada.token new-token    if others may have seen the file\n  \
    reversi name --keep ada.token give-up      log out, and let others have the name\n\n\
    The file is the only way back to the name: make a copy of it.")]
pub(super) struct Args {
    /// The file with the login, from --keep of `play`, `host` or `bot`.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: PathBuf,
    #[command(flatten)]
    server: Address,
    #[command(subcommand)]
    command: NameCommand,
}

#[derive(Debug, clap::Subcommand)]
enum NameCommand {
    /// Show the name, and whether it is claimed.
    Show,
    /// Keep the name for good. Needs one finished game.
    Claim,
    /// Replace the token in the file; the old one is no longer valid.
    NewToken,
    /// Log out and free the name; the results are no longer yours.
    GiveUp,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let file = &args.keep;
    let client = connect(&args.server).await?;
    let session = resume(&client, file).await?;
    let session = session.ok_or_else(|| {
        let shown = file.display();
        if file.exists() {
            anyhow!("the server does not know the login in {shown}")
        } else {
            anyhow!("there is no file {shown}; `reversi play --keep {shown}` makes one")
        }
    })?;
    let name = session.player().name.clone();
    match args.command {
        NameCommand::Show => {
            let state = if session.me().await?.claimed { "claimed" } else { "not claimed" };
            say(format_args!("{name} ({}), {state}", session.player().id));
        }
        NameCommand::Claim => {
            session.claim_name().await.with_context(|| format!("cannot claim {name}"))?;
            say(format_args!("{name} is yours; keep a copy of {}", file.display()));
        }
        NameCommand::NewToken => {
            replace_token(&session, file).await?;
            say(format_args!("{} has a new token", file.display()));
        }
        NameCommand::GiveUp => {
            session.give_up_name().await.with_context(|| format!("cannot give up {name}"))?;
            std::fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
            say(format_args!("{name} is free for others"));
        }
    }
    Ok(())
}

/// Writes the new token to a second file first, from which [`resume`] continues if this is interrupted.
async fn replace_token(session: &Session, file: &Path) -> anyhow::Result<()> {
    let token: String = (0..4).map(|_| format!("{:016x}", random::random())).collect();
    let next = token_file::next(file);
    token_file::write(&next, &token)?;
    session.replace_token(&token).await.context("cannot replace the token")?;
    token_file::rename(&next, file)
}
