//! Long answers: what a source yields, a heartbeat when it is silent, and at last the reason of the end.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::stream;
use tokio::time::Instant;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::connection::Peer;
use crate::{
    proto::{convert, v1},
    runtime::{Alarm, Bell, Clock, StreamEnd},
};

/// Every stream speaks at least this often, so that both ends notice a dead connection.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(10);

/// When it makes sense to come back to a server that stops.
pub(super) const RETURN_AFTER_DRAIN: Duration = Duration::from_secs(5);

/// What a streaming method answers with.
pub(super) type Feed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// How a stream ends.
pub(super) enum End {
    /// As it must one day, with a last message.
    Closing(StreamEnd),
    /// Because it cannot go on.
    Failed(Status),
    /// Nobody listens any more.
    Broken,
    /// Everything was told.
    Done,
}

impl From<StreamEnd> for End {
    fn from(end: StreamEnd) -> Self {
        Self::Closing(end)
    }
}

/// What a stream sends.
pub(super) trait Told: Send + 'static {
    /// What is sent in silence.
    fn heartbeat(beat: v1::Heartbeat) -> Self;

    /// What is sent last.
    fn closing(closing: v1::Closing) -> Self;
}

/// Something that yields messages until it ends for a reason.
pub(super) trait Source: Send + 'static {
    /// What is sent.
    type Message: Told;

    /// The next message.
    fn next(&mut self) -> impl Future<Output = Result<Self::Message, End>> + Send;
}

/// When streams speak that are silent otherwise: all of a connection at once, so that one write carries it.
#[derive(Clone, Copy)]
pub(super) struct Pulse(Instant);

impl Pulse {
    pub(super) fn of<T>(request: &Request<T>) -> Self {
        Self(request.extensions().get::<Peer>().map_or_else(Instant::now, |peer| peer.since))
    }

    /// The first beat that is still to come.
    fn next(self) -> Instant {
        let now = Instant::now();
        let since_the_last = now.saturating_duration_since(self.0).as_micros() % HEARTBEAT.as_micros();
        now + HEARTBEAT - Duration::from_micros(since_the_last as u64)
    }
}

/// In this order, as the first of it are looked at each time, and lie side by side.
#[repr(C)]
struct Flow<S> {
    ended: bool,
    /// Rings for the source and the alarm. A stream is polled for each message that the transport has passed on, too.
    bell: Bell,
    /// When the next heartbeat is due.
    beat: Instant,
    alarm: Alarm,
    source: S,
    pulse: Pulse,
    clock: Clock,
}

/// Streams a source.
pub(super) fn feed<S: Source>(clock: Clock, pulse: Pulse, source: S) -> Response<Feed<S::Message>> {
    // In a box of its own, as it is handed on with each message.
    let source = stream::unfold(Box::new(source), |mut source| async move { Some((source.next().await, source)) });
    pour(clock, pulse, Box::pin(source))
}

/// Streams what is a stream itself, which ends with its first error.
pub(super) fn pour<T: Told>(
    clock: Clock,
    pulse: Pulse,
    source: impl Stream<Item = Result<T, End>> + Unpin + Send + 'static,
) -> Response<Feed<T>> {
    let (bell, alarm) = (Bell::default(), Alarm::default());
    Response::new(Box::pin(Flow { clock, source, bell, pulse, beat: pulse.next(), alarm, ended: false }))
}

impl<T: Told, S: Stream<Item = Result<T, End>> + Unpin> Stream for Flow<S> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let Self { source, bell, beat, alarm, .. } = &mut *self;
        let came = ready!(bell.poll(context, |context| match Pin::new(&mut *source).poll_next(context) {
            Poll::Ready(came) => Poll::Ready(Some(came)),
            Poll::Pending => alarm.poll_ring(context, *beat).map(|()| None),
        }));
        let Some(came) = came else {
            self.beat = self.pulse.next();
            let beat = v1::Heartbeat { at: Some(convert::timestamp(self.clock.now())) };
            return Poll::Ready(Some(Ok(T::heartbeat(beat))));
        };
        let came = came.unwrap_or(Err(End::Done));
        self.ended = came.is_err();
        Poll::Ready(match came {
            Ok(message) => Some(Ok(message)),
            Err(End::Closing(end)) => Some(Ok(T::closing(closing(end)))),
            Err(End::Failed(status)) => Some(Err(status)),
            Err(End::Broken | End::Done) => None,
        })
    }
}

fn closing(end: StreamEnd) -> v1::Closing {
    let (reason, retry_after) = match end {
        StreamEnd::RoomClosed => (v1::CloseReason::RoomClosed, None),
        StreamEnd::Kicked => (v1::CloseReason::Kicked, None),
        StreamEnd::Superseded => (v1::CloseReason::Superseded, None),
        StreamEnd::Draining => (v1::CloseReason::Draining, Some(RETURN_AFTER_DRAIN)),
        StreamEnd::SlowConsumer => (v1::CloseReason::SlowConsumer, Some(Duration::ZERO)),
        StreamEnd::LoggedOut => (v1::CloseReason::LoggedOut, None),
    };
    v1::Closing { reason: reason.into(), retry_after: retry_after.map(convert::duration) }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::time::sleep_until;
    use tokio_stream::StreamExt as _;

    use super::*;

    /// Says nothing for that long, and then ends.
    struct Silent(Duration);

    impl Source for Silent {
        type Message = v1::WatchRoomsResponse;

        async fn next(&mut self) -> Result<Self::Message, End> {
            sleep_until(Instant::now() + self.0).await;
            Err(StreamEnd::Draining.into())
        }
    }

    fn silent(seconds: u64, pulse: Pulse) -> impl Stream<Item = Option<v1::watch_rooms_response::Message>> {
        let feed = feed(Clock::default(), pulse, Silent(Duration::from_secs(seconds)));
        feed.into_inner().map(|message| message.unwrap().message)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_heartbeats() {
        let mut stream = pin!(silent(3600, Pulse(Instant::now())));
        for beat in 1..=3_u32 {
            let began = Instant::now();
            let message = stream.next().await.unwrap();
            assert!(matches!(message, Some(v1::watch_rooms_response::Message::Heartbeat(_))), "{beat}");
            assert_eq!(began.elapsed().as_secs(), HEARTBEAT.as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn streams_of_a_connection_speak_at_once() {
        let connected = Instant::now();
        for opened in [3, 12, 21] {
            sleep_until(connected + Duration::from_secs(opened)).await;
            let _ = pin!(silent(3600, Pulse(connected))).next().await;
            assert_eq!(connected.elapsed().as_secs(), opened.next_multiple_of(HEARTBEAT.as_secs()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_message_says_why_and_when_to_come_back() {
        let messages: Vec<_> = silent(1, Pulse(Instant::now())).collect().await;
        let [Some(v1::watch_rooms_response::Message::Closing(closing))] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(closing.reason(), v1::CloseReason::Draining);
        assert!(closing.retry_after.is_some());
    }
}
