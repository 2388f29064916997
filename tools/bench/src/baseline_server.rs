//! The server to compare with: the same messages through bare tonic, without rules, storage and rooms.
//!
//! It takes the same calls as a server. A bot's name has the number of its pair, and is also its token. Any move sends
//! the next prepared messages to both streams of the pair. The watchers of a pair share the bytes of each event.

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
use reversi::{
    proto::{RawCodec, v1},
    rules::{ByColor, Color},
};
use tokio::{
    io::AsyncReadExt as _,
    net::TcpListener,
    sync::{broadcast, mpsc},
};
use tokio_stream::{
    Stream, StreamExt as _,
    wrappers::{BroadcastStream, ReceiverStream},
};
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::Service,
    server::Grpc,
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tracing::subscriber::NoSubscriber;

use crate::{
    connection::WINDOW,
    fixed_game::FixedGame,
    player_check::SERIES,
    prepared_messages::{PreparedMessages, PreparedStep},
};

/// Capacity of a bot's message queue. A game needs three at most.
const INBOX: usize = 64;

/// Maximum lag of a watcher, in events. Beyond it the stream fails, as the server cannot make a new snapshot.
const LAG: usize = 4_096;

/// Maximum streams of a connection: more than the bench opens.
const STREAMS: u32 = 1_000_000;

