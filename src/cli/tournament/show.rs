//! What everybody may read of tournaments, as tables or JSON.

use anyhow::Context as _;

use super::{
    describe::{self, MEETINGS, Names, STANDINGS, TOURNAMENTS},
    login::{self, read},
    organiser::find_entrant,
};
use crate::{
    cli::{
        connect::{
            find_tournament::{self, newest, own},
            login::LoginOptions,
            server_address::Address,
        },
        games, say,
        terminal::interrupt::until_output_fails,
        text::table::{line, widths},
    },
    client::{GameFilter, MeetingFilter, PlayerId, Reader, v1},
    proto::json,
};

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// How many to list, from the newest.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Only those that have not ended.
    #[arg(long)]
    unfinished: bool,
    /// Of these, only those that you organise or have entered. Without --keep you are who `create` and `join` have logged
    /// in.
    #[arg(long)]
    mine: bool,
    /// Print JSON, an object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Id or name of the tournament.
    tournament: String,
    /// Print JSON, an object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Id or name of the tournament.
    pub(super) tournament: String,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi tournament meetings Cup                  all of them\n  \
    reversi tournament meetings Cup --entrant nova   those of one entrant\n  \
    reversi tournament meetings Cup --round 3        those of one round")]
pub(super) struct MeetingsArgs {
    /// Id or name of the tournament.
    tournament: String,
    /// Only those of this entrant, given by its number or name.
    #[arg(long, value_name = "ENTRANT")]
    entrant: Option<String>,
    /// Only those of this round, of the play-off with --playoff, and else before it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    round: Option<i32>,
    /// Only those of the play-off.
    #[arg(long)]
    playoff: bool,
    /// Print JSON, an object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

pub(super) async fn list(server: &Address, args: ListArgs) -> anyhow::Result<()> {
    let most = usize::try_from(args.most)?;
    if args.mine {
        let session = login::resume(server, args.login.keep.as_deref()).await?;
        let newest = newest(&session, args.unfinished, most).await.context("cannot list the tournaments")?;
        let own = own(&session, &session.player().id, newest).await.context("cannot read the standings")?;
        print_list(&own, &args);
        return Ok(());
    }
    read(server, args.login.clone(), async |reader| {
        let newest = newest(&reader, args.unfinished, most).await.context("cannot list the tournaments")?;
        print_list(&newest, &args);
        Ok(())
    })
    .await
}

fn print_list(tournaments: &[v1::Tournament], args: &ListArgs) {
    if args.json {
        tournaments.iter().map(json::tournament).for_each(say);
    } else if tournaments.is_empty() && args.unfinished {
        say("no tournament that has not ended");
    } else if tournaments.is_empty() {
        say("no tournaments; `reversi tournament create` makes one");
    } else {
        print(&TOURNAMENTS, tournaments.iter().map(describe::tournament));
    }
}

pub(super) async fn show(reader: &Reader, args: ShowArgs) -> anyhow::Result<()> {
    let (_, tournament) = find_tournament::find(reader, &args.tournament).await?;
    if args.json {
        say(json::tournament(&tournament));
        return Ok(());
    }
    let organiser = match tournament.organiser_id.parse::<PlayerId>() {
        _ if tournament.settings.as_ref().is_some_and(describe::is_pool) => "the server".to_owned(),
        // The name of a player without games may be forgotten.
        Ok(id) => reader.stats(&id).await.map_or_else(|_| id.to_string(), |(player, _)| player.name),
        Err(_) => "unknown".to_owned(),
    };
    describe::details(&tournament, &organiser).iter().for_each(say);
    Ok(())
}

pub(super) async fn standings(reader: &Reader, args: ShowArgs) -> anyhow::Result<()> {
    let (id, _) = find_tournament::find(reader, &args.tournament).await?;
    let answer = reader.tournament(&id).await.context("cannot read the standings")?;
    if args.json {
        answer.standings.iter().map(json::standing).for_each(say);
    } else {
        answer.tournament.iter().map(describe::headline).for_each(say);
        print_standings(&answer.standings);
    }
    Ok(())
}

pub(in crate::cli) fn print_standings(standings: &[v1::Standing]) {
    if standings.is_empty() {
        say("no entrants");
    } else {
        print(&STANDINGS, standings.iter().map(describe::standing));
    }
}

pub(super) async fn meetings(reader: &Reader, args: MeetingsArgs) -> anyhow::Result<()> {
    let (id, _) = find_tournament::find(reader, &args.tournament).await?;
    let entrant = match &args.entrant {
        Some(text) => find_entrant(reader, &id, text).await?.0,
        None => 0,
    };
    let filter = MeetingFilter { entrant, round: args.round.unwrap_or(0), playoff: args.playoff };
    let names = Names::of(&reader.tournament(&id).await.context("cannot read the standings")?.standings);
    until_output_fails(async {
        let (mut page, mut is_first) = (None, true);
        loop {
            let found = reader.meetings(&id, filter, page).await.context("cannot list the meetings")?;
            if args.json {
                found.items.iter().map(json::meeting).for_each(say);
            } else if found.items.is_empty() && is_first {
                say("no meetings");
            } else {
                print(&MEETINGS, found.items.iter().map(|meeting| names.meeting(meeting)));
            }
            is_first = false;
            page = found.next;
            if page.is_none() {
                return Ok(());
            }
        }
    })
    .await
}

/// The games that have ended, newest first.
pub(super) async fn games(reader: &Reader, args: ShowArgs) -> anyhow::Result<()> {
    let (id, _) = find_tournament::find(reader, &args.tournament).await?;
    let filter = GameFilter { tournament: Some(id), ..GameFilter::default() };
    until_output_fails(games::list(reader, filter, u32::MAX, args.json, false)).await
}

/// Prints a table.
fn print<const N: usize>(headings: &[&str; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<_> = rows.collect();
    let widths = widths(headings, rows.iter().cloned());
    say(line(headings, widths));
    rows.iter().for_each(|row| say(line(row, widths)));
}
