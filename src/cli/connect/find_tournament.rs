//! Finds a tournament by an id or a name of the command line.

use anyhow::{Context as _, anyhow};

use crate::{
    cli::text::tournament::has_ended,
    client::{Reader, TournamentId, v1},
};

/// How many of the newest tournaments may be found by their names.
const NEWEST: usize = 200;

/// A tournament by its id, or by its name if it is one of the newest; of several with the name, the newest that has not
/// ended comes first.
pub(in crate::cli) async fn find(reader: &Reader, text: &str) -> anyhow::Result<(TournamentId, v1::Tournament)> {
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
    let (mut page, mut seen, mut ended) = (None, 0, None);
    while seen < NEWEST {
        let found = reader.tournaments(page).await.context("cannot list the tournaments")?;
        let newest = NEWEST - seen;
        seen += found.items.len();
        for tournament in found.items.into_iter().take(newest) {
            let name = tournament.settings.as_ref().map(|settings| settings.name.to_lowercase());
            match name {
                Some(name) if name == text.to_lowercase() && !has_ended(tournament.phase()) => {
                    return identified(tournament);
                }
                Some(name) if name == text.to_lowercase() && ended.is_none() => ended = Some(tournament),
                _ => {}
            }
        }
        page = found.next;
        if page.is_none() {
            break;
        }
    }
    let found = ended.ok_or_else(|| {
        anyhow!("no tournament has the id or the name `{text}`; `reversi tournament list` lists the tournaments")
    });
    identified(found?)
}

fn identified(tournament: v1::Tournament) -> anyhow::Result<(TournamentId, v1::Tournament)> {
    let id = tournament.tournament_id.parse().context("the server's answer has no id of a tournament")?;
    Ok((id, tournament))
}
