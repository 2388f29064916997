//! Broken AIs and broken clients.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use reversi::{
    ai::{AiKind, AiPlayer, Choice},
    proto::v1::{self, session_service_client::SessionServiceClient},
    rules::{Position, Square},
    runtime::Think,
    search::Stop,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};

use super::shutdown::Gate;
use crate::api::games::MovesReplay;
use crate::harness::in_process::{Player, ServerOptions, TestServer, check, millis, named, refusal, within};

/// A server whose `greedy` AI is broken in one way; the others work.
async fn server_with_greedy(greedy: impl Fn(Position, &Stop) -> Option<Choice> + Send + Sync + 'static) -> TestServer {
    let think = move |player: &AiPlayer, position, seed, stop: &Stop| match player.kind() {
        AiKind::Greedy => greedy(position, stop),
        _ => player.choose(position, seed, stop),
    };
    TestServer::with(ServerOptions { think: Some(Arc::new(think) as Arc<Think>), ..ServerOptions::default() }).await
}

/// Checks that a game of the broken AI against another reaches its end, and a game in another room too.
async fn check_games_continue(server: &TestServer) {
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let broken = ada.create_with(named("broken"), ["greedy", "random"]).await.room_id;
    let sound = bea.create_with(named("sound"), ["roxanne", "random"]).await.room_id;
    let (mut watch_broken, mut watch_sound) = (ada.watch(&broken).await, bea.watch(&sound).await);
    let mut replays =
        [MovesReplay::from_room(&watch_broken.snapshot().await), MovesReplay::from_room(&watch_sound.snapshot().await)];
    ada.start(&broken).await.unwrap();
    bea.start(&sound).await.unwrap();
    replays[0].read_to_end(&mut watch_broken).await;
    replays[1].read_to_end(&mut watch_sound).await;
    for replay in &replays {
        assert_eq!(replay.outcome.unwrap().reason(), v1::GameEndReason::Discs);
    }
    let moves = replays[0].plies.iter().enumerate().filter(|(ply, square)| ply % 2 == 0 && !square.is_empty()).count();
    assert_eq!(ada.info().await.ai_load.unwrap().cheaper_moves, u64::try_from(moves).unwrap());
}

#[tokio::test]
async fn the_server_moves_for_an_ai_that_panics() {
    let server = server_with_greedy(|_, _| panic!("a fault of the AI, injected by the test")).await;
    check_games_continue(&server).await;
}

