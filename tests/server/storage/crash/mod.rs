//! The real server, killed repeatedly during fifty games: everything it has acknowledged is stored.

mod bots;
mod check_files;
#[cfg(unix)]
mod clean_stop;
#[cfg(target_os = "linux")]
mod damaged_file;
#[cfg(target_os = "linux")]
mod full_disk;

use std::path::Path;

use bots::{Acknowledged, Bots};
use reversi::rules::SplitMix64;

use crate::harness::process::Server;

const ROOMS: usize = 50;
const ROUNDS: u64 = 20;

/// Number of moves between two kills: at least one, and few enough that the rounds are short.
const MAX_MOVES: u64 = 300;

#[tokio::test]
async fn acknowledged_moves_survive_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (mut chance, mut acknowledged) = (SplitMix64::new(20), Acknowledged::default());
    let mut server = start(folder.path());
    let mut bots = Bots::create(&server.url, ROOMS, "1").await;
    for round in 0..ROUNDS {
        let moves = 1 + chance.next() % MAX_MOVES;
        // While other moves are being written.
        bots.play(moves, &mut acknowledged).await;
        server.kill();
        bots.disconnect(&mut acknowledged).await;
        check_files::check(folder.path(), &acknowledged, ROOMS).await;
        server = start(folder.path());
        bots.reconnect(&server.url).await;
        bots.check_rooms(&acknowledged).await;
        println!("round {round}: {moves} moves waited for, {} acknowledged in all", acknowledged.count());
    }
    bots.play(MAX_MOVES, &mut acknowledged).await;
    bots.stop();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    check_files::check(folder.path(), &acknowledged, ROOMS).await;
    println!("{ROUNDS} kills, {} moves acknowledged, all of them found", acknowledged.count());
}

fn start(folder: &Path) -> Server {
    Server::start(&["--data", folder.to_str().unwrap(), "--log", "warn"])
}
