//! Other protocols on the port: gRPC-Web over HTTP/1.1, and reflection.

use std::collections::BTreeSet;

use prost::Message as _;
use reversi::{grpc::Access, proto::v1, web::page};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tonic::{Request, metadata::MetadataMap};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::harness::in_process::{ServerOptions, TestServer, refusal, within};

/// A call like a browser's: one HTTP/1.1 request, binary gRPC-Web.
async fn post(server: &TestServer, path: &str, token: &str, message: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(&server.address).await.unwrap();
    let head = format!(
        "POST /reversi.v1.{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/grpc-web+proto\r\nx-grpc-web: 1\r\n\
         authorization: Bearer {token}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        server.address,
        message.len() + 5
    );
    let mut bytes = head.into_bytes();
    bytes.push(0);
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    socket.write_all(&bytes).await.unwrap();
    socket
}

/// Reads the head of an answer, including the empty line.
async fn head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(socket.read_u8()).await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// The next chunks of a chunked body, as received; none at its end.
async fn chunk(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(within(socket.read_u8()).await.unwrap());
    }
    let length = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
    let mut chunk = vec![0; length + 2];
    within(socket.read_exact(&mut chunk)).await.unwrap();
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// One gRPC-Web frame: its flag and its content.
struct Frames<'a> {
    socket: &'a mut TcpStream,
    read: Vec<u8>,
}

impl Frames<'_> {
    async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if self.read.len() >= 5 {
                let length = usize::try_from(u32::from_be_bytes(self.read[1..5].try_into().unwrap())).unwrap();
                if self.read.len() >= 5 + length {
                    let frame: Vec<u8> = self.read.drain(..5 + length).collect();
                    return Some((frame[0], frame[5..].to_vec()));
                }
            }
            self.read.extend(chunk(self.socket).await?);
        }
    }
}

/// Its message does not come.
#[tokio::test]
async fn a_call_that_is_not_answered_in_the_time_of_its_client_exceeds_its_deadline() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut socket = TcpStream::connect(&server.address).await.unwrap();
    let request = format!(
        "POST /reversi.v1.SessionService/GetMe HTTP/1.1\r\nhost: {}\r\ncontent-type: application/grpc-web+proto\r\n\
         authorization: Bearer {}\r\ngrpc-timeout: 50m\r\ncontent-length: 5\r\n\r\n",
        server.address, ada.token
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let head = head(&mut socket).await;
    assert!(head.contains("grpc-status: 4\r\n") && head.contains("reversi-reason: DEADLINE_EXCEEDED\r\n"), "{head}");
}

#[tokio::test]
async fn a_browser_makes_unary_calls() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut socket = post(&server, "SessionService/GetMe", &ada.token, &v1::GetMeRequest {}.encode_to_vec()).await;
    let head = head(&mut socket).await;
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/grpc-web+proto"), "{head}");
    let mut frames = Frames { socket: &mut socket, read: Vec::new() };
    let (flag, message) = frames.next().await.unwrap();
    let me = v1::GetMeResponse::decode(message.as_slice()).unwrap();
    assert_eq!((flag, me.player.unwrap().player_id), (0, ada.id));
    let (flag, trailers) = frames.next().await.unwrap();
    assert_eq!((flag, String::from_utf8(trailers).unwrap().contains("grpc-status:0")), (0x80, true));
    assert!(frames.next().await.is_none());
}

#[tokio::test]
async fn a_browser_reads_streams_incrementally() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let room = ada.create(v1::RoomSettings::default()).await.room_id;
    let request = v1::WatchRoomRequest { room_id: room.clone(), ..Default::default() }.encode_to_vec();
    let mut socket = post(&server, "RoomService/WatchRoom", &ada.token, &request).await;
    head(&mut socket).await;
    let mut frames = Frames { socket: &mut socket, read: Vec::new() };
    let mut seqs = Vec::new();
    for text in ["first", "second"] {
        let (flag, message) = frames.next().await.unwrap();
        let message = v1::WatchRoomResponse::decode(message.as_slice()).unwrap().message.unwrap();
        seqs.push(match message {
            v1::watch_room_response::Message::Snapshot(room) => room.seq,
            v1::watch_room_response::Message::Event(event) => event.seq,
            other => panic!("unexpected {other:?}"),
        });
        assert_eq!(flag, 0);
        ada.chat(&room, text).await.unwrap();
    }
    assert_eq!(seqs, [1, 2]);
    ada.leave(&room).await.unwrap();
    let mut last = frames.next().await.unwrap();
    while let Some(frame) = frames.next().await {
        assert_eq!(last.0, 0);
        last = frame;
    }
    assert_eq!((last.0, String::from_utf8(last.1).unwrap().contains("grpc-status:0")), (0x80, true));
}

