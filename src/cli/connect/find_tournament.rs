//! Finds a tournament by an id or a name of the command line.

use std::collections::HashSet;

use anyhow::{Context as _, anyhow, bail};

use crate::{
    cli::{
        text::{
            date::date,
            tournament::{has_ended, is_player, phase},
        },
        warn,
    },
    client::{
        ClientError, PlayerId, Reader, Session, TournamentId,
        v1::{self, TournamentPhase},
    },
};

/// How many of the newest tournaments may be found by their names even if they have ended.
const NEWEST: usize = 200;

/// How many of the newest that have not ended may be found by their names: twice as many as a server has.
const UNFINISHED: usize = 1_000;

/// As [`find`]. If several of the name have not ended, the one that the player organises or has entered is meant.
pub(in crate::cli) async fn find_as(session: &Session, text: &str) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    find_for(session, Some(&session.player().id), text).await
}

/// A tournament by its id, or by its name if it has not ended or is one of the newest. If several have the name, the one
/// that has not ended is meant, or else the newest that was not cancelled, which is said; if several have not ended, the
/// error lists them.
pub(in crate::cli) async fn find(reader: &Reader, text: &str) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    find_for(reader, None, text).await
}

async fn find_for(
    reader: &Reader,
    player: Option<&PlayerId>,
    text: &str,
) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    if let Ok(id) = text.parse::<TournamentId>() {
        match reader.tournament(&id).await {
            Ok(answer) => {
                let tournament = answer.tournament.context("the server's answer has no tournament")?;
                return identified(tournament);
            }
            Err(error) if error.is_unknown_or_malformed() => {}
            Err(error) => return Err(error).context(format!("cannot find tournament {text}")),
        }
    }
    let (open, ended) = named(reader, text).await.context("cannot list the tournaments")?;
    let has_several = open.len() + ended.len() > 1;
    let are_over = open.is_empty();
    let of = if are_over { ended } else { open };
    let (mut chosen, mut why) = (of.clone(), "the only one that has not ended");
    if let (Some(player), 2..) = (player, of.len()) {
        chosen = own(reader, player, of.clone()).await.context("cannot read the standings")?;
        why = "the only one that is yours";
    }
    if are_over && chosen.len() != 1 {
        chosen = if chosen.is_empty() { of.clone() } else { chosen };
        chosen.sort_by_key(|one| one.phase() == TournamentPhase::Cancelled);
        chosen.truncate(1);
        why = "the newest";
    }
    match &chosen[..] {
        [one] => {
            if has_several {
                warn(format_args!("`{text}` is tournament {}, {why} of several with this name", one.tournament_id));
            }
            identified(one.clone())
        }
        _ if of.is_empty() => {
            bail!("no tournament has the id or the name `{text}`; `reversi tournament list` lists the tournaments")
        }
        _ => bail!("several tournaments are named `{text}`; give the id of one: {}", candidates(&of)),
    }
}

fn candidates(of: &[v1::Tournament]) -> String {
    let shown = of.iter().map(|one| {
        let created = date(one.created_at.and_then(|at| at.try_into().ok()));
        format!("{} ({}, created {created})", one.tournament_id, phase(one.phase()))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Those that the player organises or has entered.
pub(in crate::cli) async fn own(
    reader: &Reader,
    player: &PlayerId,
    of: Vec<v1::Tournament>,
) -> Result<Vec<v1::Tournament>, ClientError> {
    let mut own = Vec::new();
    for one in of {
        if one.organiser_id == player.to_string() || has_entered(reader, player, &one).await? {
            own.push(one);
        }
    }
    Ok(own)
}

/// Those that have the name, the newest first: that have not ended, and those of the newest that have.
async fn named(reader: &Reader, name: &str) -> Result<(Vec<v1::Tournament>, Vec<v1::Tournament>), ClientError> {
    let mut found = newest(reader, true, UNFINISHED).await?;
    let known: HashSet<_> = found.iter().map(|one| one.tournament_id.clone()).collect();
    let newest = newest(reader, false, NEWEST).await?;
    // Of one with a delay, the end may not be shown yet.
    found.extend(newest.into_iter().filter(|one| !known.contains(&one.tournament_id)));
    let has_name = |one: &v1::Tournament| {
        one.settings.as_ref().is_some_and(|settings| settings.name.to_lowercase() == name.to_lowercase())
    };
    found.retain(has_name);
    Ok(found.into_iter().partition(|one| !has_ended(one.phase())))
}

/// At most this number of tournaments, or of those that have not ended, the newest first.
pub(in crate::cli) async fn newest(
    reader: &Reader,
    unfinished: bool,
    most: usize,
) -> Result<Vec<v1::Tournament>, ClientError> {
    let (mut page, mut newest) = (None, Vec::new());
    while newest.len() < most {
        let found = reader.tournaments(unfinished, page).await?;
        newest.extend(found.items);
        page = found.next;
        if page.is_none() {
            break;
        }
    }
    newest.truncate(most);
    Ok(newest)
}

async fn has_entered(reader: &Reader, player: &PlayerId, tournament: &v1::Tournament) -> Result<bool, ClientError> {
    let Ok(id) = tournament.tournament_id.parse() else { return Ok(false) };
    let standings = reader.tournament(&id).await?.standings;
    Ok(standings.iter().any(|row| is_player(row, player)))
}

fn identified(tournament: v1::Tournament) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    let id = tournament.tournament_id.parse().context("the server's answer has no id of a tournament")?;
    Ok((id, tournament))
}

/// Why a player cannot take part.
pub(in crate::cli) fn explain_join(error: ClientError, id: &TournamentId) -> anyhow::Error {
    if error.is("BAD_PASSWORD") {
        return anyhow!("the tournament asks for a password; give the right one with --password");
    }
    let says_for_whom = error.is("NOT_ACCEPTED");
    let error = anyhow!(error).context(format!("cannot take part in tournament {id}"));
    if says_for_whom { anyhow!("{error:#}; `reversi tournament show {id}` says for whom it is") } else { error }
}
