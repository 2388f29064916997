//! What a server is compared with: the same messages through bare tonic, with no rules, journal or room.
//!
//! It takes the same calls as a server. A bot's log-in names a pair, and its token is its name; a move, whatever it is, goes
//! one step on in the pair's script, and both streams of the pair are sent what a server would send them. Watchers of
//! a pair share the bytes of each event.

use std::{
    collections::HashMap,
    future::{Ready, ready},
    pin::Pin,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    task::{Context, Poll},
};

use anyhow::Context as _;
use axum::{Router, extract, extract::State, http::Response as HttpResponse};
use bytes::Bytes;
use prost::Message as _;
use tokio::{
    io::AsyncReadExt as _,
    net::TcpListener,
    sync::{broadcast, mpsc},
};
use tokio_stream::{Stream, StreamExt as _, wrappers::BroadcastStream};
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    server::{Grpc, ServerStreamingService, StreamingService, UnaryService},
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tracing::subscriber::NoSubscriber;

use super::{
    connection::WINDOW,
    fixed_game::Book,
    player_check::SERIES,
    prepared_messages::{Script, Step},
    raw_codec::Raw,
};
use crate::{
    proto::v1,
    rules::{ByColor, Color},
};

/// Messages that wait for one bot. In a game there are three at most.
const INBOX: usize = 64;

/// Events that a watcher may be behind. Beyond it its stream fails: here there is no room to be told anew.
const LAG: usize = 4_096;

/// Calls and streams of one connection: all that the bench opens.
const STREAMS: u32 = 1_000_000;

/// Serves until standard input ends, which is when whoever started it is gone.
pub(in crate::cli) async fn run() -> anyhow::Result<()> {
    // With fewer, connections fail and the bench says so.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    // Where nobody listens at all, the transport's spans would be written to another log, which takes longer.
    tracing::subscriber::set_global_default(NoSubscriber::default())?;
    let hall = Arc::new(Hall { script: Script::new(&Book::new())?, pairs: RwLock::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.context("there is no free port")?;
    crate::cli::say(format_args!("reversi is listening on {}", listener.local_addr()?));
    let routes = Routes::from(Router::new().fallback(answer).with_state(hall));
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let mut server = Server::builder().max_concurrent_streams(STREAMS).initial_connection_window_size(WINDOW);
    let served = server.add_routes(routes).serve_with_incoming(incoming);
    let mut said = Vec::new();
    let mut input = tokio::io::stdin().take(1);
    tokio::select! {
        served = served => Ok(served?),
        _ = input.read_to_end(&mut said) => Ok(()),
    }
}

/// All pairs.
struct Hall {
    script: Script,
    pairs: RwLock<HashMap<String, Arc<Pair>>>,
}

/// Two bots, and those who watch them.
#[derive(Default)]
struct Pair {
    course: Mutex<Course>,
    watchers: OnceLock<broadcast::Sender<Bytes>>,
}

/// How far a pair is.
#[derive(Default)]
struct Course {
    ready: ByColor<bool>,
    /// The step that comes next.
    step: usize,
    games: u64,
    seq: u64,
    bots: ByColor<Option<mpsc::Sender<Bytes>>>,
}

/// Who calls, by the name that is the token: the number of the pair, and which of its bots, where it is one.
fn caller(request: &extract::Request) -> Option<(String, Color)> {
    let token = request.headers().get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    let (role, number) = token.split_once(' ')?;
    let side = if role == "white" { Color::White } else { Color::Black };
    Some((number.split('.').next()?.to_owned(), side))
}

async fn answer(State(hall): State<Arc<Hall>>, request: extract::Request) -> HttpResponse<Body> {
    let mut grpc = Grpc::new(Raw);
    let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
    let Some((number, side)) = caller(&request) else {
        return grpc.unary(Call { hall, method, seat: None }, request).await;
    };
    let pair = hall.pair(number);
    match method.as_str() {
        "Play" => grpc.streaming(Play { hall, pair, side }, request).await,
        "WatchTurns" => grpc.server_streaming(Turns { pair, side }, request).await,
        "WatchRoom" => grpc.server_streaming(Watch { hall, pair }, request).await,
        _ => grpc.unary(Call { hall, method, seat: Some((pair, side)) }, request).await,
    }
}

impl Hall {
    fn pair(&self, number: String) -> Arc<Pair> {
        let known = self.pairs.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        known.unwrap_or_else(|| {
            let mut pairs = self.pairs.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(pairs.entry(number).or_default())
        })
    }

    /// The game goes a move on.
    fn advance(&self, pair: &Pair) {
        let mut course = pair.course.lock().unwrap_or_else(PoisonError::into_inner);
        let step = course.step;
        pair.tell(&mut course, &self.script.steps[step]);
        course.step += 1;
        if course.step == self.script.steps.len() {
            (course.step, course.games) = (0, course.games + 1);
            if course.games.is_multiple_of(SERIES) {
                course.ready = ByColor::default();
            } else {
                pair.tell(&mut course, &self.script.opening);
            }
        }
    }

    /// A bot is ready; when both are, a series begins.
    fn is_ready(&self, pair: &Pair, side: Color) {
        let mut course = pair.course.lock().unwrap_or_else(PoisonError::into_inner);
        course.ready[side] = true;
        if course.ready == ByColor::new(true, true) {
            pair.tell(&mut course, &self.script.opening);
        }
    }
}

impl Pair {
    fn enter(&self, side: Color) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(INBOX);
        self.course.lock().unwrap_or_else(PoisonError::into_inner).bots[side] = Some(sender);
        receiver
    }

    fn tell(&self, course: &mut Course, step: &Step) {
        for (side, messages) in step.told.iter() {
            let Some(bot) = &course.bots[side] else { continue };
            for message in messages {
                // One who does not read misses it, and the bench fails by that.
                let _ = bot.try_send(message.clone());
            }
        }
        for event in &step.events {
            course.seq += 1;
            if let Some(watchers) = self.watchers.get() {
                // Nobody watches any more.
                let _ = watchers.send(event.numbered(course.seq));
            }
        }
    }
}

type Feed = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

struct Play {
    hall: Arc<Hall>,
    pair: Arc<Pair>,
    side: Color,
}

impl StreamingService<Bytes> for Play {
    type Response = Bytes;
    type ResponseStream = Lane;
    type Future = Ready<Result<Response<Lane>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let told = self.pair.enter(self.side);
        let (hall, pair) = (Arc::clone(&self.hall), Arc::clone(&self.pair));
        ready(Ok(Response::new(Lane { hall, pair, moves: Some(request.into_inner()), told })))
    }
}

