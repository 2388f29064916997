//! `reversi me`: a player's own state, for the author of a bot. It opens no stream, so that a running bot keeps its own.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    cli::{
        connect::{
            login::{connect, resume_kept},
            server_address::Address,
        },
        games, say,
        text::{date, json},
    },
    client::{EndReason, Me, Problem, ProblemKind},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example, while the bot runs:\n  \
    reversi me --keep nova.token    its games, and what was refused\n\n\
    The server keeps the problems in memory: those of one kind as one, the latest 16 kinds.")]
pub(in crate::cli) struct Args {
    /// The file with the login, from --keep of `play`, `host` or `bot`.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: PathBuf,
    /// Print JSON: one object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Address,
}

pub(in crate::cli) async fn run(args: Args) -> anyhow::Result<()> {
    let client = connect(&args.server).await?;
    let me = resume_kept(&client, &args.keep).await?.me().await?;
    if args.json {
        say(object(&me));
    } else {
        lines(&me).iter().for_each(say);
    }
    Ok(())
}

fn lines(me: &Me) -> Vec<String> {
    let mut lines = games::summary(&games::with_version(&me.player), &me.stats).to_vec();
    lines.push(if me.turns_open { "a program reads the turns" } else { "no program reads the turns" }.to_owned());
    lines.push(format!("{} of {} seats", me.seats.len(), me.seat_limit));
    lines.extend(me.seats.iter().map(|(room, side)| format!("  {side} in room {room}")));
    lines.push(if me.games.is_empty() { "no running game" } else { "running games" }.to_owned());
    lines.extend(me.games.iter().map(|game| format!("  {game}")));
    let accepts = me.availability.as_ref().map_or_else(|| "all".to_owned(), super::describe);
    lines.push(format!("accepts invitations: {accepts}"));
    lines.push(if me.problems.is_empty() { "no problems" } else { "problems, the latest first" }.to_owned());
    lines.extend(me.problems.iter().map(line));
    lines
}

fn line(problem: &Problem) -> String {
    let (what, of) = match &problem.kind {
        ProblemKind::Refused { reason, method } => (reason.clone(), format!(" {method}")),
        // The message says how.
        ProblemKind::Lost(_) => (String::new(), String::new()),
        ProblemKind::Other => ("other".to_owned(), String::new()),
    };
    let game = problem.game.as_ref().map(|game| format!(" game {game}")).unwrap_or_default();
    let what_and_where = format!("{what}{of}{game}");
    let times = if problem.count == 1 { "once".to_owned() } else { format!("{} times", problem.count) };
    format!("  {} {times}: {}: {}", date::date(problem.at), what_and_where.trim_start(), problem.message)
}

fn end_reason(reason: EndReason) -> String {
    let name = reason.as_str_name();
    name.strip_prefix("GAME_END_REASON_").unwrap_or(name).to_lowercase()
}

/// With the names of `GetMeResponse` in the API, without the token and the invitations that are accepted.
fn object(me: &Me) -> Value {
    // Without `..`: the compiler reports a field that is not named here.
    #[rustfmt::skip]
    let Me { player, rooms, seats, games, stats, seat_limit, room_limit, claimed, turns_open, problems,
        availability: _, play_token: _ } = me;
    json!({
        "stats": json::stats(json::player(player), stats),
        "room_ids": rooms.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "seats": seats.iter().map(|(room, side)| json!({ "room_id": room.to_string(), "side": side.to_string() }))
            .collect::<Vec<_>>(),
        "game_ids": games.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "seat_limit": seat_limit,
        "room_limit": room_limit,
        "claimed": claimed,
        "turns_open": turns_open,
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn problem(problem: &Problem) -> Value {
    let (refused, method, lost) = match &problem.kind {
        ProblemKind::Refused { reason, method } => (Some(reason), Some(method), None),
        ProblemKind::Lost(reason) => (None, None, Some(end_reason(*reason))),
        ProblemKind::Other => (None, None, None),
    };
    json!({
        "at": date::precise(problem.at),
        "refused": refused,
        "method": method,
        "lost": lost,
        "message": problem.message,
        "game_id": problem.game.as_ref().map(ToString::to_string),
        "count": problem.count,
    })
}
