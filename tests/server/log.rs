//! The log of the real server, as text and as JSON, without secrets.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::harness::process::{Player, Server, http_get, wait_for_event};
use reversi::proto::v1::{self, room_event, session_service_client::SessionServiceClient};
use sha2::{Digest as _, Sha256};
use tonic::transport::Endpoint;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

const PASSWORD: &str = "open sesame";

/// Two players play a game in a private room with a password. Returns the join code.
async fn play(ada: &Player, bob: &Player) -> String {
    let settings = v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..Default::default() };
    let room = ada.create_locked(settings, ["me", "random"], PASSWORD).await;
    let code = v1::join_room_request::Room::JoinCode(room.join_code.clone());
    let join = |password: &str| v1::JoinRoomRequest { room: Some(code.clone()), password: password.into() };
    bob.rooms().join_room(join("open barley")).await.unwrap_err();
    bob.rooms().join_room(join(PASSWORD)).await.unwrap();
    let game = ada.start(&room.room_id).await;
    ada.play(&game, 0, "d3").await.unwrap();
    let mut watch = bob.watch(&room.room_id).await;
    ada.games().resign(v1::ResignRequest { game_id: game }).await.unwrap();
    wait_for_event(&mut watch, |event| matches!(event, room_event::Event::GameEnded(_))).await;
    room.join_code
}

/// As a browser does, over HTTP/1.1.
fn call_as_browser(server: &Server, token: &str) {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /reversi.v1.SessionService/GetMe HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/grpc-web+proto\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
    );
    socket.write_all(&[head.as_bytes(), &[0; 5]].concat()).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("grpc-status:0"), "{answer}");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_level_shows_secrets() {
    let server = Server::start(&["--log", "trace"]);
    let (ada, bob) = (server.log_in("Ada", 1 << 16).await, server.log_in("Bob", 1 << 16).await);
    let code = play(&ada, &bob).await;
    let tokens = [&ada.token, &bob.token].map(|token| {
        let byte = |at: usize| u8::from_str_radix(&token[at..at + 2], 16).unwrap();
        (0..token.len()).step_by(2).map(byte).collect::<Vec<u8>>()
    });
    let digest = |prefix: &str, secret: &[u8]| Sha256::digest([prefix.as_bytes(), secret].concat()).to_vec();
    let play_token = digest("reversi play token", &tokens[0]);
    let sent = [ada.token.clone(), format!("play_{}", hex(&play_token))];
    tokio::task::block_in_place(|| sent.iter().for_each(|token| call_as_browser(&server, token)));
    let (clean, log) = server.stop().await;
    assert!(clean && log.contains("logged in") && log.contains("TRACE h2::"), "{log}");

    let mut secrets = vec![code, PASSWORD.to_owned(), "open barley".to_owned(), "Bearer".to_owned()];
    let stored = digest("reversi token hash", &play_token);
    for secret in [tokens[0].clone(), tokens[1].clone(), play_token, stored, PASSWORD.into()] {
        let hash = Sha256::digest(&secret).to_vec();
        secrets.extend([hex(&secret), hex(&hash), format!("{secret:?}"), format!("{hash:?}")]);
    }
    let lower = log.to_lowercase();
    for secret in secrets {
        assert!(!lower.contains(&secret.to_lowercase()), "{secret} is in the log");
    }
}

#[tokio::test]
async fn json_logs_have_one_object_per_line_with_the_room() {
    let server = Server::start(&["--log", "reversi=debug", "--log-format", "json"]);
    let ada = server.log_in("Ada", 1 << 16).await;
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    ada.rooms().close_room(v1::CloseRoomRequest { room_id: room.clone() }).await.unwrap();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    for line in log.lines() {
        assert!(line.starts_with("{\"timestamp\":\"") && line.ends_with('}') && line.contains("\"level\":"), "{line}");
    }
    let line = log.lines().find(|line| line.contains("room leaves memory")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains(&format!("\"span\":{{\"id\":\"{room}\",\"name\":\"room\"}}")), "{line}");
}

#[tokio::test]
async fn log_lines_of_a_call_have_the_id_in_its_answer() {
    let server = Server::start(&["--log-format", "json"]);
    let mut sessions = SessionServiceClient::connect(server.url.clone()).await.unwrap();
    let request = v1::LogInRequest { display_name: "Ada".into(), ..Default::default() };
    let answer = sessions.log_in(request).await.unwrap();
    let name = answer.metadata().get("reversi-request-id").unwrap().to_str().unwrap();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    let line = log.lines().find(|line| line.contains("logged in")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("\"method\":\"/reversi.v1.SessionService/LogIn\""), "{line}");
    assert!(line.contains(&format!("\"request\":\"{name}\"")), "{line}");
    assert!(line.contains("\"address\":\"127.0.0.1\""), "{line}");
}

#[tokio::test]
async fn a_proxy_that_sends_grpc_over_http1_is_logged_once() {
    let server = Server::start(&[]);
    let address = server.url.strip_prefix("http://").unwrap();
    let call =
        "POST /reversi.v1.SessionService/LogIn HTTP/1.0\r\ncontent-type: application/grpc\r\ncontent-length: 0\r\n\r\n";
    for _ in 0..3 {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.write_all(call.as_bytes()).unwrap();
        socket.read_to_end(&mut Vec::new()).unwrap();
    }
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    assert_eq!(log.lines().filter(|line| line.contains("grpc_pass instead of proxy_pass")).count(), 1, "{log}");
}

/// A PING frame with the flag ACK, which answers no PING.
const PING_ACK: [u8; 17] = [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];