/// Messages down, and moves up.
struct Lane {
    hall: Arc<Hall>,
    pair: Arc<Pair>,
    /// Absent once the bot has closed its side.
    moves: Option<Streaming<Bytes>>,
    told: mpsc::Receiver<Bytes>,
}

impl Stream for Lane {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Some(moves) = &mut self.moves {
            match Pin::new(moves).poll_next(context) {
                Poll::Ready(Some(Ok(_))) => self.hall.advance(&self.pair),
                Poll::Ready(_) => self.moves = None,
                Poll::Pending => break,
            }
        }
        self.told.poll_recv(context).map(|message| message.map(Ok))
    }
}

struct Turns {
    pair: Arc<Pair>,
    side: Color,
}

impl ServerStreamingService<Bytes> for Turns {
    type Response = Bytes;
    type ResponseStream = Feed;
    type Future = Ready<Result<Response<Feed>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let told = tokio_stream::wrappers::ReceiverStream::new(self.pair.enter(self.side));
        ready(Ok(Response::new(Box::pin(told.map(Ok)))))
    }
}

struct Watch {
    hall: Arc<Hall>,
    pair: Arc<Pair>,
}

impl ServerStreamingService<Bytes> for Watch {
    type Response = Bytes;
    type ResponseStream = Feed;
    type Future = Ready<Result<Response<Feed>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let course = self.pair.course.lock().unwrap_or_else(PoisonError::into_inner);
        let events = self.pair.watchers.get_or_init(|| broadcast::Sender::new(LAG)).subscribe();
        let room = v1::Room { room_id: self.hall.script.room.clone(), seq: course.seq, ..Default::default() };
        let snapshot = v1::watch_room_response::Message::Snapshot(room);
        let snapshot = v1::WatchRoomResponse { message: Some(snapshot) }.encode_to_vec().into();
        let events = BroadcastStream::new(events);
        let events = events.map(|event| event.map_err(|_| Status::resource_exhausted("too far behind")));
        ready(Ok(Response::new(Box::pin(tokio_stream::once(Ok(snapshot)).chain(events)))))
    }
}

/// Any call that is not a stream.
struct Call {
    hall: Arc<Hall>,
    method: String,
    seat: Option<(Arc<Pair>, Color)>,
}

impl Call {
    fn answer(&self, wire: Bytes) -> Result<Bytes, Status> {
        let name = || v1::LogInRequest::decode(wire).map_err(|error| Status::invalid_argument(error.to_string()));
        Ok(match (self.method.as_str(), &self.seat) {
            ("LogIn", _) => v1::LogInResponse { player: None, token: name()?.display_name }.encode_to_vec().into(),
            ("CreateRoom", _) => {
                let room = v1::Room { room_id: self.hall.script.room.clone(), ..Default::default() };
                v1::CreateRoomResponse { room: Some(room) }.encode_to_vec().into()
            }
            ("PlayMove", Some((pair, _))) => {
                self.hall.advance(pair);
                v1::PlayMoveResponse { seq: 1 << 20, already_applied: false }.encode_to_vec().into()
            }
            ("SetReady", Some((pair, side))) => {
                self.hall.is_ready(pair, *side);
                Bytes::new()
            }
            // An empty message is one of any kind.
            _ => Bytes::new(),
        })
    }
}

impl UnaryService<Bytes> for Call {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        ready(self.answer(request.into_inner()).map(Response::new))
    }
}
