//! Requests that are compressed with gzip.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use http::{Method, response};
use reversi::proto::v1::{self, play_event::Event, session_service_client::SessionServiceClient};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming, codec::CompressionEncoding::Gzip};
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use super::status_only::{Connection, framed};
use crate::harness::in_process::{Player, TestServer, check, refusal, within};

/// Text that is 8 KiB when compressed, less than the limit of a message, and 8 MiB when decompressed.
fn bomb() -> String {
    "x".repeat(8 << 20)
}

async fn play_stream(bot: &Player) -> (Sender<v1::PlayRequest>, Streaming<v1::PlayResponse>) {
    let (moves, requests) = channel(1);
    let mut games = bot.games().send_compressed(Gzip);
    (moves, games.play(ReceiverStream::new(requests)).await.unwrap().into_inner())
}

#[tokio::test]
async fn every_kind_of_call_accepts_gzip() {
    let server = TestServer::open().await;
    let channel = server.channel().await;
    let mut health = HealthClient::new(channel.clone()).send_compressed(Gzip);
    let status = health.check(HealthCheckRequest::default()).await.unwrap().into_inner().status();
    assert_eq!(status, ServingStatus::Serving);

    let mut sessions = SessionServiceClient::new(channel.clone()).send_compressed(Gzip);
    let request = v1::LogInRequest { display_name: "Ada".repeat(8), ..Default::default() };
    let logged_in = sessions.log_in(request).await.unwrap().into_inner();
    let ada = Player::new(channel, logged_in.player.unwrap(), &logged_in.token);
    assert_eq!(ada.me().await.player.unwrap().display_name, "Ada".repeat(8));

    let (moves, mut events) = play_stream(&ada).await;
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    let outcome = loop {
        match within(events.message()).await.unwrap().unwrap().event.unwrap().event.unwrap() {
            Event::TurnRequested(turn) => {
                let square = turn.position.unwrap().legal_moves.swap_remove(0);
                moves.send(v1::PlayRequest { game_id: turn.game_id, ply: turn.ply, square }).await.unwrap();
            }
            Event::GameEnded(ended) => break ended.outcome.unwrap(),
            _ => {}
        }
    };
    assert_eq!(outcome.reason(), v1::GameEndReason::Discs);
}

#[tokio::test]
async fn a_message_that_is_too_large_when_decompressed_is_refused() {
    let server = TestServer::open().await;
    let mut sessions = SessionServiceClient::new(server.channel().await).send_compressed(Gzip);
    let request = v1::LogInRequest { display_name: bomb(), ..Default::default() };
    check("a call", &refusal(sessions.log_in(request).await), Code::OutOfRange, "MESSAGE_TOO_LARGE");

    let (moves, mut events) = play_stream(&server.bot("Bot").await).await;
    moves.send(v1::PlayRequest { square: bomb(), ..Default::default() }).await.unwrap();
    let status = loop {
        match within(events.message()).await {
            Ok(event) => assert!(event.is_some(), "the stream ended without a reason"),
            Err(status) => break status,
        }
    };
    check("a stream", &status, Code::OutOfRange, "MESSAGE_TOO_LARGE");
}

/// The head of the answer to a call of `LogIn` whose message claims to be compressed.
async fn log_in(server: &TestServer, encoding: &str, message: &[u8]) -> response::Parts {
    let connection = Connection::open(server).await;
    let request = connection.request(Method::POST, "reversi.v1.SessionService/LogIn").header("te", "trailers");
    let request = request.header("content-type", "application/grpc").header("grpc-encoding", encoding);
    connection.answer(request, framed(true, message)).await.0
}

#[tokio::test]
async fn what_cannot_be_decompressed_is_an_error_of_the_client() {
    let server = TestServer::open().await;
    let head = log_in(&server, "gzip", b"not gzip").await;
    check("not gzip", &Status::from_header_map(&head.headers).unwrap(), Code::InvalidArgument, "BAD_MESSAGE");

    let mut cut = GzEncoder::new(Vec::new(), Compression::default());
    cut.write_all(b"\x0a\x03Ada").unwrap();
    let cut = cut.finish().unwrap();
    let head = log_in(&server, "gzip", &cut[..cut.len() - 9]).await;
    check("cut off", &Status::from_header_map(&head.headers).unwrap(), Code::InvalidArgument, "BAD_MESSAGE");

    let head = log_in(&server, "zstd", b"").await;
    assert_eq!(head.headers["grpc-status"], (Code::Unimplemented as i32).to_string().as_str());
    assert_eq!(head.headers["grpc-accept-encoding"], "gzip,identity");
    server.human("Ada").await.me().await;
}