#[tokio::test]
async fn wrong_frames_of_a_client_do_not_fill_the_log() {
    let log = log_of_wrong_frames("info").await;
    assert!(log.len() < WRONG_FRAMES, "{log}");
    let log = log_of_wrong_frames("info,h2=warn").await;
    assert_eq!(log.lines().filter(|line| line.contains("WARN h2::")).count(), 200, "{log}");
    assert!(log.contains(&format!("repeated lines were left out lines={}", WRONG_FRAMES - 200)), "{log}");
}

const WRONG_FRAMES: usize = 2_000;

/// What a server with this filter logs of a client that sends wrong frames.
async fn log_of_wrong_frames(filter: &str) -> String {
    let server = Server::start(&["--log", filter, "--control-frame-rate", "10000", "--control-frame-burst", "10000"]);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    socket.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings].concat()).unwrap();
    socket.write_all(&PING_ACK.repeat(WRONG_FRAMES)).unwrap();
    // A PING whose answer shows that the server has read all frames.
    let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9];
    socket.write_all(&ping).unwrap();
    let mut answers = Vec::new();
    while !answers.windows(8).any(|bytes| bytes == [9; 8]) {
        let mut part = [0; 1024];
        let length = socket.read(&mut part).unwrap();
        assert!(length > 0, "the server closed the connection");
        answers.extend_from_slice(&part[..length]);
    }
    drop(socket);
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    log
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_log_is_not_read_serves_players() {
    let mut server = Server::start_without_log_reader(&["--log", "trace", "--metrics", "127.0.0.1:0"]);
    let metrics = server.wait_for_line("metrics: ");
    let ada = server.log_in("Ada", 1 << 16).await;
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let dropped = || {
        let (_, text) = tokio::task::block_in_place(|| http_get(&metrics));
        let count = text.lines().find_map(|line| line.strip_prefix("reversi_log_lines_dropped_total "));
        count.unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(dropped(), 0);
    let mut health = HealthClient::new(Endpoint::from_shared(server.url.clone()).unwrap().connect_lazy());
    let mut calls = 0;
    while dropped() == 0 {
        for _ in 0..100 {
            health.check(HealthCheckRequest::default()).await.unwrap();
        }
        calls += 100;
        assert!(calls < 100_000, "the log is never full");
    }
    let game = ada.start(&room).await;
    ada.play(&game, 0, "d3").await.unwrap();
    health.check(HealthCheckRequest::default()).await.unwrap();
    let (clean, log) = server.stop().await;
    assert!(clean && log.contains("logged in"), "{log}");
}

#[tokio::test]
async fn wrong_secrets_of_an_administrator_are_logged_and_limited() {
    let file = std::env::temp_dir().join(format!("reversi-secret-{}", std::process::id()));
    let server =
        Server::start(&["--admin-token", file.to_str().unwrap(), "--wrong-guesses-per-address", "4", "--log", "warn"]);
    let ada = server.log_in("Ada", 1 << 16).await;
    let secret = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let wrong = "5".repeat(64);
    let ask = async |secret: &str| {
        let mut request = tonic::Request::new(v1::GetServerInfoRequest {});
        request.metadata_mut().insert("reversi-admin", secret.parse().unwrap());
        ada.lobby().get_server_info(request).await.map_err(|status| status.code())
    };
    assert!(ask(secret.trim()).await.is_ok());
    let channel = Endpoint::from_shared(server.url.clone()).unwrap().connect().await.unwrap();
    let mut log_in = tonic::Request::new(v1::LogInRequest { display_name: "Eve".into(), ..Default::default() });
    log_in.metadata_mut().insert("reversi-admin", wrong.parse().unwrap());
    let refused = SessionServiceClient::new(channel).log_in(log_in).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unauthenticated, "a log-in with a wrong secret");
    let (mut judged, mut is_limited) = (1, false);
    // Until one is judged after a wait; the next wait is longer than the delay of a refusal.
    for _ in 0..30 {
        match ask(&wrong).await.unwrap_err() {
            tonic::Code::ResourceExhausted => is_limited = true,
            code => {
                assert_eq!(code, tonic::Code::Unauthenticated);
                judged += 1;
                if is_limited {
                    break;
                }
            }
        }
    }
    assert!(is_limited && (5..=7).contains(&judged), "{judged}");
    assert_eq!(ask(secret.trim()).await.unwrap_err(), tonic::Code::ResourceExhausted, "nobody learns that it is right");
    let (_, log) = server.stop().await;
    let logged = log.lines().filter(|line| line.contains("a wrong administrator's secret"));
    assert_eq!(logged.clone().count(), judged, "{log}");
    assert!(logged.clone().all(|line| line.contains("127.0.0.1")), "{log}");
    assert!(!log.contains(&wrong) && !log.contains(secret.trim()), "{log}");
}

#[tokio::test]
async fn an_abort_by_an_administrator_is_logged_as_done_or_refused() {
    let file = std::env::temp_dir().join(format!("reversi-abort-{}", std::process::id()));
    let server = Server::start(&["--admin-token", file.to_str().unwrap()]);
    let ada = server.log_in("Ada", 1 << 16).await;
    let secret = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let game = ada.start(&room).await;
    for _ in 0..2 {
        let mut abort = tonic::Request::new(v1::AbortGameRequest { game_id: game.clone() });
        abort.metadata_mut().insert("reversi-admin", secret.trim().parse().unwrap());
        let _ = ada.games().abort_game(abort).await;
    }
    let (_, log) = server.stop().await;
    let lines: Vec<_> = log.lines().filter(|line| line.contains("administrator") && line.contains(&game)).collect();
    let [done, refused] = lines[..] else { panic!("{log}") };
    assert!(done.contains("aborted by an administrator") && refused.contains("abort was refused"), "{log}");
}
