//! `reversi name`: keeps a player's name for good, changes its token, or gives it up.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail};

use super::{
    UsageError,
    connect::{
        kept_logins,
        login::{connect, resume},
        server_address::Address,
    },
    random, say, warn,
};
use crate::client::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, after a game with `reversi play --name ada --keep ada.token`:\n  \
    reversi name --keep ada.token claim      keep the name, and the rating\n  \
    reversi name --keep ada.token new-token  if others may have seen the file\n  \
    reversi name --keep ada.token give-up    log out, and let others have the name\n\n\
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
    /// Log out and free the name; the results are no longer yours. Asks first.
    GiveUp {
        /// Do not ask. Needed without a terminal.
        #[arg(long)]
        yes: bool,
    },
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
    let (name, server) = (session.player().name.clone(), client.url());
    match args.command {
        NameCommand::Show => {
            let state = if session.me().await?.claimed { "claimed" } else { "not claimed" };
            say(format_args!("{name} ({}) at {server}, {state}", session.player().id));
        }
        NameCommand::Claim => {
            session.claim_name().await.with_context(|| format!("cannot claim {name}"))?;
            say(format_args!("{name} is yours at {server}; keep a copy of {}", file.display()));
        }
        NameCommand::NewToken => {
            replace_token(&session, file).await?;
            say(format_args!("{} has a new token for {server}", file.display()));
        }
        NameCommand::GiveUp { yes } => {
            if !yes {
                confirm_giving_up(&format!("{name} at {server}"))?;
            }
            let token = session.token().to_owned();
            session.give_up_name().await.with_context(|| format!("cannot give up {name}"))?;
            kept_logins::remove(file, &token)?;
            say(format_args!("{name} is free for others at {server}"));
        }
    }
    Ok(())
}

/// Asks on the terminal.
fn confirm_giving_up(name: &str) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!(UsageError(format!("to give up {name} cannot be undone; without a terminal it needs --yes")))
    }
    warn(format_args!("Others can then take the name {name}, whose results and rating are no longer yours."));
    warn("This cannot be undone. Type `yes` to go on:");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    if answer.trim() == "yes" { Ok(()) } else { bail!("nothing was changed: {name} is still yours") }
}

/// Stores the new token before the call, beside the old one: [`resume`] continues with the valid one if this is
/// interrupted.
async fn replace_token(session: &Session, file: &Path) -> anyhow::Result<()> {
    let token: String = (0..4).map(|_| format!("{:016x}", random::random())).collect();
    let kept = kept_logins::read(file)?.into_iter().find(|kept| kept.token == session.token());
    let kept = kept.with_context(|| format!("another process has changed {}", file.display()))?;
    kept_logins::put(file, kept.with_token(&token))?;
    session.replace_token(&token).await.context("cannot replace the token")?;
    kept_logins::remove(file, session.token())
}
