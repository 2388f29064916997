//! An engine of another program at a bot's seats.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use tokio::task::spawn_blocking;

use super::{Engine, Failure, Launch, Time};
use crate::{
    client::{Session, Turn},
    rules::{Square, Transcript},
    search::Stop,
};

/// How long a busy server is left alone.
const BUSY_WAIT: Duration = Duration::from_millis(100);

/// An engine that is asked one question at a time.
#[derive(Clone)]
pub(in crate::cli) struct Guest {
    engine: Arc<Mutex<Engine>>,
    name: Arc<str>,
    /// The most time for a move, whatever the clocks of a room allow.
    most: Duration,
}

impl Guest {
    /// Starts the engine.
    ///
    /// # Errors
    /// When it does not start, or does not speak its protocol.
    pub(in crate::cli) async fn invite(launch: Launch, most: Option<Duration>) -> anyhow::Result<Self> {
        let name = launch.name().into();
        let engine = spawn_blocking(move || Engine::start(launch)).await.context("the engine cannot be started")??;
        Ok(Self { engine: Arc::new(Mutex::new(engine)), name, most: most.unwrap_or(Duration::MAX) })
    }

    /// What the engine is called.
    pub(in crate::cli) fn name(&self) -> &str {
        &self.name
    }

    /// Its move. A turn has no record of the game, which protocols want, so that the room is asked for it.
    pub(in crate::cli) async fn choose(
        &self,
        session: &Session,
        turn: &Turn,
        time: Time,
        stop: Stop,
    ) -> Result<Square, Failure> {
        let game = record(session, turn, &stop).await?;
        let (engine, time) = (Arc::clone(&self.engine), Time { for_move: time.for_move.min(self.most), ..time });
        let chosen = spawn_blocking(move || {
            let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
            engine.choose(&game, time, &stop)
        });
        chosen.await.unwrap_or_else(|error| Err(Failure::Broken(error.to_string())))
    }

    /// Ends the engine. A question that is still open must have been withdrawn.
    pub(in crate::cli) fn dismiss(&self) {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}

/// The game up to this turn.
async fn record(session: &Session, turn: &Turn, stop: &Stop) -> Result<Transcript, Failure> {
    let room = loop {
        match session.room(&turn.room).await {
            Ok(room) => break room,
            // When the connection is back, so is the question.
            Err(error) if error.is_transient() && !stop.is_stopped() => tokio::time::sleep(BUSY_WAIT).await,
            Err(_) => return Err(Failure::Unwanted),
        }
    };
    let game = room.game.filter(|game| game.id == turn.game).ok_or(Failure::Unwanted)?;
    let squares = game.plies.iter().filter(|ply| ply.ply < turn.ply).filter_map(|ply| ply.square);
    Transcript::from_squares(squares).map_err(|error| Failure::Broken(format!("the game cannot be told: {error}")))
}
