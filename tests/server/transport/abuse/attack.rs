//! Attacks on the server. Each ends because the server closes its connections or has answered all of it.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use prost::Message as _;
use rand::{Rng as _, SeedableRng as _};
use reversi::proto::v1::{CreateRoomRequest, JoinRoomRequest, LogInRequest, LogInResponse, join_room_request};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

use super::frame::{
    ACK, CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INDEXED_CALL, PADDED, PING, PRIORITY,
    RST_STREAM, SETTINGS, UNKNOWN, WINDOW_UPDATE, call, client_preface, frame, frames, goaway, goaway_frame, header,
    indexed_call, unary_call,
};

/// The path of most attacks: a method that needs a token.
const PATH: &str = "/reversi.v1.SessionService/GetMe";

/// The HTTP/2 error code ENHANCE_YOUR_CALM.
const ENHANCE_YOUR_CALM: u32 = 11;

/// The HTTP/2 error code PROTOCOL_ERROR.
const PROTOCOL_ERROR: u32 = 1;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Attack {
    /// Streams that are reset as soon as they are open.
    RapidReset,
    /// This number of connections without any data.
    IdleConnections(usize),
    /// Random bytes, and a TLS handshake without TLS on the server.
    RandomBytes,
    /// HTTP/1.1 requests on many connections, calls and the page, as fast as possible.
    Http1Requests,
    /// Many more headers than any call has, over both protocols.
    LargeHeaders,
    /// A request head sent one byte at a time.
    SlowHeaders,
    /// An HTTP/2 head with endless continuations.
    EndlessContinuation,
    /// The first byte of a message on each permitted stream of a connection, all at once. This is no attack, and all
    /// streams are answered.
    AllStreams,
    /// The same control frame again and again.
    Flood(Flood),
    /// Log-ins on all permitted streams of a connection. All are answered.
    LogIns,
    /// A log-in, then guesses of join codes on all permitted streams of a connection. All are answered.
    Guesses,
    /// A log-in, then rooms with passwords on all permitted streams of a connection. All are answered.
    Passwords,
}

/// A frame that costs a client nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flood {
    Settings,
    SettingsAck,
    Ping,
    PingAck,
    WindowUpdate,
    Unknown,
    /// Resets of one stream.
    Reset,
    EmptyData,
    /// Data that is only padding.
    PaddedData,
    Priority,
}

impl Attack {
    /// Attacks until the server has closed or answered everything. Returns the bytes received on each connection.
    pub(crate) async fn once(self, address: &str) -> Vec<Vec<u8>> {
        match self {
            Self::RapidReset => vec![rapid_reset(address).await],
            Self::IdleConnections(count) => idle_connections(address, count).await,
            Self::RandomBytes => random_bytes(address).await,
            Self::Http1Requests => requests(address).await,
            Self::LargeHeaders => large_headers(address).await,
            Self::SlowHeaders => concurrently(20, |_| slow_headers(address.to_owned())).await,
            Self::EndlessContinuation => vec![continuation(address).await],
            Self::AllStreams => vec![all_streams(address).await],
            Self::Flood(flood) => vec![control_frames(address, flood).await],
            Self::LogIns => vec![log_ins(address).await],
            Self::Guesses => vec![guesses(address).await],
            Self::Passwords => vec![passwords(address).await],
        }
    }

    /// Checks the bytes received from the server: refusals in most cases.
    pub(crate) fn check(self, received: Vec<Vec<u8>>) {
        match self {
            Self::RapidReset | Self::EndlessContinuation => assert_eq!(goaway(&received[0]), Some(ENHANCE_YOUR_CALM)),
            Self::IdleConnections(count) => assert!(received.len() == count && received.iter().all(Vec::is_empty)),
            Self::SlowHeaders => assert!(received.len() == 20 && received.iter().all(Vec::is_empty)),
            Self::RandomBytes => assert!(!received.is_empty()),
            Self::Http1Requests => {
                let answers = received.iter().map(|received| count(received, b"HTTP/1.1 ")).collect::<Vec<_>>();
                assert!(answers.iter().all(|&answers| answers == REQUESTS), "{answers:?}");
            }
            Self::LargeHeaders => {
                assert!(count(&received[0], b"HTTP/1.1 431") == 1 && count(&received[1], PATH.as_bytes()) == 0)
            }
            Self::AllStreams => {
                let answers = frames(&received[0]).filter(|(kind, _)| *kind == HEADERS).count();
                assert_eq!((goaway(&received[0]).unwrap_or(0), answers), (0, STREAMS));
            }
            // The transport also refuses acknowledgements without settings; its answer comes first if they are slow.
            Self::Flood(Flood::SettingsAck) => {
                assert!(matches!(goaway(&received[0]), Some(ENHANCE_YOUR_CALM | PROTOCOL_ERROR)));
            }
            Self::Flood(flood) => assert_eq!(goaway(&received[0]), Some(ENHANCE_YOUR_CALM), "{flood:?}"),
            Self::LogIns | Self::Guesses | Self::Passwords => {
                let answers = frames(&received[0]).filter(|(kind, _)| *kind == HEADERS).count();
                assert!(goaway(&received[0]).unwrap_or(0) == 0 && answers >= STREAMS - 1, "{answers}");
            }
        }
    }
}

