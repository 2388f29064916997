//! `reversi players`: the players who are online.

pub(super) mod invite;
pub(super) mod me;

use std::time::Duration;

use anyhow::Context as _;

use super::{
    connect::{
        login::{LoginOptions, Visitor},
        server_address::Address,
    },
    say,
    text::table::{line, widths},
};
use crate::client::{Availability, ClientError, OnlinePlayer, PlayerFilter, PlayerKind, Reader};

/// The columns.
const HEADINGS: [&str; 5] = ["NAME", "KIND", "RATING", "SEATS", "ACCEPTS"];

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi players                  who is online\n  \
    reversi players --bots --free    bots without a game\n  \
    reversi invite NAME              a game with one of them")]
pub(super) struct Args {
    /// Only bots.
    #[arg(long)]
    bots: bool,
    /// Only people.
    #[arg(long, conflicts_with = "bots")]
    people: bool,
    /// Only players without a seat.
    #[arg(long)]
    free: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let visitor = Visitor::enter(&args.server, &args.login).await?;
    let kind = match (args.people, args.bots) {
        (true, _) => Some(PlayerKind::Human),
        (_, true) => Some(PlayerKind::Bot),
        _ => None,
    };
    let filter = PlayerFilter { kind, free: args.free, available: false };
    let listed = visitor.read(async |reader| list(&reader, filter).await).await;
    // The next command may log in with the same name.
    visitor.leave().await;
    let mut rows: Vec<_> = listed.context("cannot list the players")?.iter().map(row).collect();
    rows.sort_unstable();
    if rows.is_empty() {
        say("no player is online, or none of this kind");
        return Ok(());
    }
    let widths = widths(&HEADINGS, rows.iter().cloned());
    say(line(&HEADINGS, widths));
    rows.iter().for_each(|row| say(line(row, widths)));
    Ok(())
}

async fn list(reader: &Reader, filter: PlayerFilter) -> Result<Vec<OnlinePlayer>, ClientError> {
    let (mut players, mut page) = (Vec::new(), None);
    loop {
        let found = reader.list_players(filter, page).await?;
        players.extend(found.items);
        page = found.next;
        if page.is_none() {
            return Ok(players);
        }
    }
}

fn row(online: &OnlinePlayer) -> [String; 5] {
    let kind = match (online.player.kind, online.player.engine_version.as_str()) {
        (PlayerKind::Bot, "") => "bot".to_owned(),
        (PlayerKind::Bot, version) => format!("bot: {version}"),
        _ => "person".to_owned(),
    };
    let rating = if online.rating == 0 { "-".to_owned() } else { online.rating.to_string() };
    let seats = format!("{} of {}", online.seats, online.seat_limit);
    let accepts = online.availability.as_ref().map_or_else(|| "all".to_owned(), describe);
    [online.player.name.clone(), kind, rating, seats, accepts]
}

/// The invitations that a player accepts, in words.
fn describe(availability: &Availability) -> String {
    if availability.unavailable {
        return "none".to_owned();
    }
    let mut parts = Vec::new();
    match availability.kinds[..] {
        [PlayerKind::Human] => parts.push("of people".to_owned()),
        [PlayerKind::Bot] => parts.push("of bots".to_owned()),
        _ => {}
    }
    parts.extend(availability.rated.map(|rated| if rated { "rated" } else { "unrated" }.to_owned()));
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64().to_string());
    for (what, (shortest, longest)) in [
        ("s for a move", availability.per_move),
        ("s for a side", availability.total),
        ("s of increment", availability.increment),
    ] {
        parts.extend(range(seconds(shortest), seconds(longest)).map(|range| format!("{range} {what}")));
    }
    let rating = |bound: u32| (bound > 0).then(|| bound.to_string());
    let ratings = range(rating(availability.min_rating), rating(availability.max_rating));
    parts.extend(ratings.map(|range| format!("rating {range}")));
    let most = |number, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("at most 1 {one}")),
        _ => Some(format!("at most {number} {many}")),
    };
    parts.extend(most(availability.games_at_once, "game at once", "games at once"));
    parts.extend(most(availability.opponents_a_day, "opponent a day", "opponents a day"));
    if parts.is_empty() { "all".to_owned() } else { parts.join(", ") }
}

fn range(least: Option<String>, most: Option<String>) -> Option<String> {
    match (least, most) {
        (None, None) => None,
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (Some(least), Some(most)) if least == most => Some(least),
        (Some(least), Some(most)) => Some(format!("{least}-{most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_with_one_bound_is_described_by_it() {
        let (one, two) = (Some(Duration::from_secs(1)), Some(Duration::from_secs(2)));
        for (per_move, text) in [
            ((None, None), "all"),
            ((one, None), "at least 1 s for a move"),
            ((None, two), "at most 2 s for a move"),
            ((one, two), "1-2 s for a move"),
            ((two, two), "2 s for a move"),
        ] {
            assert_eq!(describe(&Availability { per_move, ..Availability::default() }), text);
        }
        let fixed = (Some(Duration::ZERO), Some(Duration::ZERO));
        let terms = Availability { total: (two, two), increment: fixed, ..Availability::default() };
        assert_eq!(describe(&terms), "2 s for a side, 0 s of increment");
        for (min_rating, max_rating, text) in
            [(1_400, 0, "rating at least 1400"), (0, 1_700, "rating at most 1700"), (1_400, 1_700, "rating 1400-1700")]
        {
            assert_eq!(describe(&Availability { min_rating, max_rating, ..Availability::default() }), text);
        }
        let numbers = Availability { games_at_once: 1, opponents_a_day: 9, ..Availability::default() };
        assert_eq!(describe(&numbers), "at most 1 game at once, at most 9 opponents a day");
    }
}