/// Serves until standard input is closed, which happens when the bench ends.
pub(crate) async fn run() -> anyhow::Result<()> {
    // With fewer files, connections fail and the bench reports it.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    // Without a subscriber the transport's spans would go to the `log` crate, which is slower.
    tracing::subscriber::set_global_default(NoSubscriber::default())?;
    let server =
        Arc::new(BaselineServer { prepared: PreparedMessages::new(&FixedGame::new())?, pairs: RwLock::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.context("there is no free port")?;
    println!("reversi is listening on {}", listener.local_addr()?);
    let routes = Routes::from(Router::new().fallback(answer).with_state(server));
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let mut server = Server::builder().max_concurrent_streams(STREAMS).initial_connection_window_size(WINDOW);
    let served = server.add_routes(routes).serve_with_incoming(incoming);
    let mut end = Vec::new();
    let mut input = tokio::io::stdin().take(1);
    tokio::select! {
        served = served => Ok(served?),
        _ = input.read_to_end(&mut end) => Ok(()),
    }
}

struct BaselineServer {
    prepared: PreparedMessages,
    pairs: RwLock<HashMap<String, Arc<BaselinePair>>>,
}

/// Two bots and their watchers.
#[derive(Default)]
struct BaselinePair {
    state: Mutex<PairState>,
    watchers: OnceLock<broadcast::Sender<Bytes>>,
}

#[derive(Default)]
struct PairState {
    ready: ByColor<bool>,
    /// The index of the next step.
    step: usize,
    games: u64,
    seq: u64,
    bots: ByColor<Option<mpsc::Sender<Bytes>>>,
}

/// The number of the pair and the side, from the token `SIDE NUMBER.SUFFIX`.
fn caller(request: &extract::Request) -> Option<(String, Color)> {
    let token = request.headers().get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    let (role, number) = token.split_once(' ')?;
    let side = if role == "white" { Color::White } else { Color::Black };
    Some((number.split('.').next()?.to_owned(), side))
}

async fn answer(State(server): State<Arc<BaselineServer>>, request: extract::Request) -> HttpResponse<Body> {
    let mut grpc = Grpc::new(RawCodec);
    let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
    let seat = caller(&request).map(|(number, side)| (server.pair(number), side));
    match (method.as_str(), &seat) {
        ("Play", Some((pair, side))) => {
            let play = |request: Request<Streaming<Bytes>>| {
                let (server, pair, events) = (Arc::clone(&server), Arc::clone(pair), pair.subscribe_bot(*side));
                stream_response(PlayMessages { server, pair, moves: Some(request.into_inner()), events })
            };
            grpc.streaming(Closure(play), request).await
        }
        ("WatchTurns", Some((pair, side))) => {
            let turns = |_: Request<Bytes>| stream_response(ReceiverStream::new(pair.subscribe_bot(*side)).map(Ok));
            grpc.server_streaming(Closure(turns), request).await
        }
        ("WatchRoom", Some((pair, _))) => {
            let watch = |_: Request<Bytes>| stream_response(server.watch(pair));
            grpc.server_streaming(Closure(watch), request).await
        }
        (method, seat) => {
            let call = |request: Request<Bytes>| {
                ready(server.call(method, seat.as_ref(), request.into_inner()).map(Response::new))
            };
            grpc.unary(Closure(call), request).await
        }
    }
}

/// A closure as a service.
struct Closure<F>(F);

impl<F: FnMut(Q) -> Ready<Result<A, Status>>, Q, A> Service<Q> for Closure<F> {
    type Response = A;
    type Error = Status;
    type Future = Ready<Result<A, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Q) -> Self::Future {
        (self.0)(request)
    }
}

fn stream_response<T>(stream: T) -> Ready<Result<Response<T>, Status>> {
    ready(Ok(Response::new(stream)))
}

impl BaselineServer {
    fn pair(&self, number: String) -> Arc<BaselinePair> {
        let known = self.pairs.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        known.unwrap_or_else(|| {
            let mut pairs = self.pairs.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(pairs.entry(number).or_default())
        })
    }

    /// Sends the messages of the next move.
    fn advance(&self, pair: &BaselinePair) {
        let mut state = pair.state.lock().unwrap_or_else(PoisonError::into_inner);
        let step = state.step;
        pair.send(&mut state, &self.prepared.steps[step]);
        state.step += 1;
        if state.step == self.prepared.steps.len() {
            (state.step, state.games) = (0, state.games + 1);
            if state.games.is_multiple_of(SERIES) {
                state.ready = ByColor::default();
            } else {
                pair.send(&mut state, &self.prepared.opening);
            }
        }
    }

    /// Marks a bot as ready; when both are, a series begins.
    fn set_ready(&self, pair: &BaselinePair, side: Color) {
        let mut state = pair.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready[side] = true;
        if state.ready == ByColor::new(true, true) {
            pair.send(&mut state, &self.prepared.opening);
        }
    }

    /// A snapshot of the room, then its events.
    fn watch(&self, pair: &BaselinePair) -> impl Stream<Item = Result<Bytes, Status>> + use<> {
        let state = pair.state.lock().unwrap_or_else(PoisonError::into_inner);
        let events = pair.watchers.get_or_init(|| broadcast::Sender::new(LAG)).subscribe();
        let room = v1::Room { room_id: self.prepared.room.clone(), seq: state.seq, ..Default::default() };
        let snapshot = v1::watch_room_response::Message::Snapshot(room);
        let snapshot = v1::WatchRoomResponse { message: Some(snapshot) }.encode_to_vec().into();
        let events = BroadcastStream::new(events);
        let events = events.map(|event| event.map_err(|_| Status::resource_exhausted("too far behind")));
        tokio_stream::once(Ok(snapshot)).chain(events)
    }

    fn call(&self, method: &str, seat: Option<&(Arc<BaselinePair>, Color)>, wire: Bytes) -> Result<Bytes, Status> {
        let name = || v1::LogInRequest::decode(wire).map_err(|error| Status::invalid_argument(error.to_string()));
        Ok(match (method, seat) {
            ("LogIn", _) => {
                v1::LogInResponse { token: name()?.display_name, ..Default::default() }.encode_to_vec().into()
            }
            ("CreateRoom", _) => {
                let room = v1::Room { room_id: self.prepared.room.clone(), ..Default::default() };
                v1::CreateRoomResponse { room: Some(room) }.encode_to_vec().into()
            }
            ("PlayMove", Some((pair, _))) => {
                self.advance(pair);
                v1::PlayMoveResponse { seq: 1 << 20, already_applied: false }.encode_to_vec().into()
            }
            ("SetReady", Some((pair, side))) => {
                self.set_ready(pair, *side);
                Bytes::new()
            }
            // An empty message is valid for any type.
            _ => Bytes::new(),
        })
    }
}

impl BaselinePair {
    fn subscribe_bot(&self, side: Color) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(INBOX);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bots[side] = Some(sender);
        receiver
    }

    fn send(&self, state: &mut PairState, step: &PreparedStep) {
        for (side, messages) in step.to_bots.iter() {
            let Some(bot) = &state.bots[side] else { continue };
            for message in messages {
                // A bot with a full queue misses it, and the bench fails.
                let _ = bot.try_send(message.clone());
            }
        }
        for event in &step.events {
            state.seq += 1;
            if let Some(watchers) = self.watchers.get() {
                // An error means that all watchers are gone.
                let _ = watchers.send(event.numbered(state.seq));
            }
        }
    }
}

/// The stream of a bot's messages, which also receives its moves.
struct PlayMessages {
    server: Arc<BaselineServer>,
    pair: Arc<BaselinePair>,
    /// `None` once the bot has closed its side.
    moves: Option<Streaming<Bytes>>,
    events: mpsc::Receiver<Bytes>,
}

impl Stream for PlayMessages {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Some(moves) = &mut self.moves {
            match Pin::new(moves).poll_next(context) {
                Poll::Ready(Some(Ok(_))) => self.server.advance(&self.pair),
                Poll::Ready(_) => self.moves = None,
                Poll::Pending => break,
            }
        }
        self.events.poll_recv(context).map(|message| message.map(Ok))
    }
}
