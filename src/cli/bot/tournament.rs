//! `reversi bot --tournament`: takes part in a tournament. The server seats the bot, which only answers its turns.

use std::{convert::Infallible, time::Duration};

use tokio::time::Instant;

use super::{Bot, move_searches::MoveSearches, stop_reason::StopReason};
use crate::{
    cli::{
        connect::find_tournament::explain_join,
        say,
        text::{
            self,
            tournament::{ending, has_ended, is_player},
        },
    },
    client::{
        ClientError, Phase, PlayEvent, TournamentId,
        v1::{self, EntrantState, player_tournament::News},
    },
};

/// The longest wait for the call that leaves a tournament, as the process ends.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

impl Bot {
    /// Plays until the stream fails, the tournament has ended, or the bot is no longer in it. A rated game is then still
    /// played to its end.
    pub(super) async fn play_in_tournament(&mut self, id: &TournamentId) -> Result<Infallible, StopReason> {
        let mut stream = self.session.play_stream().await?;
        self.opened = Some(Instant::now());
        self.introduce().await?;
        let mut end = self.join_tournament(id).await?;
        let mut may_be_idle = true;
        let mut searches = MoveSearches::new(self.source.search_engine(&self.session), self.seed);
        loop {
            if std::mem::take(&mut may_be_idle)
                && end.is_some()
                && self.is_idle().await?
                && let Some(end) = end
            {
                return Err(end);
            }
            tokio::select! {
                event = stream.next() => {
                    let event = event.unwrap_or_else(|| Err(ClientError::Broken("the server ended the stream".into())))?;
                    match &event {
                        PlayEvent::Tournament { tournament, news } if tournament == id => {
                            end = self.hear(id, news).await?.or(end);
                        }
                        PlayEvent::GameEnded { game, side, outcome, .. } => {
                            say(format_args!("game {game}, as {side}: {outcome}"));
                        }
                        _ => {}
                    }
                    may_be_idle = !matches!(event, PlayEvent::Turn(_));
                    self.handle_event(event, &stream, &mut searches).await?;
                    self.failures = 0;
                }
                chosen_move = searches.next() => self.send_move(chosen_move, &stream).await?,
                game = self.claims.next() => self.claims.claim(&self.session, game).await?,
            }
        }
    }

    /// Prints news of the tournament. Returns why the bot ends, if it does.
    async fn hear(&self, id: &TournamentId, news: &News) -> Result<Option<StopReason>, StopReason> {
        let end = match news {
            News::Ended(_) => Some(StopReason::Done),
            News::Left(left) if left.excluded => {
                return Ok(Some(StopReason::Ended(text::tournament::news(news))));
            }
            // It may be from before the bot joined.
            News::Left(_) if self.is_in(id).await? => return Ok(None),
            News::Left(_) => Some(StopReason::Done),
            _ => None,
        };
        say(text::tournament::news(news));
        Ok(end)
    }

    /// Whether no game of the bot runs. A room that does not answer may have one.
    async fn is_idle(&self) -> Result<bool, ClientError> {
        let me = self.session.me().await?;
        for (room, _) in &me.seats {
            match self.session.room(room).await {
                Ok(room) if room.phase == Phase::Playing => return Ok(false),
                Err(error) if error.is_transient() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(me.games.is_empty())
    }

    async fn is_in(&self, id: &TournamentId) -> Result<bool, ClientError> {
        let standings = self.session.tournament(id).await?.standings;
        let own = standings.iter().find(|row| is_player(row, &self.session.player().id));
        Ok(own.is_some_and(takes_part))
    }

    /// Joining is done once: after a lost connection it says that the bot is back. Returns why the bot ends, if the
    /// tournament ended meanwhile.
    async fn join_tournament(&mut self, id: &TournamentId) -> Result<Option<StopReason>, StopReason> {
        match self.session.join_tournament(id, &self.args.password).await {
            Ok(tournament) => {
                let name = tournament.settings.unwrap_or_default().name;
                let waits = if tournament.started_at.is_none() { "; waiting for the start" } else { "" };
                say(format_args!("in tournament {id} ({name}){waits}"));
                Ok(None)
            }
            Err(error) if error.is("WRONG_PHASE") => self.missed_end(id, error).await.map(Some),
            Err(error) => Err(error.into()),
        }
    }

    /// The end of a tournament that ended while the connection was lost.
    async fn missed_end(&self, id: &TournamentId, refused: ClientError) -> Result<StopReason, StopReason> {
        let answer = self.session.tournament(id).await?;
        let tournament = answer.tournament.unwrap_or_default();
        let phase = tournament.phase();
        let entrants = i32::try_from(answer.standings.len()).unwrap_or(i32::MAX);
        match answer.standings.iter().find(|row| is_player(row, &self.session.player().id)) {
            Some(own) if has_ended(phase) => {
                say(ending(phase, tournament.cancel_reason(), own.rank, entrants));
                Ok(StopReason::Done)
            }
            // An entrant is refused at the end only, which a delay for spectators may hide.
            Some(own) if takes_part(own) => {
                say("the tournament has ended; how is shown after its delay for spectators");
                Ok(StopReason::Done)
            }
            _ => Err(refused.into()),
        }
    }

    /// Why the bot cannot take part any more.
    pub(super) fn explain_tournament(&self, error: ClientError) -> anyhow::Error {
        match &self.tournament {
            Some(id) => explain_join(error, id),
            None => error.into(),
        }
    }

    /// A player who cannot come back leaves, so that nobody waits for it in the next rounds. Errors are ignored: the
    /// process ends.
    pub(super) async fn leave_tournament_unless_kept(&self) {
        if let (Some(id), None) = (&self.tournament, &self.args.login.keep) {
            let _ = tokio::time::timeout(LEAVE_TIMEOUT, self.session.leave_tournament(id)).await;
        }
    }
}

fn takes_part(row: &v1::Standing) -> bool {
    ![EntrantState::Left, EntrantState::Excluded].contains(&row.state())
}