fn count(received: &[u8], part: &[u8]) -> usize {
    received.windows(part.len()).filter(|window| *window == part).count()
}

/// Connects from an address of its own, so that the limits by address tell attackers from players.
async fn connect(address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 2], 0).into()).unwrap();
    socket.connect(address.parse().unwrap()).await.unwrap()
}

/// Sends bytes, and returns what is received until the server closes the connection. Both at the same time, since the
/// server may stop reading.
async fn send(address: &str, bytes: Vec<u8>) -> Vec<u8> {
    let (mut read_half, mut write_half) = connect(address).await.into_split();
    let writing = async {
        let _ = write_half.write_all(&bytes).await;
        std::future::pending::<()>().await;
    };
    let mut received = Vec::new();
    tokio::select! {
        _ = read_half.read_to_end(&mut received) => {}
        () = writing => {}
    }
    received
}

async fn rapid_reset(address: &str) -> Vec<u8> {
    let headers = call(PATH);
    let mut bytes = client_preface();
    for stream in (1..40_000).step_by(2) {
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &headers));
        bytes.extend(frame(RST_STREAM, 0, stream, &CANCEL));
    }
    send(address, bytes).await
}

async fn idle_connections(address: &str, count: usize) -> Vec<Vec<u8>> {
    let mut all = JoinSet::new();
    // In groups that fit into the kernel's queue, so that no connection is retried.
    while all.len() < count {
        let mut group = JoinSet::new();
        for _ in 0..IDLE_GROUP.min(count - all.len()) {
            let address = address.to_owned();
            group.spawn(async move { connect(&address).await });
        }
        for mut socket in group.join_all().await {
            all.spawn(async move {
                let mut received = Vec::new();
                let _ = socket.read_to_end(&mut received).await;
                received
            });
        }
        // An answered request shows that all earlier connections are accepted.
        send(address, b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".to_vec()).await;
    }
    all.join_all().await
}

/// Number of connections opened at the same time.
const IDLE_GROUP: usize = 100;

/// The start of a TLS ClientHello.
const CLIENT_HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not a TLS server";

async fn random_bytes(address: &str) -> Vec<Vec<u8>> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(7);
    let mut noises = vec![CLIENT_HELLO.to_vec()];
    for _ in 0..100 {
        let mut random_bytes = vec![0; 512];
        random.fill_bytes(&mut random_bytes);
        noises.push(random_bytes);
    }
    concurrently(noises.len(), |number| {
        let (address, random_bytes) = (address.to_owned(), noises[number].clone());
        async move { send(&address, random_bytes).await }
    })
    .await
}

/// Requests on one connection.
const REQUESTS: usize = 100;

async fn requests(address: &str) -> Vec<Vec<u8>> {
    let request = |more: &str| {
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+proto\r\n{more}\
             content-length: 5\r\n\r\n\0\0\0\0\0"
        )
    };
    let page = |more: &str| format!("GET / HTTP/1.1\r\nhost: localhost\r\n{more}\r\n");
    let last = "connection: close\r\n";
    let bytes = [request("").repeat(REQUESTS - 1) + &request(last), page("").repeat(REQUESTS - 1) + &page(last)];
    concurrently(20, |number| {
        let (address, bytes) = (address.to_owned(), bytes[number % 2].clone().into_bytes());
        async move { send(&address, bytes).await }
    })
    .await
}

async fn large_headers(address: &str) -> Vec<Vec<u8>> {
    let old = format!("POST {PATH} HTTP/1.1\r\nhost: localhost\r\nlarge: {}\r\n\r\n", "x".repeat(1 << 20));
    let mut block = call(PATH);
    for _ in 0..40 {
        block.extend(header("large", &"x".repeat(1_000)));
    }
    let mut bytes = client_preface();
    let mut pieces = block.chunks(16_384).peekable();
    let mut kind = HEADERS;
    while let Some(piece) = pieces.next() {
        let first = if kind == HEADERS { END_STREAM } else { 0 };
        let last = if pieces.peek().is_none() { END_HEADERS } else { 0 };
        bytes.extend(frame(kind, first | last, 1, piece));
        kind = CONTINUATION;
    }
    bytes.extend(goaway_frame());
    vec![send(address, old.into_bytes()).await, send(address, bytes).await]
}

async fn slow_headers(address: String) -> Vec<u8> {
    let mut socket = connect(&address).await;
    let mut received = [0; 1_024];
    for byte in b"POST / HTTP/1.1\r\nslow: ".iter().copied().chain(std::iter::repeat(b'x')) {
        if socket.write_all(&[byte]).await.is_err() {
            break;
        }
        // The rate of the attack: one byte, then a pause.
        match timeout(Duration::from_millis(50), socket.read(&mut received)).await {
            Err(_) => {}
            Ok(heard) => return received[..heard.unwrap_or(0)].to_vec(),
        }
    }
    Vec::new()
}

