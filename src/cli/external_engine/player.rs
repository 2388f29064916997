//! An external engine that plays for a bot.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use tokio::task::spawn_blocking;

use super::{Engine, EngineCommand, MoveTime, NoMove};
use crate::{
    client::{Session, Turn},
    rules::{Square, Transcript},
    search::Stop,
};

/// Maximum restarts of an engine in a row without a move.
const RESTARTS: u32 = 3;

/// The wait before a call that a busy server refused is repeated.
const BUSY_WAIT: Duration = Duration::from_millis(100);

/// An external engine, used by one search at a time.
#[derive(Clone)]
pub(in crate::cli) struct EnginePlayer {
    engine: Arc<Mutex<Engine>>,
    name: Arc<str>,
    /// The time that it should take for a move, even if the room's clocks allow more.
    max_time: Duration,
}

impl EnginePlayer {
    pub(in crate::cli) async fn start(command: EngineCommand, max_time: Option<Duration>) -> anyhow::Result<Self> {
        let name = command.name().into();
        let engine = spawn_blocking(move || Engine::start(command, RESTARTS))
            .await
            .context("the engine cannot be started")??;
        Ok(Self { engine: Arc::new(Mutex::new(engine)), name, max_time: max_time.unwrap_or(Duration::MAX) })
    }

    pub(in crate::cli) fn name(&self) -> &str {
        &self.name
    }

    /// The engine's move. The protocols need all moves of the game, which are read from the room.
    pub(in crate::cli) async fn choose(
        &self,
        session: &Session,
        turn: &Turn,
        time: MoveTime,
        stop: Stop,
    ) -> Result<Square, NoMove> {
        let game = record(session, turn, &stop).await?;
        let (engine, time) =
            (Arc::clone(&self.engine), MoveTime { for_move: time.for_move.min(self.max_time), ..time });
        let chosen = spawn_blocking(move || {
            let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
            engine.choose(&game, time, &stop)
        });
        chosen.await.unwrap_or_else(|error| Err(NoMove::Broken(error.to_string())))
    }

    /// Ends the engine. Blocks until a running search is stopped.
    pub(in crate::cli) fn end(&self) {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}

/// The moves before this turn.
async fn record(session: &Session, turn: &Turn, stop: &Stop) -> Result<Transcript, NoMove> {
    let room = loop {
        match session.room(&turn.room).await {
            Ok(room) => break room,
            // After a reconnect the turn is sent again.
            Err(error) if error.is_transient() && !stop.is_stopped() => tokio::time::sleep(BUSY_WAIT).await,
            Err(_) => return Err(NoMove::Unwanted),
        }
    };
    let game = room.game.filter(|game| game.id == turn.game).ok_or(NoMove::Unwanted)?;
    let squares = game.plies.iter().filter(|ply| ply.ply < turn.ply).filter_map(|ply| ply.square);
    Transcript::from_squares(squares).map_err(|error| NoMove::Broken(format!("the game cannot be sent: {error}")))
}
