//! Server streams: the messages of a source, a heartbeat after a silence, and the reason for the end.

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::stream::{self, BoxStream};
use prost::Message;
use tokio::time::Instant;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use crate::{
    grpc::{
        status,
        transport::{connection::Peer, period_offset::PeriodOffset},
    },
    proto::{
        EncodedMessage,
        convert::{self, Malformed},
        v1,
    },
    runtime::{BanCheck, Clock, LazyTimer, StreamEnd, WakeGate},
};

/// The longest silence of a stream, by which both ends notice a dead connection, unless the client asks for a shorter
/// one.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// The shortest silence that a client may ask for, in seconds.
const MIN_HEARTBEAT: u8 = 2;

/// The end of a stream.
pub(crate) enum End {
    /// With a last message that has the reason.
    Closing(StreamEnd),
    /// With an error.
    Failed(Status),
    /// Without a message: everything was sent, or the client is gone.
    Done,
}

impl From<StreamEnd> for End {
    fn from(end: StreamEnd) -> Self {
        Self::Closing(end)
    }
}

/// The response type of a stream: a message that can also be a heartbeat or the last one.
pub(crate) trait StreamMessage: Message + 'static {
    fn heartbeat(heartbeat: v1::Heartbeat) -> Self;
    fn closing(closing: v1::Closing) -> Self;
}

macro_rules! impl_stream_message {
    ($($response:ident: $module:ident),*) => {
        $(impl StreamMessage for v1::$response {
            fn heartbeat(heartbeat: v1::Heartbeat) -> Self {
                Self { message: Some(v1::$module::Message::Heartbeat(heartbeat)) }
            }

            fn closing(closing: v1::Closing) -> Self {
                Self { message: Some(v1::$module::Message::Closing(closing)) }
            }
        })*
    };
}

impl_stream_message!(
    WatchRoomsResponse: watch_rooms_response,
    WatchRoomResponse: watch_room_response,
    AnalyzePositionResponse: analyze_position_response,
    AnalyzeGameResponse: analyze_game_response,
    WatchTournamentResponse: watch_tournament_response
);

pub(crate) trait Source: Send + 'static {
    /// The next message, or the end of the stream.
    fn next(&mut self) -> impl Future<Output = Result<EncodedMessage, End>> + Send;
}

pub(crate) fn stream_of(source: impl Source) -> BoxStream<'static, Result<EncodedMessage, End>> {
    // Boxed, because the source is moved with each message.
    Box::pin(stream::unfold(Box::new(source), |mut source| async move { Some((source.next().await, source)) }))
}

/// The heartbeat times of a connection's streams: the same for all, so that one write sends them all. Those of
/// different connections are spread over [`HEARTBEAT`]: otherwise the streams of all clients that reconnect after a
/// restart would send at one moment, and delay moves.
pub(crate) struct HeartbeatSchedule {
    offset: PeriodOffset,
    period: Duration,
    /// Looked at with each heartbeat.
    bans: Option<BanCheck>,
}

impl HeartbeatSchedule {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        let offset = request.extensions().get::<Peer>().map_or_else(PeriodOffset::starting_now, |peer| peer.offset);
        Self { offset, period: HEARTBEAT, bans: request.extensions().get().cloned() }
    }

    /// With the period that the client asks for, in seconds; 0 for the default.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for the field `heartbeat_seconds`.
    pub(crate) fn every(self, seconds: i32) -> Result<Self, Malformed> {
        match u8::try_from(seconds).map(|seconds| Duration::from_secs(seconds.into())) {
            Ok(Duration::ZERO) => Ok(self),
            Ok(period) if (Duration::from_secs(MIN_HEARTBEAT.into())..=HEARTBEAT).contains(&period) => {
                Ok(Self { period, ..self })
            }
            _ => Err(Malformed::argument("heartbeat_seconds", "must be 2 to 10, or left out")),
        }
    }

    /// The next time of a heartbeat, after now.
    fn next(&self) -> Instant {
        self.offset.next(self.period, Instant::now())
    }
}

/// The messages of `S`, which are encoded `M`s, with heartbeats and the last message. The gate polls the source only if
/// that has woken the stream: the transport also polls when another stream of the connection sends.
pub(crate) struct ResponseStream<M, S = BoxStream<'static, Result<EncodedMessage, End>>> {
    has_ended: bool,
    gate: WakeGate,
    next_heartbeat: Instant,
    timer: LazyTimer,
    source: S,
    schedule: HeartbeatSchedule,
    clock: Clock,
    message: PhantomData<fn() -> M>,
}

