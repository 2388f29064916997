//! Long answers: what a source yields, a heartbeat when it is silent, and at last the reason of the end.

use std::{
    future::{Ready, ready as at_once},
    marker::PhantomData,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::{self, Once};
use http::HeaderMap;
use prost::Message;
use tokio::time::Instant;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, body::Body};

use crate::{
    grpc::{layer::auth::Pass, transport::connection::Peer},
    {
        proto::{Frame, YIELD, convert, v1},
        runtime::{Alarm, Bell, Clock, StreamEnd},
    },
};

/// Every stream speaks at least this often, so that both ends notice a dead connection.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// When it makes sense to come back to a server that stops.
pub(crate) const RETURN_AFTER_DRAIN: Duration = Duration::from_secs(5);

/// What a streaming method answers with: nothing that tonic would have to encode. The gate puts the body in its place, which
/// is beside the answer; where nobody does, the stream fails.
pub(crate) type Feed<T> = Once<Ready<Result<T, Status>>>;

/// The body of a stream, for which the pass of its call is still to come.
pub(crate) type Unopened = Box<dyn FnOnce(Pass) -> Body + Send>;

/// The same as an extension of an answer, which must be `Clone` and `Sync`. Nobody clones it.
#[derive(Clone)]
struct Beside(Arc<Mutex<Option<Unopened>>>);

/// How a stream ends.
pub(crate) enum End {
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
pub(crate) trait Told: Message + 'static {
    /// What is sent in silence.
    fn heartbeat(beat: v1::Heartbeat) -> Self;

    /// What is sent last.
    fn closing(closing: v1::Closing) -> Self;
}

/// Something that yields messages until it ends for a reason.
pub(crate) trait Source: Send + 'static {
    /// What is sent.
    type Message: Told;

    /// The next message.
    fn next(&mut self) -> impl Future<Output = Result<Frame, End>> + Send;
}

/// When streams speak that are silent otherwise: all of a connection at once, so that one write carries it.
#[derive(Clone, Copy)]
pub(crate) struct Pulse(Instant);

impl Pulse {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        Self(request.extensions().get::<Peer>().map_or_else(Instant::now, |peer| peer.since))
    }

    /// The first beat that is still to come.
    fn next(self) -> Instant {
        let now = Instant::now();
        let since_the_last = now.saturating_duration_since(self.0).as_micros() % HEARTBEAT.as_micros();
        now + HEARTBEAT - Duration::from_micros(since_the_last as u64)
    }
}

/// Streams a source.
pub(crate) fn feed<S: Source>(clock: Clock, pulse: Pulse, source: S) -> Response<Feed<S::Message>> {
    // In a box of its own, as it is handed on with each message.
    let source = stream::unfold(Box::new(source), |mut source| async move { Some((source.next().await, source)) });
    pour(clock, pulse, Box::pin(source))
}

/// Streams what is a stream itself, which ends with its first error.
pub(crate) fn pour<T: Told>(
    clock: Clock,
    pulse: Pulse,
    source: impl Stream<Item = Result<Frame, End>> + Unpin + Send + 'static,
) -> Response<Feed<T>> {
    let unopened: Unopened = Box::new(move |pass| Body::new(Flow::<T, _>::new(clock, pulse, source, pass)));
    let mut response = Response::new(stream::once(at_once(Err(Status::internal("the stream was lost")))));
    response.extensions_mut().insert(Beside(Arc::new(Mutex::new(Some(unopened)))));
    response
}

/// Takes the body of a stream from beside its answer.
pub(crate) fn take(answer: &mut http::Response<Body>) -> Option<Unopened> {
    let Beside(unopened) = answer.extensions_mut().remove()?;
    unopened.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The body of a stream: as what is sent is in frames already, it makes no bytes of its own for one message. In this order,
/// as its first fields are looked at each time, and lie side by side.
#[repr(C)]
struct Flow<T, S> {
    stage: Stage,
    /// Rings for the source and the alarm. A stream is polled for each message that the transport has passed on, too.
    bell: Bell,
    /// When the next heartbeat is due.
    beat: Instant,
    alarm: Alarm,
    source: S,
    pulse: Pulse,
    clock: Clock,
    /// The call counts until all of it is read, or given up.
    _pass: Pass,
    message: PhantomData<fn() -> T>,
}

/// How far a stream is.
enum Stage {
    Open,
    /// Everything was said but how it ended.
    Said(Status),
    Over,
}

impl<T: Told, S: Stream<Item = Result<Frame, End>> + Unpin> Flow<T, S> {
    fn new(clock: Clock, pulse: Pulse, source: S, pass: Pass) -> Self {
        let (bell, alarm, beat) = (Bell::default(), Alarm::default(), pulse.next());
        Self { stage: Stage::Open, bell, beat, alarm, source, pulse, clock, _pass: pass, message: PhantomData }
    }

    /// The next message. There is none once it is known how the stream ends.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !matches!(self.stage, Stage::Open) {
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
            return Poll::Ready(Some(Frame::of(&T::heartbeat(beat)).into_bytes()));
        };
        let (last, status) = match came.unwrap_or(Err(End::Done)) {
            Ok(frame) => return Poll::Ready(Some(frame.into_bytes())),
            Err(End::Closing(end)) => (Some(Frame::of(&T::closing(closing(end))).into_bytes()), Status::ok("")),
            Err(End::Failed(status)) => (None, status),
            Err(End::Broken | End::Done) => (None, Status::ok("")),
        };
        self.stage = Stage::Said(status);
        Poll::Ready(last)
    }
}

