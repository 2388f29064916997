//! Attacks on the server. Each ends because the server closes its connections or has answered all of it.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use prost::Message as _;
use rand::{Rng as _, SeedableRng as _};
use reversi::proto::v1::{
    CreateRoomRequest, CreateRoomResponse, JoinRoomRequest, LogInRequest, LogInResponse, SetSeatRequest,
    WatchTurnsRequest, join_room_request, set_seat_request,
};
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
    /// Request heads on many connections that grow until they are refused.
    UnfinishedHeads,
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
    /// Log-ins with wrong secrets of an administrator on all permitted streams of a connection. All are answered.
    Secrets,
    /// Log-ins, then invitations by one player, of another one and of several, on all permitted streams of a
    /// connection. All are answered.
    Invitations,
    /// Log-ins of guests of many addresses in two networks, each with an open stream, through [`PROXY`].
    Guests,
}

/// A frame that costs a client nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flood {
    Settings,
    SettingsAck,
    /// Settings that change the windows of a thousand streams.
    InitialWindow,
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
            Self::SlowHeaders => concurrently(20, |_| slow_headers(address.to_owned(), 1)).await,
            Self::UnfinishedHeads => concurrently(1_000, |_| slow_headers(address.to_owned(), 1_024)).await,
            Self::EndlessContinuation => vec![continuation(address).await],
            Self::AllStreams => vec![all_streams(address).await],
            Self::Flood(flood) => vec![control_frames(address, flood).await],
            Self::LogIns => vec![log_ins(address).await],
            Self::Guesses => vec![guesses(address).await],
            Self::Passwords => vec![passwords(address).await],
            Self::Secrets => vec![secrets(address).await],
            Self::Invitations => vec![invitations(address).await],
            Self::Guests => concurrently(GUEST_GROUPS, |_| guests(address.to_owned())).await,
        }
    }

    /// Checks the bytes received from the server: refusals in most cases.
    pub(crate) fn check(self, received: Vec<Vec<u8>>) {
        match self {
            Self::RapidReset | Self::EndlessContinuation => assert_eq!(goaway(&received[0]), Some(ENHANCE_YOUR_CALM)),
            Self::IdleConnections(count) => assert!(received.len() == count && received.iter().all(Vec::is_empty)),
            Self::SlowHeaders => assert!(received.len() == 20 && received.iter().all(Vec::is_empty)),
            Self::UnfinishedHeads => {
                // A client that still sends may lose the answer.
                let (refused, lost): (Vec<_>, Vec<_>) =
                    received.iter().partition(|received| received.starts_with(b"HTTP/1.1 431 "));
                assert!(!refused.is_empty() && lost.iter().all(|lost| lost.is_empty()));
            }
            Self::RandomBytes => assert!(!received.is_empty()),
            Self::Guests => assert_eq!(received.len(), GUEST_GROUPS),
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
            Self::LogIns | Self::Guesses | Self::Passwords | Self::Secrets | Self::Invitations => {
                let answers = frames(&received[0]).filter(|(kind, _)| *kind == HEADERS).count();
                assert!(goaway(&received[0]).unwrap_or(0) == 0 && answers >= STREAMS - 1, "{answers}");
            }
        }
    }
}

fn count(received: &[u8], part: &[u8]) -> usize {
    received.windows(part.len()).filter(|window| *window == part).count()
}

/// The address of a proxy that the server should trust.
pub(crate) const PROXY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Connects from an address of its own, so that the limits by address tell attackers from players.
async fn connect(address: &str) -> TcpStream {
    connect_from(Ipv4Addr::new(127, 0, 0, 2), address).await
}

async fn connect_from(own: Ipv4Addr, address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((own, 0).into()).unwrap();
    socket.connect(address.parse().unwrap()).await.unwrap()
}

/// Sends bytes over a new connection, and returns what is received until the server closes it.
async fn send(address: &str, bytes: Vec<u8>) -> Vec<u8> {
    send_over(connect(address).await, bytes).await
}

/// Sends and receives at the same time, since the server may stop reading.
async fn send_over(socket: TcpStream, bytes: Vec<u8>) -> Vec<u8> {
    let (mut read_half, mut write_half) = socket.into_split();
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

/// Sends pieces of this many bytes.
async fn slow_headers(address: String, piece: usize) -> Vec<u8> {
    let mut socket = connect(&address).await;
    let mut received = [0; 1_024];
    let mut bytes = b"POST / HTTP/1.1\r\nslow: ".iter().copied().chain(std::iter::repeat(b'x'));
    loop {
        let piece: Vec<u8> = bytes.by_ref().take(piece).collect();
        if socket.write_all(&piece).await.is_err() {
            break;
        }
        // The rate of the attack: one piece, then a pause.
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
        Flood::InitialWindow => {
            [[0, 0], [255, 255]].map(|[high, low]| frame(SETTINGS, 0, 0, &[0, 4, 0, 0, high, low])).concat()
        }
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
    // The server answers a call without a token after a while.
    let streams = if matches!(flood, Flood::InitialWindow) { 1_000 } else { 1 };
    for stream in (1..).step_by(2).take(streams) {
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &call(PATH)));
    }
    for _ in 0..40_000 {
        bytes.extend(&control_frame);
    }
    send(address, bytes).await
}