#[tokio::test]
async fn an_illegal_move_of_an_ai_is_replaced() {
    let a1 = Square::ALL[0];
    let server = server_with_greedy(move |_, _| {
        Some(Choice { square: a1, evaluation: None, depth: 0, nodes: 0, line: Vec::new(), complete: true })
    })
    .await;
    let ada = server.human("Ada").await;
    let room = ada.create_with(named("broken"), ["greedy", "random"]).await.room_id;
    let mut watcher = ada.watch(&room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    ada.start(&room).await.unwrap();
    replay.read_to_end(&mut watcher).await;
    assert_eq!(replay.outcome.unwrap().reason(), v1::GameEndReason::Discs);
    assert!(ada.info().await.ai_load.unwrap().cheaper_moves > 0);
}

#[tokio::test]
async fn the_server_moves_for_an_ai_without_an_answer() {
    let server = server_with_greedy(|_, _| None).await;
    check_games_continue(&server).await;
}

#[tokio::test]
async fn an_ai_that_does_not_stop_still_moves_in_time() {
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let server = server_with_greedy(move |_, _| {
        held.wait();
        None
    })
    .await;
    let ada = server.human("Ada").await;
    let mut turns = ada.turns().await;
    let settings = v1::RoomSettings { move_limit: millis(1_000), ..named("stuck") };
    let room = ada.create_with(settings, ["greedy", "me"]).await.room_id;
    ada.start(&room).await.unwrap();
    let asked = turns.turn_request().await;
    assert_eq!(asked.ply, 1, "it moved before its time ran out");
    gate.open();
}

#[tokio::test]
async fn a_search_delays_no_other_room() {
    let (gate, searching) = (Arc::new(Gate::default()), Arc::new(tokio::sync::Notify::new()));
    let (held, begun, searches) = (Arc::clone(&gate), Arc::clone(&searching), AtomicUsize::new(0));
    let server = server_with_greedy(move |position, _| {
        searches.fetch_add(1, Relaxed);
        begun.notify_one();
        held.wait();
        position.legal_moves().iter().next().map(|square| Choice {
            square,
            evaluation: None,
            depth: 0,
            nodes: 0,
            line: Vec::new(),
            complete: true,
        })
    })
    .await;
    let eve = server.human("Eve").await;
    let searched = eve.create_with(named("searched"), ["greedy", "me"]).await.room_id;
    let mut turns = eve.turns().await;
    eve.start(&searched).await.unwrap();
    within(searching.notified()).await;
    // While one AI searches, others play a whole game.
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    assert!(seated.play_to_end().await.outcome.is_some());
    assert_eq!(eve.room(&searched).await.game.unwrap().ply, 0);
    gate.open();
    assert_eq!(turns.turn_request().await.ply, 1);
}

#[tokio::test]
async fn a_message_of_five_megabytes_is_refused_unread() {
    let server = TestServer::open().await;
    let request = v1::LogInRequest { display_name: "x".repeat(5 << 20), ..Default::default() };
    let status = refusal(SessionServiceClient::new(server.channel().await).log_in(request).await);
    check("five megabytes", &status, Code::OutOfRange, "MESSAGE_TOO_LARGE");
    assert!(!status.message().is_empty());
    server.human("Ada").await.me().await;
}

#[tokio::test]
async fn a_message_of_another_type_is_an_error_of_the_client() {
    let server = TestServer::open().await;
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    // A text in the field that has a number in `LogIn`.
    let request = tonic::Request::new(v1::ChatLine { text: "Ada".into(), ..Default::default() });
    let path = "/reversi.v1.SessionService/LogIn".parse().unwrap();
    let codec = tonic_prost::ProstCodec::<_, v1::LogInResponse>::default();
    let status = refusal(client.unary(request, path, codec).await);
    check("another kind", &status, Code::InvalidArgument, "BAD_MESSAGE");
    assert!(status.message().contains("LogInRequest"), "the message names the problem: {status:?}");
}

#[tokio::test]
async fn unknown_methods_are_unimplemented() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for path in ["/reversi.v1.GameService/Cheat", "/reversi.v1.GameService", "/reversi.v1.DoorService/Open", "/a.B/C"] {
        let mut client = tonic::client::Grpc::new(server.channel().await);
        for token in ["", &ada.token] {
            client.ready().await.unwrap();
            let mut request = tonic::Request::new(v1::Heartbeat::default());
            if !token.is_empty() {
                request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
            }
            let codec = tonic_prost::ProstCodec::<_, v1::Heartbeat>::default();
            let status = refusal(client.unary(request, path.parse().unwrap(), codec).await);
            check(path, &status, Code::Unimplemented, "UNIMPLEMENTED");
        }
    }
}

/// The end of a `Play` stream on which the client sent one message of another type.
async fn play_stream_with<T: prost::Message + Default + 'static>(
    server: &TestServer,
    bot: &Player,
    message: T,
) -> Status {
    let (moves, requests) = tokio::sync::mpsc::channel(1);
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    let mut request = tonic::Request::new(ReceiverStream::new(requests));
    request.metadata_mut().insert("authorization", format!("Bearer {}", bot.token).parse().unwrap());
    let path = "/reversi.v1.GameService/Play".parse().unwrap();
    let codec = tonic_prost::ProstCodec::<T, v1::PlayResponse>::default();
    let mut lane = client.streaming(request, path, codec).await.unwrap().into_inner();
    moves.send(message).await.unwrap();
    loop {
        match within(lane.message()).await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended without a reason"),
            Err(status) => return status,
        }
    }
}

