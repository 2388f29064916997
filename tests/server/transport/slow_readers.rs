//! A thousand watchers that never read: the memory of the real server stays bounded.

use crate::harness::process::{Server, read_until};
use reversi::proto::v1;

const CONNECTIONS: usize = 20;
const WATCHERS: usize = 50;

/// Many more events than the windows and queues of one watcher hold.
const EVENTS: u64 = 50_000;

/// After this many events every watcher has been sent as much as its window holds.
const FILLED: u64 = 2_000;

/// Maximum memory for the games played meanwhile, in KiB. A copy of the events for each watcher would take 10 GiB.
const MAX_GROWTH: u64 = 64 << 10;

/// The resident memory of the server, in KiB.
fn memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_thousand_unread_streams_take_bounded_memory() {
    // More games than the default rate of games permits.
    let server = Server::start(&["--log", "error", "--game-rate", "0", "--game-rate-per-address", "0"]);
    let owner = server.log_in("Owner", 1 << 20).await;
    // More games than the test waits for.
    let settings = v1::RoomSettings { name: "series".into(), games: 1_000, ..Default::default() };
    let room = owner.create(settings, ["random", "random"]).await.room_id;
    let mut reader = owner.watch(&room).await;
    let empty = memory(&server);
    let mut asleep = Vec::new();
    for connection in 0..CONNECTIONS {
        let player = server.log_in(&format!("Watcher {connection}"), 1 << 10).await;
        for _ in 0..WATCHERS {
            asleep.push(player.watch(&room).await);
        }
    }
    owner.start(&room).await;
    read_until(&mut reader, FILLED).await;
    let filled = memory(&server);
    read_until(&mut reader, EVENTS).await;
    let after = memory(&server);
    println!("KiB: {empty} empty, {filled} with {} watchers, {after} after {EVENTS} events", asleep.len());
    assert!(after < filled + MAX_GROWTH, "{filled} KiB before, {after} KiB after");
}