impl<M, S: Stream<Item = Result<EncodedMessage, End>> + Unpin> ResponseStream<M, S> {
    pub(crate) fn new(clock: Clock, schedule: HeartbeatSchedule, source: S) -> Response<Self> {
        Response::new(Self {
            has_ended: false,
            gate: WakeGate::default(),
            next_heartbeat: schedule.next(),
            timer: LazyTimer::default(),
            source,
            schedule,
            clock,
            message: PhantomData,
        })
    }
}

impl<M: StreamMessage, S: Stream<Item = Result<EncodedMessage, End>> + Unpin> Stream for ResponseStream<M, S> {
    type Item = Result<EncodedMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let Self { source, gate, next_heartbeat, timer, .. } = &mut *self;
        let polled = ready!(gate.poll(context, |context| match Pin::new(&mut *source).poll_next(context) {
            Poll::Ready(item) => Poll::Ready(Some(item)),
            Poll::Pending => timer.poll_until(context, *next_heartbeat).map(|()| None),
        }));
        let is_banned = polled.is_none() && self.schedule.bans.as_ref().is_some_and(|bans| bans.run().is_err());
        let Some(item) = polled.or_else(|| is_banned.then(|| Some(Err(StreamEnd::Banned.into())))) else {
            self.next_heartbeat = self.schedule.next();
            let heartbeat = v1::Heartbeat { at: Some(convert::timestamp(self.clock.now())) };
            return Poll::Ready(Some(Ok(EncodedMessage::new(&M::heartbeat(heartbeat)))));
        };
        let end = match item {
            Some(Ok(message)) => return Poll::Ready(Some(Ok(message))),
            Some(Err(end)) => end,
            None => End::Done,
        };
        self.has_ended = true;
        Poll::Ready(match end {
            End::Closing(end) => Some(Ok(EncodedMessage::new(&M::closing(closing(end))))),
            End::Failed(status) => Some(Err(status)),
            End::Done => None,
        })
    }
}

