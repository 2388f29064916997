//! The real server, killed in the middle of fifty games, again and again: what it has acknowledged is there.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod books;
mod bots;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod file;
#[path = "../process/mod.rs"]
mod process;
#[cfg(unix)]
mod term;

use std::path::Path;

use bots::{Acknowledged, Bots};
use process::Server;
use reversi::rules::SplitMix64;

const ROOMS: usize = 50;
const ROUNDS: u64 = 20;

/// Moves between two kills: at least one, and so few that the rounds are over soon.
const MOST_MOVES: u64 = 300;

#[tokio::test]
async fn what_was_acknowledged_outlives_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (mut chance, mut acknowledged) = (SplitMix64::new(20), Acknowledged::default());
    let mut server = start(folder.path());
    let mut bots = Bots::found(&server.url, ROOMS, "1").await;
    for round in 0..ROUNDS {
        let moves = 1 + chance.next() % MOST_MOVES;
        // In the middle of the others' moves, of which some are being written.
        bots.play(moves, &mut acknowledged).await;
        server.kill();
        bots.let_go(&mut acknowledged).await;
        books::check(folder.path(), &acknowledged, ROOMS).await;
        server = start(folder.path());
        bots.come_back(&server.url).await;
        bots.check_rooms(&acknowledged).await;
        println!("round {round}: {moves} moves waited for, {} acknowledged in all", acknowledged.count());
    }
    bots.play(MOST_MOVES, &mut acknowledged).await;
    bots.leave();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    books::check(folder.path(), &acknowledged, ROOMS).await;
    println!("{ROUNDS} kills, {} moves acknowledged, all of them found", acknowledged.count());
}

fn start(folder: &Path) -> Server {
    Server::start(&["--data", folder.to_str().unwrap(), "--log", "warn"])
}
