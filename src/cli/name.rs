//! `reversi name`: keeps a player's name for good, changes its token, or gives it up.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use super::{
    UsageError,
    connect::{
        kept_logins::{self, KeptLogin},
        login::{connect, resume_kept},
        server_address::Address,
    },
    random, say, warn,
};
use crate::client::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, after a game with `reversi play --name ada --keep ada.token`:\n  \
    reversi name --keep ada.token claim      keep the name, and the rating\n  \
    reversi name --keep ada.token new-token  if others may have seen the file\n  \
    reversi name --keep ada.token play-token --to bot.token\n  \
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
    /// Replace the token in the file; the old one is no longer valid, nor what `play-token` has printed.
    NewToken,
    /// Print a login that can play, but not change or give up the name: a file for --keep of a bot elsewhere.
    PlayToken {
        /// Keep it in this file instead.
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
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
    let session = resume_kept(&client, file).await?;
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
        NameCommand::PlayToken { to } => {
            let login = limited_login(&session, file).await?;
            match to {
                None => say(login.line()),
                Some(to) => {
                    if is_same_file(&to, file) {
                        bail!("{} has the login with all rights; name another file", to.display());
                    }
                    kept_logins::put(&to, login)?;
                    say(format_args!("{} can play as {name} at {server}, and no more", to.display()));
                }
            }
        }
        NameCommand::NewToken => {
            replace_token(&session, file).await?;
            say(format_args!("{} has a new token for {server}", file.display()));
        }
        NameCommand::GiveUp { yes } => {
            require_all_rights(&session, file)?;
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

/// Whether two paths lead to one file.
fn is_same_file(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
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

/// The login in the file, with the token that is limited to playing.
async fn limited_login(session: &Session, file: &Path) -> anyhow::Result<KeptLogin> {
    require_all_rights(session, file)?;
    let token = session.me().await?.play_token.with_context(|| {
        format!("the login in {} is older than such tokens; `reversi name new-token` renews it", file.display())
    })?;
    Ok(kept(session, file)?.with_token(&token))
}

/// Before a call that would be refused, and that leaves something in the file.
fn require_all_rights(session: &Session, file: &Path) -> anyhow::Result<()> {
    if session.is_limited_to_playing() {
        bail!("the login in {} is limited to playing; use the file that it was made from", file.display())
    }
    Ok(())
}

/// The session's login in the file.
fn kept(session: &Session, file: &Path) -> anyhow::Result<KeptLogin> {
    let kept = kept_logins::read(file)?.into_iter().find(|kept| kept.token == session.token());
    kept.with_context(|| format!("another process has changed {}", file.display()))
}

/// Stores the new token before the call, beside the old one: [`resume_kept`] continues with the valid one if this is
/// interrupted.
async fn replace_token(session: &Session, file: &Path) -> anyhow::Result<()> {
    require_all_rights(session, file)?;
    let token: String = (0..4).map(|_| format!("{:016x}", random::random())).collect();
    kept_logins::put(file, kept(session, file)?.with_token(&token))?;
    session.replace_token(&token).await.context("cannot replace the token")?;
    kept_logins::remove(file, session.token())
}