#[tokio::test]
async fn an_unreadable_move_ends_a_play_stream() {
    let server = TestServer::open().await;
    let bot = server.bot("Bot").await;
    // A text in the field that has a number in a move.
    let status = play_stream_with(
        &server,
        &bot,
        v1::JoinRoomRequest { room: Some(v1::join_room_request::Room::JoinCode("x".into())), ..Default::default() },
    );
    check("another kind", &status.await, Code::InvalidArgument, "BAD_MESSAGE");
    let large = v1::PlayRequest { square: "x".repeat(1 << 20), ..Default::default() };
    check("too large", &play_stream_with(&server, &bot, large).await, Code::OutOfRange, "MESSAGE_TOO_LARGE");
}

/// An endless stream of moves.
fn flood() -> impl tokio_stream::Stream<Item = v1::PlayRequest> {
    tokio_stream::iter(std::iter::repeat_with(v1::PlayRequest::default))
}

#[tokio::test]
async fn a_flood_of_moves_does_not_delay_notices() {
    let server = TestServer::limited(|limits| limits.request_burst = 100_000_000).await;
    let bot = server.bot("Bot").await;
    let mut lane = within(bot.games().play(flood())).await.unwrap().into_inner();
    // The answers are read meanwhile, so that the stream is not delayed by its reader.
    let mut reading = tokio::task::JoinSet::new();
    reading.spawn(async move {
        loop {
            let event =
                lane.message().await.unwrap().expect("the stream ends with a reason").event.unwrap().event.unwrap();
            if let v1::play_event::Event::Closing(closing) = event {
                return closing.reason();
            }
        }
    });
    let _newer = bot.turns().await;
    assert_eq!(within(reading.join_next()).await.unwrap().unwrap(), v1::CloseReason::Superseded);
}

#[tokio::test]
async fn random_bytes_do_not_affect_the_server() {
    let server = TestServer::open().await;
    let noises: [&[u8]; 4] = [
        b"\0\xff\xfe noise \r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"POST /reversi.v1.SessionService/GetMe HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\n\
          connection: close\r\ncontent-length: 9\r\n\r\n\0\0\0\0\x04\xff\xff\xff\xff",
    ];
    for noise in noises {
        let mut socket = TcpStream::connect(&server.address).await.unwrap();
        socket.write_all(noise).await.unwrap();
        let mut answer = Vec::new();
        // The server closes the connection, with any answer.
        let _ = within(socket.read_to_end(&mut answer)).await;
    }
    server.human("Ada").await.me().await;
}

#[tokio::test]
async fn a_head_of_http1_has_the_limit_of_http2() {
    let server = TestServer::open().await;
    let whole = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let (long, far_longer) = ("x".repeat(17 * 1024), "x".repeat(200 * 1024));
    let close = "host: localhost\r\nconnection: close";
    for (head, answer, last) in [
        (format!("GET / HTTP/1.1\r\n{close}\r\nlong: {long}"), "HTTP/1.1 431 ", ""),
        (format!("GET / HTTP/1.1\r\n{close}\r\nlong: {long}\r\n\r\n"), "HTTP/1.1 431 ", ""),
        // So is a later head, and what is far longer is not read to its end.
        (format!("{whole}GET / HTTP/1.1\r\n{close}\r\nlong: {long}\r\n\r\n"), "HTTP/1.1 400 ", "HTTP/1.1 431 "),
        (format!("{whole}GET / HTTP/1.1\r\n{close}\r\nlong: {far_longer}"), "HTTP/1.1 400 ", ""),
    ] {
        let mut socket = TcpStream::connect(&server.address).await.unwrap();
        // The server may close the connection before it has read all.
        let _ = socket.write_all(head.as_bytes()).await;
        let mut answered = [0; 13];
        within(socket.read_exact(&mut answered)).await.unwrap();
        assert_eq!(str::from_utf8(&answered), Ok(answer));
        let mut rest = Vec::new();
        // Ends, also by a reset.
        let _ = within(socket.read_to_end(&mut rest)).await;
        assert!(String::from_utf8_lossy(&rest).contains(last));
    }
    server.human("Ada").await.me().await;
}
