//! A simulated watcher of a room, which reads fast or slowly and resumes after stopping.

use std::sync::Arc;

use reversi::{
    room::{RoomId, Seq, stored},
    runtime::{Player, StreamEnd, Update, Watch, WatchStart},
};

use crate::sim::{
    call_pattern::poll_at_most,
    event_log::{Log, SimEvent, WatchUpdate},
    rng::Rng,
    server::SimServer,
};

/// Watches a room a few times, each time after the last event seen or with a new snapshot.
pub(crate) async fn watch_room(server: Arc<SimServer>, player: Arc<Player>, client: usize, room: RoomId, mut rng: Rng) {
    let mut after = None;
    for _ in 0..1 + rng.below(3) {
        let watcher = server.log.number();
        server.log.note(SimEvent::WatchStarted { watcher, client, room, after });
        let start = after.map_or(WatchStart::Snapshot, WatchStart::After);
        match server.runtime.streams.room(&player, room, server.credentials(room), start).await {
            Ok(mut watch) => read_updates(&server, watcher, &mut watch, &mut rng, &mut after).await,
            Err(_) => server.log.note(SimEvent::WatchEnded { watcher, end: None }),
        }
        if rng.percent(30) {
            after = None;
        }
        tokio::time::sleep(rng.millis(0..8_000)).await;
    }
}

async fn read_updates(server: &SimServer, watcher: u64, watch: &mut Watch, rng: &mut Rng, after: &mut Option<Seq>) {
    let slow = rng.percent(30);
    let mut open = OpenWatch { log: &server.log, watcher, end: None };
    for _ in 0..rng.pick(&[3, 30, 300]) {
        if slow && rng.percent(10) {
            tokio::time::sleep(rng.millis(100..15_000)).await;
        }
        // Dropping the wait loses no event.
        let next = match poll_at_most(rng.below(3), watch.next()).await {
            Some(next) => next,
            None => watch.next().await,
        };
        let update = match next {
            Ok(Update::Snapshot(snapshot)) => {
                *after = Some(snapshot.room.seq());
                WatchUpdate::Snapshot(snapshot.room)
            }
            Ok(Update::Event(bytes)) => {
                let event = stored::decode_event(&bytes).expect("an event as it was encoded");
                *after = Some(event.seq);
                WatchUpdate::Event(event)
            }
            Err(reason) => {
                open.end = Some(reason);
                break;
            }
        };
        server.log.note(SimEvent::UpdateReceived { watcher, update });
    }
}

/// Records the end of a watch, also when its task is dropped.
struct OpenWatch<'a> {
    log: &'a Log,
    watcher: u64,
    end: Option<StreamEnd>,
}

impl Drop for OpenWatch<'_> {
    fn drop(&mut self) {
        self.log.note(SimEvent::WatchEnded { watcher: self.watcher, end: self.end });
    }
}
