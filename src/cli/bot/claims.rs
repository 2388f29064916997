//! Claims of the games whose opponents have gone.

use std::{collections::HashMap, future::pending, time::Duration};

use tokio::time::{Instant, sleep_until};

use crate::{
    cli::say,
    client::{Claim, ClientError, GameId, PlayEvent, Session},
};

/// How often a bot asks for each game whether it can claim it. That is possible 20 s after the opponent has gone at the
/// earliest, so one of these questions comes before that, and is answered with "too soon".
const INTERVAL: Duration = Duration::from_secs(20);

/// How often after that answer.
const SOON: Duration = Duration::from_secs(1);

/// The running games, each with the time of the next question.
#[derive(Debug, Default)]
pub(super) struct Claims(HashMap<GameId, Instant>);

impl Claims {
    /// Games begin and end by the events of the play stream. A turn may be one of a game that began before the stream.
    pub(super) fn apply(&mut self, event: &PlayEvent) {
        match event {
            PlayEvent::Turn(turn) => self.begin(&turn.game),
            PlayEvent::GameStarted { game, .. } => self.begin(game),
            PlayEvent::GameEnded { game, .. } => self.forget(game),
            _ => {}
        }
    }

    /// The next game to claim; pending without games. Cancel safe.
    pub(super) async fn next(&mut self) -> GameId {
        let Some((game, due)) = self.0.iter_mut().min_by_key(|(_, due)| **due) else { return pending().await };
        sleep_until(*due).await;
        *due = Instant::now() + INTERVAL;
        game.clone()
    }

    pub(super) fn begin(&mut self, game: &GameId) {
        self.0.entry(game.clone()).or_insert_with(|| Instant::now() + INTERVAL);
    }

    /// Claims a game, if the server lets the player.
    pub(super) async fn claim(&mut self, session: &Session, game: GameId) -> Result<(), ClientError> {
        match session.claim(&game, Claim::Win).await {
            Ok(_) => say(format_args!("game {game}: the opponent has gone; the win is claimed")),
            Err(error) if error.is("TOO_SOON") => self.ask_soon(game),
            // The opponent is there.
            Err(error) if error.is("WRONG_PHASE") => {}
            Err(error) if error.refusal().is_none() || error.is_session_lost() => return Err(error),
            Err(error) if error.is_transient() => {}
            // It is over.
            Err(_) => self.forget(&game),
        }
        Ok(())
    }

    fn forget(&mut self, game: &GameId) {
        self.0.remove(game);
    }

    fn ask_soon(&mut self, game: GameId) {
        self.0.insert(game, Instant::now() + SOON);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{EndReason, GameResult, Outcome, fixture};
    use crate::rules::{ByColor, Color};

    fn game(id: &str) -> GameId {
        id.parse().unwrap()
    }

    fn started(id: &str) -> PlayEvent {
        let room = fixture::room().id;
        PlayEvent::GameStarted { room, game: game(id), side: Color::Black, opponent: None, series: None, meeting: None }
    }

    fn ended(id: &str) -> PlayEvent {
        let (room, discs) = (fixture::room().id, ByColor::new(32, 32));
        let outcome = Outcome { result: GameResult::Draw, reason: EndReason::Discs, discs, score: discs };
        PlayEvent::GameEnded { room, game: game(id), side: Color::Black, outcome, board: None, series: None }
    }

    #[tokio::test(start_paused = true)]
    async fn each_running_game_is_asked_for_again_and_again() {
        let (mut claims, start) = (Claims::default(), Instant::now());
        claims.apply(&started("a"));
        tokio::time::advance(Duration::from_secs(5)).await;
        [started("a"), started("b"), started("c"), ended("c")].iter().for_each(|event| claims.apply(event));
        let mut asked = Vec::new();
        for _ in 0..3 {
            let game = claims.next().await;
            asked.push((game.to_string(), start.elapsed().as_secs()));
        }
        assert_eq!(asked, [("a".into(), 20), ("b".into(), 25), ("a".into(), 40)]);
        claims.ask_soon(game("b"));
        assert_eq!((claims.next().await, start.elapsed().as_secs()), (game("b"), 41));
        claims.forget(&game("a"));
        assert_eq!((claims.next().await, start.elapsed().as_secs()), (game("b"), 61));
    }
}
