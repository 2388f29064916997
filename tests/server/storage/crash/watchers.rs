//! Watchers of rooms, which remember every event that a killed server has sent to them.

use std::collections::BTreeMap;

use reversi::proto::v1::{RoomEvent, WatchRoomResponse, watch_room_response::Message};
use tokio::task::JoinSet;
use tonic::Streaming;

use crate::harness::process::Player;

/// What is known of each watched room.
pub(crate) struct Watchers {
    rooms: BTreeMap<String, WatchedRoom>,
    tasks: JoinSet<(String, WatchedRoom)>,
}

#[derive(Default)]
struct WatchedRoom {
    /// The last event received.
    last: Option<u64>,
    /// The events received from the last server.
    events: Vec<RoomEvent>,
}

impl Watchers {
    pub(crate) fn of(rooms: &[String]) -> Self {
        let rooms = rooms.iter().map(|room| (room.clone(), WatchedRoom::default())).collect();
        Self { rooms, tasks: JoinSet::new() }
    }

    /// Watches each room, after the last event received.
    pub(crate) async fn start(&mut self, player: &Player) {
        for (room, watched) in std::mem::take(&mut self.rooms) {
            let stream = player.watch_after(&room, watched.last).await;
            self.tasks.spawn(async move { (room, watched.read(stream).await) });
        }
    }

    /// Waits until the streams of a killed server end.
    pub(crate) async fn stop(&mut self) {
        while let Some(watched) = self.tasks.join_next().await {
            self.rooms.extend([watched.unwrap()]);
        }
    }

    /// Checks that the next server has the same events.
    pub(crate) async fn check(&self, player: &Player) {
        for (room, watched) in &self.rooms {
            let Some(first) = watched.events.first() else { continue };
            let mut stream = player.watch_after(room, Some(first.seq - 1)).await;
            for event in &watched.events {
                let again = stream.message().await.unwrap().unwrap().message.unwrap();
                assert_eq!(again, Message::Event(event.clone()), "a watcher of {room} received another event");
            }
        }
    }
}

impl WatchedRoom {
    async fn read(mut self, mut stream: Streaming<WatchRoomResponse>) -> Self {
        self.events.clear();
        while let Ok(Some(message)) = stream.message().await {
            match message.message.unwrap() {
                Message::Snapshot(room) => {
                    assert_eq!(self.last, None, "a short absence needs no snapshot");
                    self.last = Some(room.seq);
                }
                Message::Event(event) => {
                    assert_eq!(Some(event.seq - 1), self.last, "no event is left out or repeated");
                    self.last = Some(event.seq);
                    self.events.push(event);
                }
                _ => {}
            }
        }
        self
    }
}