#[tokio::test]
async fn a_browser_gets_the_reason_of_a_refusal() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let request = v1::GetRoomRequest { room_id: "nonsense".into(), ..Default::default() }.encode_to_vec();
    let mut socket = post(&server, "RoomService/GetRoom", &ada.token, &request).await;
    let head = head(&mut socket).await;
    assert!(head.contains("grpc-status: 5") && head.contains("reversi-reason: ROOM_NOT_FOUND"), "{head}");
}

#[tokio::test]
async fn a_browser_gets_the_error_of_an_unreadable_message() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    // A field that is longer than the message.
    let mut socket = post(&server, "RoomService/GetRoom", &ada.token, &[0x0a, 0x7f]).await;
    let head = head(&mut socket).await;
    assert!(head.contains("grpc-status: 3") && head.contains("reversi-reason: BAD_MESSAGE"), "{head}");
    assert!(head.contains("grpc-status-details-bin: ") && head.matches("grpc-message").count() == 1, "{head}");
}

#[tokio::test]
async fn a_second_message_of_a_unary_call_is_refused() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let room = ada.create(v1::RoomSettings::default()).await.room_id;
    let chat = |text: &str| v1::PostChatRequest { room_id: room.clone(), text: text.into() }.encode_to_vec();
    let second = chat("two");
    let mut socket = TcpStream::connect(&server.address).await.unwrap();
    let mut body = Vec::new();
    for message in [chat("one"), second] {
        body.push(0);
        body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
        body.extend(message);
    }
    let request = format!(
        "POST /reversi.v1.RoomService/PostChat HTTP/1.1\r\nhost: {}\r\ncontent-type: application/grpc-web+proto\r\n\
         authorization: Bearer {}\r\ncontent-length: {}\r\n\r\n",
        server.address,
        ada.token,
        body.len()
    );
    socket.write_all(&[request.into_bytes(), body].concat()).await.unwrap();
    let head = head(&mut socket).await;
    assert!(head.contains("grpc-status: 3\r\n") && head.contains("reversi-reason: BAD_MESSAGE\r\n"), "{head}");
    assert!(head.contains("grpc-message: this%20method%20takes%20one%20message"), "{head}");
    assert!(ada.room(&room).await.chat.is_empty(), "nothing is carried out");
}

