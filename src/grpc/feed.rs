//! Long answers: what a source yields, a heartbeat when it is silent, and at last the reason of the end.

use std::{pin::Pin, time::Duration};

use futures_util::stream;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_stream::Stream;
use tonic::{Response, Status};

use crate::{
    proto::{convert, v1},
    runtime::{Clock, StreamEnd},
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

/// Something that yields messages until it ends for a reason.
pub(super) trait Source: Send + 'static {
    /// What is sent.
    type Message: Send + 'static;

    /// The next message. Nothing may be lost when the wait is dropped.
    fn next(&mut self) -> impl Future<Output = Result<Self::Message, End>> + Send;

    /// What is sent in silence.
    fn heartbeat(beat: v1::Heartbeat) -> Self::Message;

    /// What is sent last.
    fn closing(closing: v1::Closing) -> Self::Message;
}

struct Flow<S> {
    clock: Clock,
    source: S,
    beat: Interval,
    ended: bool,
}

/// Streams a source.
pub(super) fn feed<S: Source>(clock: Clock, source: S) -> Response<Feed<S::Message>> {
    let mut beat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Every message moves it twice.
    let flow = Box::new(Flow { clock, source, beat, ended: false });
    Response::new(Box::pin(stream::unfold(flow, |mut flow| async move {
        let message = flow.next().await?;
        Some((message, flow))
    })))
}

impl<S: Source> Flow<S> {
    async fn next(&mut self) -> Option<Result<S::Message, Status>> {
        if self.ended {
            return None;
        }
        let came = tokio::select! {
            biased;
            came = self.source.next() => came,
            _ = self.beat.tick() => Ok(S::heartbeat(v1::Heartbeat { at: Some(convert::timestamp(self.clock.now())) })),
        };
        self.ended = came.is_err();
        match came {
            Ok(message) => Some(Ok(message)),
            Err(End::Closing(end)) => Some(Ok(S::closing(closing(end)))),
            Err(End::Failed(status)) => Some(Err(status)),
            Err(End::Broken | End::Done) => None,
        }
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
    use tokio_stream::StreamExt as _;

    use super::*;

    /// Says nothing for that long, and then ends.
    struct Silent(Duration);

    impl Source for Silent {
        type Message = v1::watch_rooms_response::Message;

        async fn next(&mut self) -> Result<Self::Message, End> {
            tokio::time::sleep_until(Instant::now() + self.0).await;
            Err(StreamEnd::Draining.into())
        }

        fn heartbeat(beat: v1::Heartbeat) -> Self::Message {
            v1::watch_rooms_response::Message::Heartbeat(beat)
        }

        fn closing(closing: v1::Closing) -> Self::Message {
            v1::watch_rooms_response::Message::Closing(closing)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_heartbeats() {
        let mut stream = feed(Clock::default(), Silent(Duration::from_secs(3600))).into_inner();
        for beat in 1..=3_u32 {
            let began = Instant::now();
            let message = stream.next().await.unwrap().unwrap();
            assert!(matches!(message, v1::watch_rooms_response::Message::Heartbeat(_)), "{beat}");
            assert_eq!(began.elapsed().as_secs(), HEARTBEAT.as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_message_says_why_and_when_to_come_back() {
        let messages: Vec<_> = feed(Clock::default(), Silent(Duration::from_secs(1))).into_inner().collect().await;
        let [Ok(v1::watch_rooms_response::Message::Closing(closing))] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(closing.reason(), v1::CloseReason::Draining);
        assert!(closing.retry_after.is_some());
    }
}
