//! Texts of a hostile server must not control the terminal of a user.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use http_body::Frame;
use prost::{Message, bytes::Bytes};
use reversi::proto::v1;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Code, Status,
    body::Body,
    service::Routes,
    transport::{Server, server::Router},
};

use super::command::{reversi, text};

/// Clears the screen, sets the title, begins a line, and reverses the rest of it.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{1b}]0;title\u{7}\r\nforged line \u{202e}desrever";

/// A server that answers every call with hostile texts; it refuses the log-in of `play`.
fn hostile() -> Router {
    let answer = async |request: axum::extract::Request<axum::body::Body>| {
        let call = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        // Other requests may be streams, which do not end before the answer.
        let body = match call.as_str() {
            "LogIn" => axum::body::to_bytes(request.into_body(), 1 << 16).await.unwrap(),
            _ => Default::default(),
        };
        answer(&call, &body)
    };
    Server::builder().add_routes(Routes::from(axum::Router::new().fallback(answer)))
}

fn answer(call: &str, request: &[u8]) -> http::Response<Body> {
    match call {
        // As an error of the transport: without a reason.
        "LogIn" if v1::LogInRequest::decode(&request[5..]).unwrap().display_name.starts_with("guest") => {
            Status::unknown(HOSTILE).into_http()
        }
        "LogIn" => message(&v1::LogInResponse {
            // The client refuses control characters in names.
            player: Some(v1::Player { display_name: "eve\u{202e}".into(), ..player() }),
            token: "token".into(),
            ..Default::default()
        }),
        "GetServerInfo" => {
            let kind = v1::AiKind { kind: HOSTILE.into(), levels: 1, default_level: 1, ..Default::default() };
            message(&v1::GetServerInfoResponse { ai_kinds: vec![kind], ..Default::default() })
        }
        "ExportGames" => message(&v1::ExportGamesResponse { game_id: "g1".into(), line: HOSTILE.into() }),
        "WatchRoom" => {
            message(&v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Snapshot(room())) })
        }
        _ => {
            let mut status = Status::new(Code::InvalidArgument, HOSTILE);
            status.metadata_mut().insert("reversi-reason", "BAD_ARGUMENT".parse().unwrap());
            status.into_http()
        }
    }
}

fn player() -> v1::Player {
    let kind = v1::PlayerKind::Bot.into();
    v1::Player { player_id: "p1".into(), display_name: "eve".into(), kind, ..Default::default() }
}

/// A room with a line of chat.
pub(super) fn room() -> v1::Room {
    let open = || v1::Seat { occupant: Some(v1::seat::Occupant::Open(v1::OpenSeat {})), ..Default::default() };
    let author = v1::Player { player_id: "p2".into(), display_name: "mallory".into(), ..Default::default() };
    v1::Room {
        room_id: "000000000000".into(),
        phase: v1::RoomPhase::Lobby.into(),
        settings: Some(v1::RoomSettings { visibility: v1::Visibility::Public.into(), ..Default::default() }),
        seats: vec![open(), open()],
        chat: vec![v1::ChatLine { player: Some(author), text: HOSTILE.into(), ..Default::default() }],
        ..Default::default()
    }
}

/// A successful answer of one message.
pub(super) fn message(message: &impl Message) -> http::Response<Body> {
    let bytes = message.encode_to_vec();
    let mut frame = vec![0];
    frame.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
    frame.extend(bytes);
    let trailers = http::HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), 0.into())]);
    let frames = Frames([Frame::data(frame.into()), Frame::trailers(trailers)].into());
    http::Response::builder().header("content-type", "application/grpc").body(Body::new(frames)).unwrap()
}

/// A body in given frames.
struct Frames(VecDeque<Frame<Bytes>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_a_server_do_not_control_the_terminal() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(hostile().serve_with_incoming(TcpListenerStream::new(listener)));
    for (arguments, part) in [
        (&["play"][..], "cannot log in: "),
        (&["bot", "--games", "1"], "eve is logged in"),
        (&["bot", "--vs", "greedy"], "this server has [2J31m]0;title"),
        (&["games", "--export", "ggf"], "[2J31m]0;title"),
        (&["games"], "cannot list the games: [2J"),
        (&["watch", "000000000000", "--once"], "waiting for the game to begin"),
        (&["host"], "cannot make a room: [2J"),
        (&["rooms", "--once"], "cannot list the rooms: [2J"),
    ] {
        check(arguments, &reversi(arguments).env("REVERSI_SERVER", &url).output().unwrap(), part);
    }
}

/// Its clock may be running: it waits longer only if streams fail one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_whose_streams_end_after_an_event_waits_only_shortly() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let streams = Arc::new(AtomicU32::new(0));
    let answer = move |path: http::Uri| {
        let event = Some(v1::play_event::Event::Heartbeat(v1::Heartbeat::default()));
        let call = path.path().rsplit('/').next().unwrap_or_default().to_owned();
        let is_stream = call == "Play" && streams.fetch_add(1, Relaxed) < 3;
        let room = v1::Room { members: vec![v1::Member { player: Some(player()), ..Default::default() }], ..room() };
        let answer = match call.as_str() {
            "LogIn" => {
                message(&v1::LogInResponse { player: Some(player()), token: "token".into(), ..Default::default() })
            }
            "GetMe" => message(&v1::GetMeResponse { player: Some(player()), ..Default::default() }),
            "SetEngineVersion" => message(&v1::SetEngineVersionResponse {}),
            "SetAvailability" => message(&v1::SetAvailabilityResponse {}),
            "QuickStart" => message(&v1::QuickStartResponse { room: Some(room) }),
            _ if is_stream => message(&v1::PlayResponse { event: Some(v1::PlayEvent { event }) }),
            _ => answer(&call, &[]),
        };
        std::future::ready(answer)
    };
    let mut server = JoinSet::new();
    let routes = Routes::from(axum::Router::new().fallback(answer));
    server.spawn(Server::builder().add_routes(routes).serve_with_incoming(TcpListenerStream::new(listener)));
    let output = reversi(&["bot", "--quick", "--games", "1"]).env("REVERSI_SERVER", &url).output().unwrap();
    let printed = text(&output.stdout);
    let waits: Vec<_> = printed.lines().filter_map(|line| line.split_once("; trying again in ")).collect();
    assert_eq!(waits.iter().map(|(_, wait)| *wait).collect::<Vec<_>>(), ["0.2 s"; 3], "{printed}");
}

fn check(arguments: &[&str], output: &Output, part: &str) {
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert!(printed.contains(part), "{arguments:?} printed {printed:?}");
    let forbidden = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
    assert!(!printed.contains(forbidden), "{arguments:?} printed {printed:?}");
    assert!(!printed.lines().any(|line| line.starts_with("forged")), "{arguments:?} printed {printed:?}");
}