/// As a proxy sends it that speaks HTTP/1 to its servers.
#[tokio::test]
async fn grpc_over_http1_is_told_that_it_needs_http2() {
    let server = TestServer::open().await;
    for (version, kind) in [("1.0", "application/grpc"), ("1.1", "application/grpc+proto")] {
        let mut socket = TcpStream::connect(&server.address).await.unwrap();
        let request = format!(
            "POST /reversi.v1.SessionService/LogIn HTTP/{version}\r\nhost: {}\r\ncontent-type: {kind}\r\n\
             content-length: 5\r\n\r\n\0\0\0\0\0",
            server.address
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let head = head(&mut socket).await;
        assert!(head.starts_with(&format!("HTTP/{version} 200 OK\r\n")), "{head}");
        assert!(head.contains("content-type: application/grpc\r\n") && head.contains("grpc-status: 12\r\n"), "{head}");
        assert!(head.contains("grpc-message: gRPC%20needs%20HTTP/2") && head.contains("grpc_pass"), "{head}");
    }
}

/// The heads of the answers to a page of an origin: to its preflight request, then to a call.
async fn answers_to_origin(server: &TestServer, origin: &str) -> [String; 2] {
    let path = "/reversi.v1.SessionService/GetMe HTTP/1.1";
    let common = format!("host: {}\r\norigin: {origin}\r\nconnection: close", server.address);
    let may = "access-control-request-method: POST\r\naccess-control-request-headers: authorization,x-grpc-web";
    let call = "content-type: application/grpc-web+proto\r\ncontent-length: 5";
    let requests = [
        format!("OPTIONS {path}\r\n{common}\r\n{may}\r\n\r\n"),
        format!("POST {path}\r\n{common}\r\n{call}\r\n\r\n\0\0\0\0\0"),
    ];
    let mut heads = [String::new(), String::new()];
    for (request, answer) in requests.iter().zip(&mut heads) {
        let mut socket = TcpStream::connect(&server.address).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        *answer = head(&mut socket).await;
    }
    heads
}

async fn server_for_origins(origins: &[&str]) -> TestServer {
    let allow_origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
    TestServer::with(ServerOptions {
        access: Access { allow_origins, ..Access::default() },
        ..ServerOptions::default()
    })
    .await
}

#[tokio::test]
async fn pages_of_allowed_origins_may_call() {
    let server = server_for_origins(&["https://example.org", "http://localhost:5173"]).await;
    for origin in ["https://example.org", "http://localhost:5173"] {
        let [may, call] = answers_to_origin(&server, origin).await;
        let allowed = format!("access-control-allow-origin: {origin}");
        assert!(may.starts_with("HTTP/1.1 200") && may.contains(&allowed) && may.contains("x-grpc-web"), "{may}");
        assert!(call.contains(&allowed) && call.contains("reversi-reason: TOKEN_MISSING"), "{call}");
        for read in ["grpc-status-details-bin", "reversi-reason", "reversi-request-id"] {
            let exposed = call.lines().find(|line| line.starts_with("access-control-expose-headers"));
            assert!(exposed.unwrap().contains(read), "{call}");
        }
    }
    for head in answers_to_origin(&server, "https://example.com").await {
        assert!(!head.contains("access-control-allow-origin"), "{head}");
    }
    for head in answers_to_origin(&server_for_origins(&["*"]).await, "https://example.com").await {
        assert!(head.contains("access-control-allow-origin: *"), "{head}");
    }
}

#[tokio::test]
async fn by_default_pages_of_other_origins_may_not_call() {
    for head in answers_to_origin(&TestServer::open().await, "https://example.org").await {
        assert!(!head.contains("access-control"), "{head}");
    }
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let name = |metadata: &MetadataMap| metadata.get("reversi-request-id").unwrap().to_str().unwrap().to_owned();
    let mut mine = Request::new(v1::GetMeRequest {});
    mine.metadata_mut().insert("reversi-request-id", "mine".parse().unwrap());
    let first = name(ada.sessions().get_me(mine).await.unwrap().metadata());
    let second = name(ada.sessions().get_me(v1::GetMeRequest {}).await.unwrap().metadata());
    let refused = name(refusal(ada.try_room("nonsense").await).metadata());
    let watched = name(ada.games().watch_turns(v1::WatchTurnsRequest::default()).await.unwrap().metadata());
    let names = BTreeSet::from([first.as_str(), &second, &refused, &watched, "mine"]);
    assert_eq!(names.len(), 5, "{names:?}");
    let head = head(&mut post(&server, "SessionService/GetMe", &ada.token, &[]).await).await;
    assert!(head.contains("reversi-request-id: "), "{head}");
}

#[tokio::test]
async fn reflection_lists_the_services() {
    let server = TestServer::open().await;
    let mut reflection = ServerReflectionClient::new(server.channel().await);
    let ask = |request| ServerReflectionRequest { host: String::new(), message_request: Some(request) };
    let asked = [
        ask(MessageRequest::ListServices(String::new())),
        ask(MessageRequest::FileContainingSymbol("reversi.v1.GameService".into())),
        ask(MessageRequest::FileContainingSymbol("reversi.v1.ErrorReason".into())),
    ];
    let mut answers = reflection.server_reflection_info(tokio_stream::iter(asked)).await.unwrap().into_inner();
    let answer = within(answers.message()).await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
    let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
    for service in ["Session", "Lobby", "Room", "Game", "Record", "Analysis"] {
        assert!(names.contains(&format!("reversi.v1.{service}Service").as_str()), "{names:?}");
    }
    assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
    for _ in ["the service", "the reasons of errors"] {
        let answer = within(answers.message()).await.unwrap().unwrap().message_response.unwrap();
        assert!(matches!(answer, MessageResponse::FileDescriptorResponse(_)), "{answer:?}");
    }
}

/// The answer to a GET request for a path: the head, and the body as sent.
async fn get(server: &TestServer, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(&server.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}\r\n", server.address);
    socket.write_all(request.as_bytes()).await.unwrap();
    let head = head(&mut socket).await;
    let mut body = Vec::new();
    within(socket.read_to_end(&mut body)).await.unwrap();
    (head, body)
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in {head}"))
}

async fn server_with_page() -> TestServer {
    let access = Access { page: Some(page()), ..Access::default() };
    TestServer::with(ServerOptions { access, ..ServerOptions::default() }).await
}

#[tokio::test]
async fn the_web_page_is_served_on_the_same_port() {
    let server = server_with_page().await;
    let (head, body) = get(&server, "/", "").await;
    assert!(head.starts_with("HTTP/1.1 200") && header(&head, "content-type").starts_with("text/html"), "{head}");
    assert_eq!(header(&head, "cache-control"), "no-cache");
    assert!(header(&head, "content-security-policy").starts_with("default-src 'none'; script-src 'self';"), "{head}");
    assert_eq!(header(&head, "x-content-type-options"), "nosniff");

    let unchanged = format!("if-none-match: {}\r\n", header(&head, "etag"));
    assert!(get(&server, "/", &unchanged).await.0.starts_with("HTTP/1.1 304"));

    let html = String::from_utf8(body).unwrap();
    let module = html.split("type=\"module\"").nth(1).expect("the page has a module");
    let script = module.split('"').find(|text| text.ends_with(".js")).expect("the module has an address");
    let (head, body) = get(&server, script.trim_start_matches('.'), "accept-encoding: br, gzip\r\n").await;
    assert!(header(&head, "content-type").contains("javascript"), "{head}");
    assert_eq!(header(&head, "content-encoding"), "gzip");
    assert!(header(&head, "cache-control").contains("immutable"), "{head}");
    assert!(body.len() < 120 * 1024, "{} bytes", body.len());

    server.human("Ada").await.me().await;
}

/// What a browser needs to install the page. These files keep their names, so each visit asks for changes.
#[tokio::test]
async fn the_web_page_can_be_installed() {
    let access = Access { page: Some(page()), ..Access::default() };
    let server = TestServer::with(ServerOptions { access, ..ServerOptions::default() }).await;
    for (path, content_type) in [
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/service_worker.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
        ("/icon-192.png", "image/png"),
        ("/icon-512.png", "image/png"),
    ] {
        let (head, _) = get(&server, path, "").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        assert_eq!(header(&head, "content-type"), content_type, "{path}");
        assert_eq!(header(&head, "cache-control"), "no-cache", "{path}");
        assert!(header(&head, "content-security-policy").contains("worker-src 'self';"), "{head}");
    }
}

#[tokio::test]
async fn other_addresses_have_no_page() {
    let access = Access { page: Some(page()), ..Access::default() };
    let server = TestServer::with(ServerOptions { access, ..ServerOptions::default() }).await;
    for nowhere in ["/nothing", "/reversi.v1.SessionService/GetMe", "/..%2fCargo.toml"] {
        assert!(get(&server, nowhere, "").await.0.starts_with("HTTP/1.1 404"), "{nowhere}");
    }
}

#[tokio::test]
async fn other_sites_may_frame_the_embedded_board_and_nothing_else() {
    let server = server_with_page().await;
    let (page, _) = get(&server, "/", "").await;
    let (board, body) = get(&server, "/embed", "").await;
    assert!(board.starts_with("HTTP/1.1 200") && header(&board, "content-type").starts_with("text/html"), "{board}");
    let [page_policy, board_policy] = [&page, &board].map(|head| header(head, "content-security-policy"));
    assert_eq!(page_policy.replace("frame-ancestors 'none'", "frame-ancestors *"), board_policy);
    assert_ne!(page_policy, board_policy);
    assert_eq!(header(&page, "cross-origin-resource-policy"), "same-origin");
    assert_eq!(header(&board, "cross-origin-resource-policy"), "cross-origin");
    assert!(!board.contains("x-frame-options"), "{board}");

    let unchanged = format!("if-none-match: {}\r\n", header(&board, "etag"));
    let (head, _) = get(&server, "/embed", &unchanged).await;
    assert!(head.starts_with("HTTP/1.1 304") && head.contains("frame-ancestors *"), "{head}");

    let html = String::from_utf8(body).unwrap();
    let script = html.split('"').find(|text| text.ends_with(".js")).expect("the board has a script");
    let (head, _) = get(&server, script, "").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("frame-ancestors 'none'"), "{head}");
    assert!(get(&server, "/embed.html", "").await.0.starts_with("HTTP/1.1 404"));
}
