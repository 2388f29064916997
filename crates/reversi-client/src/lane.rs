//! The fast lane for bots: turns down, moves up, on one stream.

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::{ClientError, GameId, Incoming, PlayEvent, Session, Turn};
use crate::{rules::Square, v1};

/// Moves on their way to the server. A bot answers each turn once, so more than its seats never wait.
const MOVES_WAITING: usize = 64;

/// An open lane. Dropping it closes it; the seats are kept for the grace that the server allows.
#[derive(Debug)]
pub struct PlayLane {
    events: Incoming<PlayEvent>,
    moves: mpsc::Sender<v1::PlayRequest>,
}

impl PlayLane {
    /// The next event, or `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<PlayEvent, ClientError>> {
        self.events.next().await
    }

    /// Answers a turn. A refusal comes back as [`PlayEvent::MoveRejected`].
    ///
    /// # Errors
    /// [`ClientError::Broken`] when the lane is closed.
    pub async fn play(&self, turn: &Turn, square: Square) -> Result<(), ClientError> {
        self.play_at(&turn.game, turn.ply, square).await
    }

    /// Moves in `game` at `ply`.
    ///
    /// # Errors
    /// As [`PlayLane::play`].
    pub async fn play_at(&self, game: &GameId, ply: u32, square: Square) -> Result<(), ClientError> {
        let request = v1::PlayRequest {
            game_id: game.to_string(),
            ply: super::settings::wire_count(ply),
            square: square.to_string(),
        };
        self.moves.send(request).await.map_err(|_| ClientError::Broken("the play stream is closed".into()))
    }
}

impl Session {
    /// Opens the lane. Every turn that waits for an answer is sent first. It replaces the player's older lane.
    ///
    /// # Errors
    /// Refusals, and a broken connection.
    pub async fn play_lane(&self) -> Result<PlayLane, ClientError> {
        let (moves, requests) = mpsc::channel(MOVES_WAITING);
        let events = self.games().play(ReceiverStream::new(requests)).await?.into_inner();
        let events = Incoming::new(events, |response: v1::PlayResponse| PlayEvent::read(response.event));
        Ok(PlayLane { events, moves })
    }
}
