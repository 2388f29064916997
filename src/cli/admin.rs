//! `reversi admin`: an administrator's commands for any room and player.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};

use super::{
    UsageError,
    connect::{
        find_player,
        login::{LoginOptions, connect, explain_lost, log_out_unless_kept, resume_any_or_log_in},
        server_address::Address,
        token_file,
    },
    say,
    text::date::date,
};
use crate::{
    client::{Ban, BanSubject, GameId, PlayerId, PlayerKind, RoomId, Session},
    store::{self, BadNetwork},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, with REVERSI_ADMIN_TOKEN as the file of `reversi serve --admin-token FILE`:\n  \
    reversi admin close 7k2m9x4q1c0d                 close a room\n  \
    reversi admin kick 7k2m9x4q1c0d bob              remove bob\n  \
    reversi admin abort 7k2m9x4q1c0d-3               end a game, without a winner\n  \
    reversi admin log-out bob                        log bob out\n  \
    reversi admin remove-chat 7k2m9x4q1c0d bob spam  his last line with \"spam\"\n  \
    reversi admin ban bob --for 7d --reason spam     ban him for a week\n  \
    reversi admin ban 192.0.2.0/24                   ban a network for ever\n  \
    reversi admin bans                               list the bans")]
pub(super) struct Args {
    /// The file with the administrator's token.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: PathBuf,
    /// Print what was done as a JSON object.
    #[arg(long, global = true)]
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
    #[command(override_usage = "reversi admin --admin-token <FILE> remove-chat <ROOM> <PLAYER> [TEXT]")]
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
    /// Ban a name, with all names that look like it, or a network from the server. Their streams end and their calls
    /// are refused; a running game is that of an absent player, and an unban gives the name back.
    Ban {
        #[command(flatten)]
        subject: Subject,
        /// How long, as 30m, 12h or 7d; without, until it is unbanned.
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        time: Option<Duration>,
        /// Shown to the banned.
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
    /// List the bans, the newest first.
    Bans,
    /// End a ban: of this very network, or of all names that look like this one.
    Unban {
        #[command(flatten)]
        subject: Subject,
    },
}

#[derive(Debug, clap::Args)]
struct Subject {
    /// A name; or an address or a network, at most a /8 (IPv6: /16, and at least a /56) and not loopback.
    #[arg(value_name = "NAME|NETWORK")]
    subject: String,
    /// It is a name, although it reads as a network.
    #[arg(long)]
    as_name: bool,
}

impl TryFrom<Subject> for BanSubject {
    type Error = anyhow::Error;

    fn try_from(Subject { subject, as_name }: Subject) -> anyhow::Result<Self> {
        match store::BanSubject::parse_network(&subject) {
            _ if as_name => Ok(Self::Name(subject)),
            Err(BadNetwork::Malformed) if resembles_network(&subject) => {
                let problem =
                    format!("{subject:?} is neither an address nor a network; if it is a name, add --as-name");
                bail!(UsageError(problem))
            }
            Err(BadNetwork::Malformed) => Ok(Self::Name(subject)),
            _ => Ok(Self::Network(subject)),
        }
    }
}

/// Whether it may be a mistyped address or network.
fn resembles_network(text: &str) -> bool {
    // Brackets and a zone as in `[fe80::1%eth0]`.
    let plain = text.trim().trim_start_matches('[').split(['%', ']']).next().unwrap_or_default();
    plain.contains(['.', ':', '/']) && plain.chars().all(|c| c.is_ascii_hexdigit() || ".:/".contains(c))
}

fn duration(text: &str) -> Result<Duration, String> {
    let unit = [("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)].into_iter();
    let mut parsed = unit.filter_map(|(unit, seconds)| Some((text.strip_suffix(unit)?.parse::<u32>().ok()?, seconds)));
    match parsed.next() {
        Some((number @ 1.., seconds)) => Ok(Duration::from_secs(u64::from(number) * seconds)),
        _ => Err("it needs a number of minutes, hours or days, as 30m, 12h or 7d".to_owned()),
    }
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let secret = token_file::read(&args.admin_token)?
        .ok_or_else(|| anyhow!("there is no administrator's token in {}", args.admin_token.display()))?;
    let refused = format!("the token in {} is not the administrator's", args.admin_token.display());
    // Of what is not one word.
    let client = connect(&args.server).await?.as_admin(&secret).map_err(|_| anyhow!("{refused}"))?;
    let session = resume_any_or_log_in(&client, &args.login, "operator", PlayerKind::Human).await;
    let session = session.map_err(|error| explain_lost(error, &refused))?;
    let done = carry_out(&session, args.command).await;
    if !args.json && done.as_ref().is_ok_and(Vec::is_empty) {
        say("no bans");
    }
    let done =
        done.map(|done| done.into_iter().for_each(|(line, object)| if args.json { say(object) } else { say(line) }));
    log_out_unless_kept(session, args.login.keep.as_deref()).await;
    done.map_err(|error| explain_lost(error, &refused))
}

/// Returns what was done, each as a line and as an object.
async fn carry_out(session: &Session, command: AdminCommand) -> anyhow::Result<Vec<(String, Value)>> {
    Ok(vec![match command {
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
        AdminCommand::Ban { subject, time, reason } => {
            let ban = session.add_ban(subject.try_into()?, reason, time).await.context("cannot ban")?;
            let (line, object) = described(&ban);
            (format!("banned: {line}"), json!({ "banned": object }))
        }
        AdminCommand::Bans => {
            let (mut bans, mut page) = (Vec::new(), None);
            loop {
                let next = session.bans(page).await.context("cannot list the bans")?;
                bans.extend(next.items.iter().map(described));
                page = next.next;
                if page.is_none() {
                    return Ok(bans);
                }
            }
        }
        AdminCommand::Unban { subject } => {
            let bans = session.remove_ban(subject.try_into()?).await.context("cannot unban")?;
            if bans.is_empty() {
                bail!("there is no such ban; `bans` lists them")
            }
            let (lines, objects): (Vec<_>, Vec<_>) = bans.iter().map(described).unzip();
            (format!("no longer banned: {}", lines.join("; ")), json!({ "unbanned": objects }))
        }
    }])
}

/// A ban as a line and as an object.
fn described(ban: &Ban) -> (String, Value) {
    let (kind, subject) = match &ban.subject {
        Some(BanSubject::Name(name)) => ("name", name.as_str()),
        Some(BanSubject::Network(network)) => ("network", network.as_str()),
        None => ("unknown", ""),
    };
    let time = |time: &Option<_>| time.map(|time| date(SystemTime::try_from(time).ok()));
    let (since, until) = (time(&ban.since), time(&ban.until));
    let end = until.as_ref().map_or_else(|| "for ever".to_owned(), |until| format!("until {until}"));
    let line = format!("{kind} {subject}, {end}{}{}", if ban.reason.is_empty() { "" } else { ": " }, ban.reason);
    (line, json!({ kind: subject, "reason": ban.reason, "since": since, "until": until }))
}

/// A member of the room by name, or any player: one may be banned before joining.
async fn member(session: &Session, room: &RoomId, player: &str) -> anyhow::Result<PlayerId> {
    let members = session.room(room).await.with_context(|| format!("cannot look into room {room}"))?.members;
    match members.into_iter().find(|member| member.player.name.eq_ignore_ascii_case(player)) {
        Some(member) => Ok(member.player.id),
        None => find_player::find(session, player).await,
    }
}