/// The bytes of a connection with these calls, each with its headers and its message on a stream of its own.
fn calls(calls: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Vec<u8> {
    let mut bytes = client_preface();
    for (stream, (headers, message)) in (1..).step_by(2).zip(calls) {
        bytes.extend(unary_call(stream, &headers, &message));
    }
    bytes.extend(goaway_frame());
    bytes
}

/// The answers to unary calls that succeeded.
fn answers<M: prost::Message + Default>(received: &[u8]) -> impl Iterator<Item = M> {
    let messages = frames(received).filter(|(kind, _)| *kind == DATA);
    messages.filter_map(|(_, payload)| M::decode(payload.get(5..)?).ok())
}

async fn log_ins(address: &str) -> Vec<u8> {
    send(address, calls((0..STREAMS).map(|_| (call(LOG_IN), log_in_request())))).await
}

const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

async fn secrets(address: &str) -> Vec<u8> {
    let headers = [call(LOG_IN), header("reversi-admin", &"5".repeat(64))].concat();
    send(address, calls((0..STREAMS).map(|_| (headers.clone(), log_in_request())))).await
}

async fn guesses(address: &str) -> Vec<u8> {
    let headers = call_of("/reversi.v1.RoomService/JoinRoom", &log_in(address).await.token);
    let guess = |number: usize| {
        let room = Some(join_room_request::Room::JoinCode(format!("{number:08}")));
        JoinRoomRequest { room, ..JoinRoomRequest::default() }.encode_to_vec()
    };
    send(address, calls((0..STREAMS).map(|number| (headers.clone(), guess(number))))).await
}

const CREATE_ROOM: &str = "/reversi.v1.LobbyService/CreateRoom";

async fn passwords(address: &str) -> Vec<u8> {
    let headers = call_of(CREATE_ROOM, &log_in(address).await.token);
    let locked = |number: usize| CreateRoomRequest { password: number.to_string(), ..CreateRoomRequest::default() };
    send(address, calls((0..STREAMS).map(|number| (headers.clone(), locked(number).encode_to_vec())))).await
}

/// Players who are invited.
const INVITED: usize = 8;

async fn invitations(address: &str) -> Vec<u8> {
    let inviter = log_in(address).await.token;
    let mut invited = Vec::new();
    for _ in 0..INVITED {
        invited.push(log_in(address).await.player.unwrap_or_default().player_id);
    }
    let created = send(address, calls([(call_of(CREATE_ROOM, &inviter), Vec::new())])).await;
    let room = answers::<CreateRoomResponse>(&created).next().unwrap_or_default().room.unwrap_or_default();
    let headers = call_of("/reversi.v1.RoomService/SetSeat", &inviter);
    // Every other one to the first player.
    let invitation = |number: usize| {
        let guest = invited[if number.is_multiple_of(2) { 0 } else { number / 2 % INVITED }].clone();
        let occupant = Some(set_seat_request::Occupant::ReservedFor(guest));
        SetSeatRequest { room_id: room.room_id.clone(), seat: 1, occupant }.encode_to_vec()
    };
    send(address, calls((0..STREAMS).map(|number| (headers.clone(), invitation(number))))).await
}

/// Connections with guests at a time, guests of each, and how long their streams stay open.
const GUEST_GROUPS: usize = 20;
const GUESTS: usize = 100;
const GUESTS_STAY: Duration = Duration::from_secs(1);

async fn guests(address: String) -> Vec<u8> {
    let from = |number: usize| {
        let network = number % 2 + 1;
        // The /64 that follow each other are in different /56.
        let subnet = next_number() % 256 * 257;
        header("x-forwarded-for", &format!("2001:db8:{network}:{subnet:x}::1"))
    };
    let log_ins = (0..GUESTS).map(|number| ([call(LOG_IN), from(number)].concat(), log_in_request()));
    let logged_in = send_over(connect_from(PROXY, &address).await, calls(log_ins)).await;
    let tokens = answers::<LogInResponse>(&logged_in).map(|answer| answer.token).enumerate();
    let streams = tokens.map(|(number, token)| {
        let headers = [call_of("/reversi.v1.GameService/WatchTurns", &token), from(number)].concat();
        (headers, WatchTurnsRequest::default().encode_to_vec())
    });
    let streams = send_over(connect_from(PROXY, &address).await, calls(streams));
    timeout(GUESTS_STAY, streams).await.unwrap_or_default()
}

/// A log-in with a name that was not used before.
fn log_in_request() -> Vec<u8> {
    let display_name = format!("Flood {}", next_number());
    LogInRequest { display_name, ..LogInRequest::default() }.encode_to_vec()
}

fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Relaxed)
}

/// A new player; none if log-ins are refused.
async fn log_in(address: &str) -> LogInResponse {
    let received = send(address, calls([(call(LOG_IN), log_in_request())])).await;
    answers(&received).next().unwrap_or_default()
}

/// The headers of a call of a player.
fn call_of(path: &str, token: &str) -> Vec<u8> {
    [call(path), header("authorization", &format!("Bearer {token}"))].concat()
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
