//! `reversi bot --tournament`: takes part in a tournament. The server seats the bot, which only answers its turns.

use std::{convert::Infallible, time::Duration};

use anyhow::anyhow;
use tokio::time::Instant;

use super::{Bot, move_searches::MoveSearches, stop_reason::StopReason};
use crate::{
    cli::{
        say,
        text::{
            date::date,
            tournament::{ending, fault, has_ended, is_player, name},
        },
    },
    client::{
        ClientError, PlayEvent, TournamentId,
        v1::{TournamentPaired, player_tournament::News},
    },
};

/// The longest wait for the call that leaves a tournament, as the process ends.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

impl Bot {
    /// Plays until the stream fails or the tournament has ended.
    pub(super) async fn play_in_tournament(&mut self, id: &TournamentId) -> Result<Infallible, StopReason> {
        let mut stream = self.session.play_stream().await?;
        self.opened = Some(Instant::now());
        self.introduce().await?;
        self.join_tournament(id).await?;
        let mut searches = MoveSearches::new(self.source.search_engine(&self.session), self.seed);
        loop {
            tokio::select! {
                event = stream.next() => {
                    let event = event.unwrap_or_else(|| Err(ClientError::Broken("the server ended the stream".into())))?;
                    match &event {
                        PlayEvent::Tournament { tournament, news } if tournament == id => {
                            say(describe(news));
                            if let News::Ended(_) = **news {
                                return Err(StopReason::Done);
                            }
                        }
                        PlayEvent::GameEnded { game, side, outcome, .. } => {
                            say(format_args!("game {game}, as {side}: {outcome}"));
                        }
                        _ => {}
                    }
                    self.handle_event(event, &stream, &mut searches).await?;
                    self.failures = 0;
                }
                chosen_move = searches.next() => self.send_move(chosen_move, &stream).await?,
                game = self.claims.next() => self.claims.claim(&self.session, game).await?,
            }
        }
    }

    /// Joining is done once: after a lost connection it says that the bot is back.
    async fn join_tournament(&mut self, id: &TournamentId) -> Result<(), StopReason> {
        match self.session.join_tournament(id, &self.args.password).await {
            Ok(tournament) => {
                let name = tournament.settings.unwrap_or_default().name;
                let waits = if tournament.started_at.is_none() { "; waiting for the start" } else { "" };
                say(format_args!("in tournament {id} ({name}){waits}"));
                Ok(())
            }
            Err(error) if error.is("WRONG_PHASE") => self.has_missed_the_end(id, error).await,
            Err(error) => Err(error.into()),
        }
    }

    /// The tournament may have ended while the connection was lost.
    async fn has_missed_the_end(&self, id: &TournamentId, refused: ClientError) -> Result<(), StopReason> {
        let answer = self.session.tournament(id).await?;
        let tournament = answer.tournament.unwrap_or_default();
        let phase = tournament.phase();
        let entrants = i32::try_from(answer.standings.len()).unwrap_or(i32::MAX);
        match answer.standings.iter().find(|row| is_player(row, &self.session.player().id)) {
            Some(own) if has_ended(phase) => {
                say(ending(phase, tournament.cancel_reason(), own.rank, entrants));
                Err(StopReason::Done)
            }
            _ => Err(refused.into()),
        }
    }

    /// Why the bot cannot take part any more.
    pub(super) fn explain_tournament(&self, error: ClientError) -> anyhow::Error {
        if error.is("BAD_PASSWORD") {
            return anyhow!("the tournament asks for a password; give the right one with --password");
        }
        let id = self.tournament.as_ref().map(ToString::to_string).unwrap_or_default();
        anyhow!(error).context(format!("cannot take part in tournament {id}"))
    }

    /// A player who cannot come back leaves, so that nobody waits for it in the next rounds. Errors are ignored: the
    /// process ends.
    pub(super) async fn leave_tournament_unless_kept(&self) {
        if let (Some(id), None) = (&self.tournament, &self.args.login.keep) {
            let _ = tokio::time::timeout(LEAVE_TIMEOUT, self.session.leave_tournament(id)).await;
        }
    }
}

fn describe(news: &News) -> String {
    match news {
        News::Paired(TournamentPaired { round, meeting, opponent, room_id, playoff }) => {
            let stage = if *playoff { "play-off, " } else { "" };
            match opponent {
                None => format!("{stage}round {round}: a bye"),
                opponent => {
                    let name = name(opponent.as_ref());
                    format!("{stage}round {round}, meeting {meeting}: against {name}, in room {room_id}")
                }
            }
        }
        News::Forfeit(forfeit) if forfeit.lost => {
            format!("meeting {} is lost by forfeit: this bot did not come in time", forfeit.meeting)
        }
        News::Forfeit(forfeit) => {
            format!("meeting {} is won by forfeit: the opponent did not come, or left", forfeit.meeting)
        }
        News::PutAside(aside) => {
            let meetings: Vec<_> = aside.meetings.iter().map(ToString::to_string).collect();
            let until = date(aside.until.and_then(|until| until.try_into().ok()));
            format!("put aside until {until}, for {} in meetings {}", fault(aside.fault()), meetings.join(", "))
        }
        News::Ended(ended) => ending(ended.phase(), ended.cancel_reason(), ended.rank, ended.entrants),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::v1;

    #[test]
    fn news_are_described() {
        let fault = v1::EntrantFault::Timeout.into();
        let until = Some(v1_time(1_767_348_000));
        for (news, line) in [
            (News::Paired(v1::TournamentPaired { round: 2, meeting: 5, ..Default::default() }), "round 2: a bye"),
            (
                News::Paired(v1::TournamentPaired { round: 1, playoff: true, ..Default::default() }),
                "play-off, round 1: a bye",
            ),
            (
                News::Forfeit(v1::TournamentForfeit { meeting: 5, lost: true }),
                "meeting 5 is lost by forfeit: this bot did not come in time",
            ),
            (
                News::Forfeit(v1::TournamentForfeit { meeting: 5, lost: false }),
                "meeting 5 is won by forfeit: the opponent did not come, or left",
            ),
            (
                News::PutAside(v1::TournamentPutAside { until, fault, meetings: vec![1, 3, 4] }),
                "put aside until 2026-01-02T10:00:00Z, for timeouts in meetings 1, 3, 4",
            ),
            (
                News::Ended(v1::TournamentEnded {
                    phase: v1::TournamentPhase::Stopped.into(),
                    rank: 2,
                    entrants: 5,
                    cancel_reason: 0,
                }),
                "the tournament is stopped: rank 2 of 5",
            ),
            (
                News::Ended(v1::TournamentEnded {
                    phase: v1::TournamentPhase::Cancelled.into(),
                    cancel_reason: v1::TournamentCancelReason::TooFewEntrants.into(),
                    ..Default::default()
                }),
                "the tournament is cancelled: there were too few entrants at its start",
            ),
        ] {
            assert_eq!(describe(&news), line);
        }
    }

    fn v1_time(seconds: u64) -> prost_types::Timestamp {
        (std::time::UNIX_EPOCH + Duration::from_secs(seconds)).into()
    }
}
