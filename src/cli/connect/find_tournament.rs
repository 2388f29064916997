//! Finds a tournament by an id or a name of the command line.

use anyhow::{Context as _, anyhow};

use crate::{
    cli::text::tournament::{has_ended, is_player},
    client::{ClientError, PlayerId, Reader, Session, TournamentId, v1},
};

/// How many of the newest tournaments may be found by their names.
const NEWEST: usize = 200;

/// As [`find`], but of several tournaments with the name that have not ended, one that the player organises or has
/// entered comes first; and of several that have ended, one that the player organised.
pub(in crate::cli) async fn find_as(session: &Session, text: &str) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    find_for(session, Some(&session.player().id), text).await
}

/// A tournament by its id, or by its name if it is one of the newest; of several with the name, the newest that has not
/// ended comes first.
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
    let is_own = |one: &&v1::Tournament| player.is_some_and(|player| one.organiser_id == player.to_string());
    for one in open.iter().filter(|_| open.len() > 1) {
        if is_own(&one) || has_entered(reader, player, one).await.context("cannot read the standings")? {
            return identified(one.clone());
        }
    }
    let found = open.first().or_else(|| ended.iter().find(is_own)).or_else(|| ended.first()).ok_or_else(|| {
        anyhow!("no tournament has the id or the name `{text}`; `reversi tournament list` lists the tournaments")
    });
    identified(found?.clone())
}

/// Those of the newest that have the name, the newest first: that have not ended, and that have.
async fn named(reader: &Reader, name: &str) -> Result<(Vec<v1::Tournament>, Vec<v1::Tournament>), ClientError> {
    let (mut page, mut newest) = (None, Vec::new());
    while newest.len() < NEWEST {
        let found = reader.tournaments(page).await?;
        newest.extend(found.items);
        page = found.next;
        if page.is_none() {
            break;
        }
    }
    newest.truncate(NEWEST);
    let has_name = |one: &v1::Tournament| {
        one.settings.as_ref().is_some_and(|settings| settings.name.to_lowercase() == name.to_lowercase())
    };
    newest.retain(has_name);
    Ok(newest.into_iter().partition(|one| !has_ended(one.phase())))
}

async fn has_entered(
    reader: &Reader,
    player: Option<&PlayerId>,
    tournament: &v1::Tournament,
) -> Result<bool, ClientError> {
    let (Some(player), Ok(id)) = (player, tournament.tournament_id.parse()) else { return Ok(false) };
    let standings = reader.tournament(&id).await?.standings;
    Ok(standings.iter().any(|row| is_player(row, player)))
}

fn identified(tournament: v1::Tournament) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    let id = tournament.tournament_id.parse().context("the server's answer has no id of a tournament")?;
    Ok((id, tournament))
}
