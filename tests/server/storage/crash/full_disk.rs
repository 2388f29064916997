//! A disk that is full for a while.

use std::process::Command;

use reversi::proto::v1;
use tonic::{Code, Status, transport::Endpoint};
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use super::bots::Acknowledged;
use super::check_files;
use crate::harness::process::{Player, Server};

/// Limits the size of the files of a process.
fn limit_files(server: &Server, bytes: &str) {
    let limited =
        Command::new("prlimit").args(["--pid", &server.id().to_string(), &format!("--fsize={bytes}:")]).status();
    assert!(limited.unwrap().success());
}

pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Status>) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert_eq!(status.metadata().get("reversi-reason").unwrap(), "STORE_UNAVAILABLE");
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_within_limits(&["--data", folder.path().to_str().unwrap(), "--log", "error"]);
    let [black, white] = [Player::bot(&server.url, "Black", 1).await, Player::bot(&server.url, "White", 1).await];
    let room = black.create(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
    white.join_and_sit(&room, 1).await;
    let game = black.start(&room).await;
    black.play(&game, 0, "d3").await.unwrap();
    let before = white.room(&room).await;

    limit_files(&server, "1");
    for _ in 0..3 {
        refused(white.play(&game, 1, "c3").await);
    }
    refused(Player::try_bot(&server.url, "Late", 1).await.map(|_| ()));
    // Reads still work.
    let meanwhile = white.room(&room).await;
    assert_eq!((meanwhile.seq, meanwhile.game.unwrap().ply), (before.seq, 1));

    limit_files(&server, "unlimited");
    white.play(&game, 1, "c3").await.unwrap();
    Player::try_bot(&server.url, "Late", 1).await.map(|_| ()).unwrap();
    assert!(white.room(&room).await.seq > before.seq);
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    let mut acknowledged = Acknowledged::default();
    for (ply, square) in ["d3", "c3"].into_iter().enumerate() {
        acknowledged.add(&game, ply, square);
    }
    check_files::check(folder.path(), &acknowledged, 1).await;
}

/// Waits until the health of the server has this status.
async fn wait_for_health(server: &Server, status: ServingStatus) {
    let channel = Endpoint::from_shared(server.url.clone()).unwrap().connect().await.unwrap();
    let mut watch = HealthClient::new(channel).watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    while watch.message().await.unwrap().unwrap().status() != status {}
}

#[tokio::test]
async fn a_server_that_starts_on_a_full_disk_serves_what_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--data", folder.path().to_str().unwrap(), "--log", "warn"];
    let server = Server::start(&options);
    let player = Player::bot(&server.url, "Ada", 1).await;
    let room = player.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let before = player.room(&room).await;
    assert!(server.stop().await.0);

    let server = Server::start_on_full_disk(&options);
    let player = Player::with_token(&server.url, &player.token).await;
    assert_eq!(player.room(&room).await.seq, before.seq);
    let start = v1::StartGameRequest { room_id: room.clone(), ..Default::default() };
    refused(player.rooms().start_game(start).await);
    wait_for_health(&server, ServingStatus::NotServing).await;

    limit_files(&server, "unlimited");
    wait_for_health(&server, ServingStatus::Serving).await;
    let game = player.start(&room).await;
    player.play(&game, 0, "d3").await.unwrap();
    assert!(player.room(&room).await.seq > before.seq);
    let (clean, log) = server.stop().await;
    assert!(clean && log.contains("the file can be read but not written"), "{log}");
}
