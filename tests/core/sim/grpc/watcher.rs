//! A simulated watcher of a room over gRPC, as [`crate::sim::watcher`].

use std::sync::Arc;

use futures_util::StreamExt as _;
use reversi::{
    client,
    proto::v1::{self, watch_room_response::Message},
    room::{RoomId, Seq},
};
use tokio::time::timeout;
use tonic::{Status, Streaming};

use super::{Failure, client::GrpcClient, turns::stream_end};
use crate::sim::{
    call_pattern::poll_at_most,
    event_log::{SimEvent, WatchUpdate},
    rng::Rng,
    server::SimServer,
};

/// Watches a room a few times, each time after the last event seen or with a new snapshot.
pub(crate) async fn watch_room(server: Arc<SimServer>, grpc: GrpcClient, client: usize, room: RoomId, mut rng: Rng) {
    let mut after = None;
    for _ in 0..1 + rng.below(3) {
        let watcher = server.log.number();
        server.log.note(SimEvent::WatchStarted { watcher, client, room, after });
        match open(&server, &grpc, room, after).await {
            Ok(updates) => read_updates(&server, (client, watcher), updates, &mut rng, &mut after).await,
            Err(status) => {
                server.log.note(SimEvent::StreamFailed { client, stream: None, failure: Failure::from(&status) });
                server.log.note(SimEvent::WatchEnded { watcher, end: None });
            }
        }
        if rng.percent(30) {
            after = None;
        }
        if timeout(rng.millis(0..8_000), server.stopping()).await.is_ok() {
            return;
        }
    }
}

async fn open(
    server: &SimServer,
    grpc: &GrpcClient,
    room: RoomId,
    after: Option<Seq>,
) -> Result<Streaming<v1::WatchRoomResponse>, Status> {
    let request = v1::WatchRoomRequest {
        room_id: room.to_string(),
        join_code: server.credentials(room).code.map(|code| code.to_string()).unwrap_or_default(),
        password: String::new(),
        after_seq: after.map(|seq| seq.0),
        snapshots_only: false,
        ..Default::default()
    };
    Ok(grpc.rooms().watch_room(request).await?.into_inner())
}

async fn read_updates(
    server: &SimServer,
    (client, watcher): (usize, u64),
    mut updates: Streaming<v1::WatchRoomResponse>,
    rng: &mut Rng,
    after: &mut Option<Seq>,
) {
    let slow = rng.percent(30);
    let mut end = None;
    for _ in 0..rng.pick(&[3, 30, 300]) {
        if slow && rng.percent(10) {
            let _ = timeout(rng.millis(100..15_000), server.stopping()).await;
        }
        // Dropping the wait loses no event.
        let next = match poll_at_most(rng.below(3), updates.next()).await {
            Some(next) => next,
            None => updates.next().await,
        };
        let message = match next {
            None => break,
            Some(Err(status)) => {
                server.log.note(SimEvent::StreamFailed {
                    client,
                    stream: Some(watcher),
                    failure: Failure::from(&status),
                });
                break;
            }
            Some(Ok(response)) => response.message.expect("a message"),
        };
        let update = match message {
            Message::Snapshot(room) => {
                WatchUpdate::WireSnapshot(Box::new(client::Room::try_from(room).expect("a valid room")))
            }
            Message::Event(event) => {
                WatchUpdate::WireEvent(Box::new(client::RoomEvent::try_from(event).expect("a valid event")))
            }
            Message::Heartbeat(_) => continue,
            Message::Closing(closing) => {
                end = Some(stream_end(&closing));
                continue;
            }
        };
        *after = Some(update.seq());
        server.log.note(SimEvent::UpdateReceived { watcher, update });
    }
    server.log.note(SimEvent::WatchEnded { watcher, end });
}
