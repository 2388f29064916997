//! A disk that is full for a while.

use std::process::Command;

use reversi::proto::v1;
use tonic::{Code, Status};

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
