//! `reversi admin`: an administrator's commands for any room and player.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::{
    connect::{
        find_player,
        login::{LoginOptions, RenewableSession, explain_lost},
        server_address::Address,
        token_file,
    },
    say,
};
use crate::client::{GameId, PlayerId, RoomId, Session};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, with the file that `reversi serve --admin-token FILE` was given:\n  \
    reversi admin --admin-token FILE close 7k2m9x4q1c0d       close a room\n  \
    reversi admin --admin-token FILE kick 7k2m9x4q1c0d bob    remove bob, who loses a running game\n  \
    reversi admin --admin-token FILE abort 7k2m9x4q1c0d-3     end a game without a winner\n  \
    reversi admin --admin-token FILE log-out bob              log bob out\n  \
    reversi admin --admin-token FILE remove-chat 7k2m9x4q1c0d bob spam    remove bob's last line with \"spam\"")]
pub(super) struct Args {
    /// The file with the administrator's token.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: PathBuf,
    /// Print what was done as a JSON object.
    #[arg(long, global = true, env = "REVERSI_ADMIN_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    json: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
    #[command(subcommand)]
    command: AdminCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AdminCommand {
    /// Close a room.
    Close {
        /// Id of the room.
        room: RoomId,
    },
    /// Take a player out of a room; one who plays there loses the game.
    Kick {
        /// Id of the room.
        room: RoomId,
        /// Name or id.
        player: String,
        /// Also ban the player from the room.
        #[arg(long)]
        ban: bool,
    },
    /// End a game without a winner.
    Abort {
        /// Id of the game.
        game: GameId,
    },
    /// Remove a player's last line of chat, with its history: nobody who opens the room later sees it.
    RemoveChat {
        /// Id of the room.
        room: RoomId,
        /// Name of the author.
        player: String,
        /// The last line that contains this text.
        #[arg(default_value = "")]
        text: String,
    },
    /// Log a player out of every room. A name that is not claimed is then free for others.
    LogOut {
        /// Name or id.
        player: String,
        /// Also free a claimed name; the results are no longer its holder's.
        #[arg(long)]
        free_name: bool,
    },
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let secret = token_file::read(&args.admin_token)?
        .ok_or_else(|| anyhow!("there is no administrator's token in {}", args.admin_token.display()))?;
    let visitor = RenewableSession::enter(&args.server, &args.login, "operator").await?;
    let refused = format!("the token in {} is not the administrator's", args.admin_token.display());
    let done = match visitor.session().as_admin(&secret) {
        Ok(session) => carry_out(&session, args.command).await,
        // It is not one word.
        Err(_) => Err(anyhow!("{refused}")),
    };
    let done = done.map(|(line, object)| if args.json { say(object) } else { say(line) });
    visitor.leave().await;
    done.map_err(|error| explain_lost(error, &refused))
}

/// Returns what was done, as a line and as an object.
async fn carry_out(session: &Session, command: AdminCommand) -> anyhow::Result<(String, Value)> {
    Ok(match command {
        AdminCommand::Close { room } => {
            session.close_room(&room).await.with_context(|| format!("cannot close room {room}"))?;
            (format!("room {room} is closed"), json!({ "closed": { "room_id": room.to_string() } }))
        }
        AdminCommand::Kick { room, player, ban } => {
            let id = member(session, &room, &player).await?;
            session.kick(&room, &id, ban).await.with_context(|| format!("cannot take {player} out of room {room}"))?;
            let line = format!("{player} is {} room {room}", if ban { "banned from" } else { "out of" });
            let done = json!({ "room_id": room.to_string(), "player_id": id.to_string(), "banned": ban });
            (line, json!({ "kicked": done }))
        }
        AdminCommand::Abort { game } => {
            session.abort(&game).await.with_context(|| format!("cannot abort game {game}"))?;
            (format!("game {game} is aborted"), json!({ "aborted": { "game_id": game.to_string() } }))
        }
        AdminCommand::RemoveChat { room, player, text } => {
            let chat = session.room(&room).await.with_context(|| format!("cannot look into room {room}"))?.chat;
            let mut lines = chat.into_iter().rev().filter(|line| line.player.name.eq_ignore_ascii_case(&player));
            let line = lines.find(|line| line.text.contains(&text));
            let line = line.and_then(|line| Some((line.at?, line.text)));
            let (at, text) = line.ok_or_else(|| anyhow!("room {room} has no such line of {player}"))?;
            session.remove_chat(&room, at).await.context("cannot remove the line")?;
            let done = json!({ "room_id": room.to_string(), "text": text });
            (format!("removed from room {room}: <{player}> {text}"), json!({ "chat_removed": done }))
        }
        AdminCommand::LogOut { player, free_name } => {
            let id = find_player::find(session, &player).await?;
            session.log_out_player(&id, free_name).await.with_context(|| format!("cannot log {player} out"))?;
            (format!("{player} is logged out"), json!({ "logged_out": { "player_id": id.to_string() } }))
        }
    })
}

/// A member of the room by name, or any player: one may be banned before joining.
async fn member(session: &Session, room: &RoomId, player: &str) -> anyhow::Result<PlayerId> {
    let members = session.room(room).await.with_context(|| format!("cannot look into room {room}"))?.members;
    match members.into_iter().find(|member| member.player.name.eq_ignore_ascii_case(player)) {
        Some(member) => Ok(member.player.id),
        None => find_player::find(session, player).await,
    }
}
