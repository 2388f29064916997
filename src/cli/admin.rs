//! `reversi admin`: what an administrator may do in any room, and at any time.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};

use super::{
    connect::{find_player, login::Visitor, server_address::Address, token_file},
    say,
};
use crate::client::{GameId, PlayerId, RoomId, Session};

/// What to do, and by what right.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, with the file that `reversi serve --admin-token FILE` was given:\n  \
    reversi admin --admin-token FILE close 7k2m9x4q1c0d       close a room\n  \
    reversi admin --admin-token FILE kick 7k2m9x4q1c0d bob    take bob out of it; in a game, he loses it\n  \
    reversi admin --admin-token FILE abort 7k2m9x4q1c0d-3     end a game without a winner\n  \
    reversi admin --admin-token FILE log-out bob              log bob out")]
pub(super) struct Args {
    /// The file with the administrator's token.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: PathBuf,
    /// Your name; a made-up one if left out.
    #[arg(long, env = "REVERSI_NAME")]
    name: Option<String>,
    /// Keep the login in this file, and come back by it.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: Option<PathBuf>,
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// Close a room.
    Close {
        /// Which.
        room: RoomId,
    },
    /// Take a player out of a room; one who plays there loses the game.
    Kick {
        /// Which room.
        room: RoomId,
        /// Name or id.
        player: String,
        /// Do not let them in again.
        #[arg(long)]
        ban: bool,
    },
    /// End a game without a winner.
    Abort {
        /// Which.
        game: GameId,
    },
    /// Log a player out: out of every room, and with the name free for others.
    LogOut {
        /// Name or id.
        player: String,
    },
}

/// Does it.
pub(super) async fn run(server: &Address, args: Args) -> anyhow::Result<()> {
    let secret = token_file::read(&args.admin_token)?
        .ok_or_else(|| anyhow!("there is no administrator's token in {}", args.admin_token.display()))?;
    let visitor = Visitor::enter(server, args.keep, args.name.as_deref(), "admin").await?;
    let done = match visitor.session().as_admin(&secret) {
        Ok(session) => carry_out(&session, args.deed).await,
        Err(error) => Err(error.into()),
    };
    visitor.leave().await;
    done.map_err(|error| match error.downcast_ref::<crate::client::ClientError>() {
        Some(refused) if refused.is_session_lost() => {
            anyhow!("the server does not take what is in {} for an administrator's token", args.admin_token.display())
        }
        _ => error,
    })
}

async fn carry_out(session: &Session, deed: Deed) -> anyhow::Result<()> {
    match deed {
        Deed::Close { room } => {
            session.close_room(&room).await.with_context(|| format!("cannot close room {room}"))?;
            say(format_args!("room {room} is closed"));
        }
        Deed::Kick { room, player, ban } => {
            let id = member(session, &room, &player).await?;
            session.kick(&room, &id, ban).await.with_context(|| format!("cannot take {player} out of room {room}"))?;
            say(format_args!("{player} is {} room {room}", if ban { "banned from" } else { "out of" }));
        }
        Deed::Abort { game } => {
            session.abort(&game).await.with_context(|| format!("cannot abort game {game}"))?;
            say(format_args!("game {game} is aborted"));
        }
        Deed::LogOut { player } => {
            let id = find_player::find(session, &player).await?;
            session.log_out_player(&id).await.with_context(|| format!("cannot log {player} out"))?;
            say(format_args!("{player} is logged out"));
        }
    }
    Ok(())
}

/// One who is in the room, or who is to be kept out of it.
async fn member(session: &Session, room: &RoomId, player: &str) -> anyhow::Result<PlayerId> {
    let members = session.room(room).await.with_context(|| format!("cannot look into room {room}"))?.members;
    match members.into_iter().find(|member| member.player.name.eq_ignore_ascii_case(player)) {
        Some(member) => Ok(member.player.id),
        None => find_player::find(session, player).await,
    }
}
