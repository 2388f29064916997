//! A file that another program locks, or that is damaged, while the server uses it.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use reversi::{proto::v1, store::SqliteStore};
use tonic::Code;

use super::bots::Acknowledged;
use super::check_files;
use super::full_disk::refused;
use crate::harness::process::{Player, Server};

const PAGE: usize = 4096;

fn file(folder: &Path) -> PathBuf {
    folder.join(SqliteStore::FILE)
}

fn start(folder: &Path) -> Server {
    // As many chat lines as the test writes.
    Server::start(&["--data", folder.to_str().unwrap(), "--log", "error", "--chat-burst", "1000"])
}

/// A game between two seats, at its second ply.
async fn start_game(black: &Player, white: &Player) -> (String, String) {
    let room = black.create(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
    white.join_and_sit(&room, 1).await;
    let game = black.start(&room).await;
    black.play(&game, 0, "d3").await.unwrap();
    (room, game)
}

#[tokio::test]
async fn writes_succeed_again_after_another_program_unlocks_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let [black, white] = [Player::bot(&server.url, "Black", 1).await, Player::bot(&server.url, "White", 1).await];
    let (room, game) = start_game(&black, &white).await;
    let before = white.room(&room).await;
    let other = rusqlite::Connection::open(file(folder.path())).unwrap();
    for hold in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        other.execute_batch(hold).unwrap();
        // For longer than the server waits.
        refused(white.play(&game, 1, "c3").await);
        refused(Player::try_bot(&server.url, "Late", 1).await.map(|_| ()));
        let meanwhile = white.room(&room).await;
        assert_eq!((meanwhile.seq, meanwhile.game.unwrap().ply), (before.seq, 1));
        other.execute_batch("ROLLBACK").unwrap();
    }
    // The server is not notified.
    white.play(&game, 1, "c3").await.unwrap();
    Player::try_bot(&server.url, "Late", 1).await.map(|_| ()).unwrap();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    let mut acknowledged = Acknowledged::default();
    acknowledged.add(&game, 0, "d3");
    acknowledged.add(&game, 1, "c3");
    check_files::check(folder.path(), &acknowledged, 1).await;
}

/// Overwrites the overflow pages of the file that contain this text. Each belongs to one row, while a leaf page also
/// holds rows of other rooms.
fn damage(file: &Path, text: &str) -> usize {
    let bytes = fs::read(file).unwrap();
    // An overflow page begins with the number of the next one, a leaf page with its kind, which is not 0.
    let has_it = |page: &[u8]| page[0] == 0 && page.windows(text.len()).any(|part| part == text.as_bytes());
    let pages = bytes.chunks(PAGE).enumerate().filter(|(_, page)| has_it(page));
    let file = File::options().write(true).open(file).unwrap();
    pages.map(|(page, _)| file.write_all_at(&[0xA5; PAGE], (page * PAGE) as u64).unwrap()).count()
}

#[tokio::test]
async fn a_damaged_page_affects_only_its_own_data() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let [black, white] = [Player::bot(&server.url, "Black", 9).await, Player::bot(&server.url, "White", 9).await];
    let lost = black.create(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
    let line = format!("damaged text {}", "x".repeat(200));
    for _ in 0..60 {
        let request = v1::PostChatRequest { room_id: lost.clone(), text: line.clone() };
        black.rooms().post_chat(request).await.unwrap();
    }
    let (room, game) = start_game(&black, &white).await;
    assert!(server.stop().await.0);

    // Only the room of the game is loaded.
    let server = start(folder.path());
    let black = Player::with_token(&server.url, &black.token).await;
    let white = Player::with_token(&server.url, &white.token).await;
    let pages = damage(&file(folder.path()), "damaged text");
    assert!(pages > 2, "{pages}");
    // After this write, reads use the file again, not the cache.
    white.play(&game, 1, "c3").await.unwrap();
    for _ in 0..2 {
        is_damaged(&black, &lost).await;
    }
    assert_eq!(black.room(&room).await.game.unwrap().ply, 2);
    black.play(&game, 2, "c4").await.unwrap();
    let (_, log) = server.stop().await;
    assert!(log.contains("a row is damaged") && !log.contains("panicked"), "{log}");

    // A server starts all the same.
    let server = start(folder.path());
    let black = Player::with_token(&server.url, &black.token).await;
    is_damaged(&black, &lost).await;
    assert_eq!(black.room(&room).await.game.unwrap().ply, 3);
    assert!(server.stop().await.0);

    let mut doctor = Command::new(env!("CARGO_BIN_EXE_reversi"));
    let examined = doctor.args(["doctor", "--repair", "--data", folder.path().to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8([examined.stdout, examined.stderr].concat()).unwrap();
    assert!(examined.status.success() && said.contains(&format!("room {lost}")) && said.contains("repaired"), "{said}");
    let server = start(folder.path());
    let black = Player::with_token(&server.url, &black.token).await;
    assert_eq!(black.room(&room).await.game.unwrap().ply, 3);
    black.play(&game, 3, "d2").await.unwrap_err();
}

async fn is_damaged(player: &Player, room: &str) {
    let request = v1::GetRoomRequest { room_id: room.to_owned(), ..Default::default() };
    let status = player.rooms().get_room(request).await.unwrap_err();
    assert_eq!(status.code(), Code::DataLoss, "{status}");
    assert_eq!(status.metadata().get("reversi-reason").unwrap(), "DAMAGED");
}