async fn continuation(address: &str) -> Vec<u8> {
    let filler = header("more", &"x".repeat(1_000));
    let mut bytes = client_preface();
    bytes.extend(frame(HEADERS, END_STREAM, 1, &call(PATH)));
    for _ in 0..20_000 {
        bytes.extend(frame(CONTINUATION, 0, 1, &filler));
    }
    send(address, bytes).await
}

/// The permitted streams of a connection.
pub(crate) const STREAMS: usize = 1_024;

async fn all_streams(address: &str) -> Vec<u8> {
    let mut headers = indexed_call(PATH);
    let mut bytes = client_preface();
    // In few bytes, so that everything arrives before anything is answered.
    for stream in (1..).step_by(2).take(STREAMS) {
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &headers));
        bytes.extend(frame(DATA, 0, stream, &[0]));
        headers = INDEXED_CALL.to_vec();
    }
    bytes.extend(goaway_frame());
    send(address, bytes).await
}

async fn control_frames(address: &str, flood: Flood) -> Vec<u8> {
    let control_frame = match flood {
        Flood::Settings => frame(SETTINGS, 0, 0, &[]),
        Flood::SettingsAck => frame(SETTINGS, ACK, 0, &[]),
        Flood::Ping => frame(PING, 0, 0, &[7; 8]),
        Flood::PingAck => frame(PING, ACK, 0, &[7; 8]),
        Flood::WindowUpdate => frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        Flood::Unknown => frame(UNKNOWN, 0, 0, &[]),
        Flood::Reset => frame(RST_STREAM, 0, 1, &CANCEL),
        Flood::EmptyData => frame(DATA, 0, 1, &[]),
        Flood::PaddedData => frame(DATA, PADDED, 1, &[0]),
        Flood::Priority => frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 16]),
    };
    let mut bytes = client_preface();
    bytes.extend(frame(HEADERS, END_HEADERS, 1, &call(PATH)));
    for _ in 0..40_000 {
        bytes.extend(&control_frame);
    }
    send(address, bytes).await
}

async fn log_ins(address: &str) -> Vec<u8> {
    let headers = call(LOG_IN);
    let mut bytes = client_preface();
    for stream in (1..).step_by(2).take(STREAMS) {
        bytes.extend(unary_call(stream, &headers, &log_in_request()));
    }
    bytes.extend(goaway_frame());
    send(address, bytes).await
}

const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

async fn guesses(address: &str) -> Vec<u8> {
    call_on_all_streams(address, "/reversi.v1.RoomService/JoinRoom", |number| {
        let room = Some(join_room_request::Room::JoinCode(format!("{number:08}")));
        JoinRoomRequest { room, ..JoinRoomRequest::default() }.encode_to_vec()
    })
    .await
}

async fn passwords(address: &str) -> Vec<u8> {
    call_on_all_streams(address, "/reversi.v1.LobbyService/CreateRoom", |number| {
        CreateRoomRequest { password: number.to_string(), ..CreateRoomRequest::default() }.encode_to_vec()
    })
    .await
}

/// Logs in, and makes a call on each permitted stream of a connection.
async fn call_on_all_streams(address: &str, path: &str, request: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut headers = call(path);
    headers.extend(header("authorization", &format!("Bearer {}", log_in(address).await)));
    let mut bytes = client_preface();
    for (number, stream) in (1..).step_by(2).take(STREAMS).enumerate() {
        bytes.extend(unary_call(stream, &headers, &request(number)));
    }
    bytes.extend(goaway_frame());
    send(address, bytes).await
}

/// A log-in with a name that was not used before.
fn log_in_request() -> Vec<u8> {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let display_name = format!("Flood {}", NAMES.fetch_add(1, Relaxed));
    LogInRequest { display_name, ..LogInRequest::default() }.encode_to_vec()
}

/// The token of a new player; empty if log-ins are refused.
async fn log_in(address: &str) -> String {
    let mut bytes = client_preface();
    bytes.extend(unary_call(1, &call(LOG_IN), &log_in_request()));
    bytes.extend(goaway_frame());
    let received = send(address, bytes).await;
    let answer = frames(&received).find(|(kind, _)| *kind == DATA).and_then(|(_, payload)| payload.get(5..));
    answer.and_then(|answer| LogInResponse::decode(answer).ok()).unwrap_or_default().token
}

/// Runs `count` attacks at the same time.
async fn concurrently<F>(count: usize, make: impl Fn(usize) -> F) -> Vec<Vec<u8>>
where
    F: Future<Output = Vec<u8>> + Send + 'static,
{
    let mut all = JoinSet::new();
    for number in 0..count {
        all.spawn(make(number));
    }
    all.join_all().await
}
