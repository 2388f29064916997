//! Streams of parsed messages, and the bidirectional stream on which bots receive turns and send moves.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Response, Status};

use super::{
    ClientError, GameId, Malformed, PlayEvent, Turn, connection::UsedServer, event::StreamMessage, settings::wire_count,
};
use crate::{rules::Square, v1};

/// The time between the heartbeats of a room and of [`Session::turns`](super::Session::turns), for which this client
/// asks.
pub const PROMPT_HEARTBEAT: Duration = Duration::from_secs(1).saturating_mul(PROMPT_SECONDS.unsigned_abs());
pub(super) const PROMPT_SECONDS: i32 = 3;

/// The time between the heartbeats of other streams.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(10);

/// A stream is broken after a silence of this many heartbeats.
pub const HEARTBEATS_MISSED: u32 = 2;

/// The first wait before a call or stream is repeated after a failure.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The number of failures in a row after which the wait doubles. Of several servers another one takes over within some
/// seconds, in which a clock may run.
const EQUAL_WAITS: u32 = 4;
const MAX_WAIT: Duration = Duration::from_secs(8);

/// The wait after `failures` failures in a row.
#[must_use]
pub fn backoff(failures: u32) -> Duration {
    FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures / EQUAL_WAITS)).min(MAX_WAIT)
}

/// A stream of parsed messages. It ends with the server's stream or after the first error, such as a silence of
/// [`HEARTBEATS_MISSED`] heartbeats; dropping it closes it.
pub struct Incoming<T> {
    messages: Pin<Box<dyn Stream<Item = Result<T, ClientError>> + Send>>,
    failed: bool,
}

impl<T: 'static> Incoming<T> {
    /// The messages of a stream with heartbeats at this interval. Skips those for which `parse` returns `None`, such as
    /// those of a newer server. When it fails or is to be opened again, its server is left for the next one.
    pub(super) fn with_heartbeats<W: 'static + Send>(
        answer: Response<impl Stream<Item = Result<W, Status>> + Send + 'static>,
        heartbeat: Duration,
        parse: impl Fn(W) -> Result<Option<T>, Malformed> + Send + 'static,
    ) -> Self
    where
        T: StreamMessage,
    {
        let server = answer.extensions().get::<UsedServer>().cloned();
        let limit = HEARTBEATS_MISSED * heartbeat;
        let silent = move |_| Status::unavailable(format!("no answer for {} s", limit.as_secs()));
        let messages = answer.into_inner().timeout(limit).map(move |message| message.map_err(silent).flatten());
        let Self { messages, failed } = Self::new(messages, parse);
        let noted = messages.map(move |message| match (message, &server) {
            (Err(error), Some(server)) => Err(server.stream_failed(error)),
            (Ok(message), Some(server)) => {
                message.closing().into_iter().for_each(|closing| server.stream_closing(closing.retry_after));
                Ok(message)
            }
            (message, None) => message,
        });
        Self { messages: Box::pin(noted), failed }
    }

    pub(super) fn new<W: 'static + Send>(
        messages: impl Stream<Item = Result<W, Status>> + Send + 'static,
        parse: impl Fn(W) -> Result<Option<T>, Malformed> + Send + 'static,
    ) -> Self {
        let parsed = messages.filter_map(move |message| match message {
            Ok(message) => parse(message).map_err(ClientError::from).transpose(),
            Err(status) => Some(Err(status.into())),
        });
        Self { messages: Box::pin(parsed), failed: false }
    }

    /// The next message, or `None` at the end. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        tokio_stream::StreamExt::next(self).await
    }
}

impl<T> Stream for Incoming<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let next = self.messages.as_mut().poll_next(cx);
        self.failed = matches!(next, Poll::Ready(Some(Err(_))));
        next
    }
}

impl<T> fmt::Debug for Incoming<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// An open bidirectional stream. Dropping it closes it; the player keeps its seats for the server's grace period.
#[derive(Debug)]
pub struct PlayStream {
    events: Incoming<PlayEvent>,
    moves: mpsc::Sender<v1::PlayRequest>,
}

impl PlayStream {
    pub(super) fn new(events: Incoming<PlayEvent>, moves: mpsc::Sender<v1::PlayRequest>) -> Self {
        Self { events, moves }
    }

    /// The next event, or `None` at the end. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<PlayEvent, ClientError>> {
        self.events.next().await
    }

    /// Answers a turn; fails once the stream is closed. A refusal is sent as [`PlayEvent::MoveRejected`].
    pub async fn play(&self, turn: &Turn, square: Square) -> Result<(), ClientError> {
        self.play_at(&turn.game, turn.ply, square).await
    }

    /// Plays a move in `game` at `ply`, like [`Self::play`].
    pub async fn play_at(&self, game: &GameId, ply: u32, square: Square) -> Result<(), ClientError> {
        let request = v1::PlayRequest { game_id: game.to_string(), ply: wire_count(ply), square: square.to_string() };
        self.moves.send(request).await.map_err(|_| ClientError::Broken("the play stream is closed".into()))
    }
}

#[cfg(test)]
mod tests {
    use tokio_stream::wrappers::ReceiverStream;

    use super::*;

    impl StreamMessage for u32 {}

    #[test]
    fn waits_grow_to_a_bound() {
        assert_eq!(
            [0, 3, 4, 8, u32::MAX].map(backoff),
            [FIRST_WAIT, FIRST_WAIT, FIRST_WAIT * 2, FIRST_WAIT * 4, MAX_WAIT]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_heartbeats_is_broken() {
        let (sender, messages) = mpsc::channel(1);
        let messages = Response::new(ReceiverStream::new(messages));
        let mut incoming = Incoming::with_heartbeats(messages, HEARTBEAT, |beat: u32| Ok(Some(beat)));
        for beat in 0..3 {
            tokio::time::advance(HEARTBEATS_MISSED * HEARTBEAT - Duration::from_secs(1)).await;
            sender.try_send(Ok(beat)).unwrap();
            assert!(matches!(incoming.next().await, Some(Ok(read)) if read == beat));
        }
        let began = tokio::time::Instant::now();
        let error = incoming.next().await.unwrap().unwrap_err();
        assert!(matches!(&error, ClientError::Broken(cause) if cause == "no answer for 20 s"), "{error}");
        assert_eq!(began.elapsed(), HEARTBEATS_MISSED * HEARTBEAT);
        assert!(incoming.next().await.is_none());
    }
}