impl<T: Told, S: Stream<Item = Result<Frame, End>> + Unpin> http_body::Body for Flow<T, S> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        let flow = &mut *self;
        let Some(first) = ready!(flow.poll_next(context)) else {
            let Stage::Said(status) = mem::replace(&mut flow.stage, Stage::Over) else { return Poll::Ready(None) };
            let mut trailers = HeaderMap::new();
            let written = status.add_header(&mut trailers);
            return Poll::Ready(Some(written.map(|()| http_body::Frame::trailers(trailers))));
        };
        // What is ready at a time is one thing for the transport, as far as tonic would let it be.
        if first.len() >= YIELD {
            return Poll::Ready(Some(Ok(http_body::Frame::data(first))));
        }
        let Poll::Ready(Some(second)) = flow.poll_next(context) else {
            return Poll::Ready(Some(Ok(http_body::Frame::data(first))));
        };
        let mut burst = [first, second].concat();
        while burst.len() < YIELD
            && let Poll::Ready(Some(next)) = flow.poll_next(context)
        {
            burst.extend_from_slice(&next);
        }
        Poll::Ready(Some(Ok(http_body::Frame::data(burst.into()))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.stage, Stage::Over)
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
    use std::{future::poll_fn, iter, pin::pin};

    use http_body::Body as _;
    use prost::Message as _;
    use tokio::time::sleep_until;
    use tokio_stream::StreamExt as _;
    use v1::watch_rooms_response::Message;

    use super::*;

    /// Says nothing for that long, and then ends.
    struct Silent(Duration);

    impl Source for Silent {
        type Message = v1::WatchRoomsResponse;

        async fn next(&mut self) -> Result<Frame, End> {
            sleep_until(Instant::now() + self.0).await;
            Err(StreamEnd::Draining.into())
        }
    }

    /// The body that a stream has behind the gate.
    fn open<T>(response: Response<Feed<T>>) -> Body {
        let mut answer = http::Response::new(Body::empty());
        *answer.extensions_mut() = response.into_parts().2;
        take(&mut answer).unwrap()(Pass::default())
    }

    async fn next(body: &mut Body) -> Option<http_body::Frame<Bytes>> {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
        frame.transpose().unwrap()
    }

    /// The messages of what is passed on at once.
    fn messages(mut data: Bytes) -> Vec<Option<Message>> {
        iter::from_fn(|| {
            let length = data.get(1..5)?.try_into().map(u32::from_be_bytes).unwrap();
            let frame = Frame::from_bytes(data.split_to(5 + length as usize));
            Some(v1::WatchRoomsResponse::decode(frame.message()).unwrap().message)
        })
        .collect()
    }

    fn silent(seconds: u64, pulse: Pulse) -> impl Stream<Item = Option<Message>> {
        let body = open(feed(Clock::default(), pulse, Silent(Duration::from_secs(seconds))));
        stream::unfold(body, |mut body| async move {
            let data = next(&mut body).await?.into_data().ok()?;
            let [message] = messages(data).try_into().unwrap();
            Some((message, body))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_heartbeats() {
        let mut stream = pin!(silent(3600, Pulse(Instant::now())));
        for beat in 1..=3_u32 {
            let began = Instant::now();
            let message = stream.next().await.unwrap();
            assert!(matches!(message, Some(Message::Heartbeat(_))), "{beat}");
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
        let [Some(Message::Closing(closing))] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(closing.reason(), v1::CloseReason::Draining);
        assert!(closing.retry_after.is_some());
    }

    /// A stream that has said all of this already, and the ends that come with it.
    fn spoken(said: Vec<Result<Message, End>>) -> Body {
        let frame = |message| Frame::of(&v1::WatchRoomsResponse { message: Some(message) });
        let source = said.into_iter().map(move |said| said.map(frame));
        open(pour::<v1::WatchRoomsResponse>(Clock::default(), Pulse(Instant::now()), stream::iter(source)))
    }

    fn removed(room: impl ToString) -> Message {
        Message::Removed(room.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_ready_is_passed_on_at_once_as_far_as_it_may() {
        let long = |mark: char| removed(iter::repeat_n(mark, YIELD).collect::<String>());
        let said = vec![long('a'), removed("b"), removed("c"), long('d'), removed("e"), removed("f")];
        let mut body = spoken(said.iter().cloned().map(Ok).collect());
        let mut parts = Vec::new();
        while let Ok(data) = next(&mut body).await.unwrap().into_data() {
            parts.push(messages(data));
        }
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3, 2]);
        assert_eq!(parts.concat(), said.into_iter().map(Some).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_behind_its_last_message_with_its_status() {
        let ends: [(fn() -> End, _, _); 4] = [
            (|| End::Done, 0, "0"),
            (|| End::Broken, 0, "0"),
            (|| End::Closing(StreamEnd::Draining), 1, "0"),
            (|| End::Failed(Status::data_loss("")), 0, "15"),
        ];
        for (end, last, code) in ends {
            for before in [0, 1, 2] {
                let said = (0..before).map(|room| Ok(removed(room)));
                let mut body = spoken(said.chain([Err(end()), Ok(removed("never"))]).collect());
                let said = before + last;
                if said > 0 {
                    assert_eq!(messages(next(&mut body).await.unwrap().into_data().unwrap()).len(), said);
                }
                assert!(!body.is_end_stream());
                let trailers = next(&mut body).await.unwrap().into_trailers().unwrap();
                assert_eq!(trailers["grpc-status"], code);
                assert!(next(&mut body).await.is_none() && body.is_end_stream());
            }
        }
    }
}
