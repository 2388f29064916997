//! A whole tournament as lines of text.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use tonic::Status;

use super::view::{meeting, standing_rows, tournament};
use crate::{
    grpc::{
        service::{Services, game_record::json_line, record::Export},
        status,
    },
    proto::{EncodedMessage, json, v1},
    room::{GameRecord, Rejection, ggf},
    runtime::{Player, Shown},
    tournament::{Tournament, trf},
};

/// The messages of an export.
pub(super) type Lines = BoxStream<'static, Result<EncodedMessage, Status>>;

impl Services {
    pub(super) async fn lines(
        &self,
        player: Arc<Player>,
        shown: Arc<Shown>,
        format: v1::TournamentFormat,
    ) -> Result<Lines, Status> {
        let of = Arc::clone(shown.tournament());
        if format == v1::TournamentFormat::Trf {
            let none = "an arena, and a tournament of more than 99 rounds, have no report in TRF";
            let report = trf(&of).ok_or_else(|| status::refused(Rejection::WrongPhase(none)))?;
            return Ok(messages(stream::iter(report).map(Ok)));
        }
        let filter = v1::GameFilter { tournament_id: of.id().to_string(), ..Default::default() };
        let filter = self.read_filter(filter, &player).await?;
        let games = Export::new(&self.runtime, player, filter)?;
        Ok(match format {
            v1::TournamentFormat::Ggf => messages(lines_of(games, ggf::write)),
            _ => {
                let standings = self.runtime.tournaments.standings(&shown).await?;
                let standings = standing_rows(&of, &standings, self.runtime.clock().now());
                let results = stream::iter(json_lines(of, standings)).map(Ok);
                let game = |game: &GameRecord| format!(r#"{{"game":{}}}"#, json_line(game));
                messages(results.chain(lines_of(games, game)))
            }
        })
    }
}

/// The tournament, its standings and its meetings. A meeting is written when it is read.
fn json_lines(of: Arc<Tournament>, standings: Vec<v1::Standing>) -> impl Iterator<Item = String> {
    let line = |name: &str, value: serde_json::Value| format!(r#"{{"{name}":{value}}}"#);
    let head = line("tournament", json::tournament(&tournament(&of)));
    let standings = standings.into_iter().map(move |row| line("standing", json::standing(&row)));
    let numbers = of.meetings().next().map_or(1, |first| first.pairing.number)..;
    let meetings = numbers
        .map_while(move |number| of.meeting(number).map(|one| line("meeting", json::meeting(&meeting(&of, one)))));
    std::iter::once(head).chain(standings).chain(meetings)
}

fn lines_of(games: Export, write: fn(&GameRecord) -> String) -> impl Stream<Item = Result<String, Status>> {
    stream::unfold(games, move |mut games| async move {
        let game = games.next().await?;
        Some((game.map(|game| write(&game)), games))
    })
}

fn messages(lines: impl Stream<Item = Result<String, Status>> + Send + 'static) -> Lines {
    let message = |line| EncodedMessage::new(&v1::ExportTournamentResponse { line });
    Box::pin(lines.map(move |line| line.map(message)))
}