fn closing(end: StreamEnd) -> v1::Closing {
    let (reason, retry_after) = match end {
        StreamEnd::RoomClosed => (v1::CloseReason::RoomClosed, None),
        StreamEnd::Kicked => (v1::CloseReason::Kicked, None),
        StreamEnd::Superseded => (v1::CloseReason::Superseded, None),
        StreamEnd::Draining => (v1::CloseReason::Draining, Some(status::RETURN_AFTER_DRAIN)),
        StreamEnd::OutOfService => (v1::CloseReason::Draining, Some(status::RETURN_ELSEWHERE)),
        StreamEnd::SlowConsumer => (v1::CloseReason::SlowConsumer, Some(Duration::ZERO)),
        StreamEnd::LoggedOut => (v1::CloseReason::LoggedOut, None),
        // The refusal of the next stream has the reason.
        StreamEnd::Banned => (v1::CloseReason::Banned, Some(Duration::ZERO)),
        StreamEnd::Unavailable => (v1::CloseReason::Unavailable, Some(status::RETURN_ELSEWHERE)),
    };
    v1::Closing { reason: reason.into(), retry_after: retry_after.map(convert::duration) }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use prost::Message as _;
    use tokio::{task::JoinSet, time::sleep_until};
    use tokio_stream::StreamExt as _;
    use v1::watch_rooms_response::Message;

    use super::*;
    use crate::{
        grpc::transport::period_offset::PeriodOffsets,
        room::Timestamp,
        runtime::{Ban, BanSubject, ClientAddresses, Limits, Players},
    };

    /// A source that sends nothing for this duration, then ends.
    struct Silent(Duration);

    impl Source for Silent {
        async fn next(&mut self) -> Result<EncodedMessage, End> {
            sleep_until(Instant::now() + self.0).await;
            Err(StreamEnd::Draining.into())
        }
    }

    fn decode(message: EncodedMessage) -> Option<Message> {
        v1::WatchRoomsResponse::decode(message.0).unwrap().message
    }

    fn silent(seconds: u64, offset: PeriodOffset) -> impl Stream<Item = Option<Message>> {
        let source = stream_of(Silent(Duration::from_secs(seconds)));
        let schedule = HeartbeatSchedule { offset, period: HEARTBEAT, bans: None };
        let stream = ResponseStream::<v1::WatchRoomsResponse>::new(Clock::default(), schedule, source);
        stream.into_inner().map(|message| decode(message.unwrap()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_sends_heartbeats() {
        let mut stream = pin!(silent(3600, PeriodOffset::starting_now()));
        for beat in 1..=3_u32 {
            let began = Instant::now();
            let message = stream.next().await.unwrap();
            assert!(matches!(message, Some(Message::Heartbeat(_))), "{beat}");
            assert_eq!(began.elapsed().as_secs(), HEARTBEAT.as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_from_a_banned_network_ends_with_its_next_heartbeat() {
        let players = Players::default();
        let address = ClientAddresses::new(Limits::default()).entry([192, 0, 2, 7].into());
        let mut request = Request::new(());
        request.extensions_mut().insert(players.bans.check(None, Some(&address)));
        let schedule = HeartbeatSchedule::of(&request);
        let source = stream_of(Silent(Duration::from_secs(3600)));
        let stream = ResponseStream::<v1::WatchRoomsResponse>::new(Clock::default(), schedule, source);
        let mut stream = stream.into_inner().map(|message| decode(message.unwrap()));
        assert!(matches!(stream.next().await, Some(Some(Message::Heartbeat(_)))));
        let (subject, since) = (BanSubject::parse_network("192.0.2.0/24").unwrap(), Timestamp(1));
        players.bans.set(vec![Ban { subject, reason: None, since, until: None }]);
        let Some(Some(Message::Closing(closing))) = stream.next().await else { panic!("not closed") };
        assert_eq!(closing.reason(), v1::CloseReason::Banned);
        assert!(stream.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_ask_for_more_heartbeats() {
        let default = || HeartbeatSchedule::of(&Request::new(()));
        for (seconds, expected) in [(0, 10), (2, 2), (3, 3), (10, 10)] {
            let schedule = default().every(seconds).unwrap();
            let source = stream_of(Silent(Duration::from_secs(3600)));
            let stream = ResponseStream::<v1::WatchRoomsResponse>::new(Clock::default(), schedule, source);
            let (mut stream, mut beats) = (stream.into_inner(), Vec::new());
            for _ in 0..3 {
                stream.next().await.unwrap().unwrap();
                beats.push(Instant::now());
            }
            assert_eq!((beats[2] - beats[1]).as_millis(), 1_000 * expected);
        }
        for seconds in [-1, 1, 11, 300] {
            assert!(default().every(seconds).is_err(), "{seconds}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_streams_of_a_connection_send_heartbeats_together() {
        let (connected, offset) = (Instant::now(), PeriodOffset::starting_now());
        for opened in [3, 12, 21] {
            sleep_until(connected + Duration::from_secs(opened)).await;
            let _ = pin!(silent(3600, offset)).next().await;
            assert_eq!(connected.elapsed().as_secs(), opened.next_multiple_of(HEARTBEAT.as_secs()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_opened_at_once_send_heartbeats_at_different_times() {
        const CONNECTIONS: u128 = 1_000;
        let (offsets, opened, mut beats) = (PeriodOffsets::new(7), Instant::now(), JoinSet::new());
        for _ in 0..CONNECTIONS {
            let mut stream = Box::pin(silent(3600, offsets.next()));
            beats.spawn(async move { stream.next().await.map(|_| opened.elapsed()) });
        }
        let mut counts = [0; 200];
        for beat in beats.join_all().await {
            let beat = beat.expect("a heartbeat").min(HEARTBEAT - Duration::from_nanos(1));
            counts[(beat.as_micros() * 200 / HEARTBEAT.as_micros()) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| count <= 2 * CONNECTIONS / 200), "{counts:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_message_has_the_reason_and_the_retry_delay() {
        let messages: Vec<_> = silent(1, PeriodOffset::starting_now()).collect().await;
        let [Some(Message::Closing(closing))] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(closing.reason(), v1::CloseReason::Draining);
        assert!(closing.retry_after.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_after_its_last_message_with_its_status() {
        let ends: [(fn() -> End, _, _); 3] = [
            (|| End::Done, 0, None),
            (|| End::Closing(StreamEnd::Draining), 1, None),
            (|| End::Failed(Status::data_loss("")), 0, Some(tonic::Code::DataLoss)),
        ];
        for (end, last, code) in ends {
            for before in [0, 1, 2] {
                let removed = |room: u32| {
                    let message = Some(Message::Removed(room.to_string()));
                    EncodedMessage::new(&v1::WatchRoomsResponse { message })
                };
                let items: Vec<_> =
                    (0..before).map(|room| Ok(removed(room))).chain([Err(end()), Ok(removed(9))]).collect();
                let schedule = HeartbeatSchedule::of(&Request::new(()));
                let stream =
                    ResponseStream::<v1::WatchRoomsResponse, _>::new(Clock::default(), schedule, stream::iter(items));
                let mut stream = stream.into_inner();
                for room in 0..before {
                    assert_eq!(stream.next().await.unwrap().unwrap(), removed(room));
                }
                if last > 0 {
                    let message = decode(stream.next().await.unwrap().unwrap());
                    assert!(matches!(message, Some(Message::Closing(_))), "{message:?}");
                }
                if let Some(code) = code {
                    assert_eq!(stream.next().await.unwrap().unwrap_err().code(), code);
                }
                assert!(stream.next().await.is_none() && stream.next().await.is_none());
            }
        }
    }
}
