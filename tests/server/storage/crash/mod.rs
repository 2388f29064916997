//! The real server, killed repeatedly during fifty games and while it starts: everything that it has acknowledged or
//! shown is stored, and clocks do not count its downtime.

mod bots;
mod check_files;
#[cfg(unix)]
mod clean_stop;
#[cfg(target_os = "linux")]
mod damaged_file;
#[cfg(target_os = "linux")]
mod full_disk;
mod watchers;

use std::{fs, path::Path, time::Duration};

use bots::{Acknowledged, Bots};
use reversi::rules::SplitMix64;
use tokio::time::Instant;
use watchers::Watchers;

use super::kills;
use crate::harness::process::Server;

const ROOMS: usize = 50;

/// Number of rooms that are watched.
const WATCHED: usize = 12;

/// Number of moves between two kills: at least one, and few enough that the rounds are short.
const MAX_MOVES: u64 = 300;

/// Maximum number of servers in a round that are killed while they start.
const MAX_KILLED_STARTS: u64 = 2;

/// Maximum number of changes of the files before such a kill. A start makes about as many.
const MAX_CHANGES: u64 = 5;

/// Credits may be greater than the downtime by the time since the killed server's last heartbeat, every five seconds.
const MAX_EXTRA_CREDIT: Duration = Duration::from_millis(5_100);

#[tokio::test]
async fn acknowledged_moves_survive_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (mut chance, mut acknowledged) = (SplitMix64::new(20), Acknowledged::default());
    let mut server = start(folder.path());
    let mut bots = Bots::create(&server.url, ROOMS, "1").await;
    let mut watchers = Watchers::of(&bots.rooms()[..WATCHED]);
    watchers.start(bots.player()).await;
    for round in 0..kills() {
        let moves = 1 + chance.next() % MAX_MOVES;
        // While other moves are being written.
        bots.play(moves, &mut acknowledged).await;
        let killing = Instant::now();
        server.kill();
        let mut killed = Instant::now();
        bots.disconnect(&mut acknowledged).await;
        watchers.stop().await;
        let running = check_files::check(folder.path(), &acknowledged, ROOMS).await;
        let mut downtime = Duration::ZERO;
        for _ in 0..chance.next() % (MAX_KILLED_STARTS + 1) {
            downtime += killed.elapsed();
            kill_at_start(folder.path(), chance.next() % (MAX_CHANGES + 1));
            killed = Instant::now();
        }
        downtime += killed.elapsed();
        server = start(folder.path());
        let most = killing.elapsed() + MAX_EXTRA_CREDIT;
        bots.reconnect(&server.url).await;
        bots.check_credits(&running, &(downtime..=most)).await;
        bots.check_rooms(&acknowledged).await;
        watchers.check(bots.player()).await;
        watchers.start(bots.player()).await;
        bots.start().await;
        println!("round {round}: {moves} moves waited for, {} acknowledged in all", acknowledged.count());
    }
    bots.play(MAX_MOVES, &mut acknowledged).await;
    bots.stop();
    let (clean, log) = server.stop().await;
    assert!(clean, "{log}");
    check_files::check(folder.path(), &acknowledged, ROOMS).await;
    println!("{} kills, {} moves acknowledged, all of them found", kills(), acknowledged.count());
}

fn start(folder: &Path) -> Server {
    Server::start(&options(folder))
}

fn options(folder: &Path) -> [&str; 4] {
    ["--data", folder.to_str().unwrap(), "--log", "warn"]
}

/// Kills a server that starts, after this many changes of its files.
fn kill_at_start(folder: &Path, changes: u64) {
    let sizes = || {
        let files = fs::read_dir(folder).unwrap().flatten();
        let size =
            |file: fs::DirEntry| file.metadata().map(|data| (file.file_name(), data.len(), data.modified().ok()));
        let mut sizes: Vec<_> = files.filter_map(|file| size(file).ok()).collect();
        sizes.sort_unstable();
        sizes
    };
    let (mut seen, mut left) = (sizes(), changes);
    Server::kill_at_start(&options(folder), || {
        let now = sizes();
        if now != seen {
            (seen, left) = (now, left.saturating_sub(1));
        }
        left == 0
    });
}
