//! The rooms in which a player waits for any opponent.

use tokio::sync::Mutex;

use crate::{room::RoomId, runtime::limit::limits::WAITING_ROOMS};

/// First come, first served. The lock is held during a match, so that no room is matched twice.
#[derive(Default)]
pub(crate) struct Matchmaker {
    pub(crate) waiting: Mutex<Waiting>,
}

/// The waiting rooms, oldest first.
#[derive(Default)]
pub(crate) struct Waiting {
    rooms: Vec<RoomId>,
}

impl Waiting {
    pub(crate) fn rooms(&self) -> Vec<RoomId> {
        self.rooms.clone()
    }

    pub(crate) fn remove(&mut self, room: RoomId) {
        self.rooms.retain(|&waiting| waiting != room);
    }

    /// Adds a room. At the bound the oldest is dropped; it is still in the room list.
    pub(crate) fn add(&mut self, room: RoomId) {
        if self.rooms.len() == WAITING_ROOMS {
            self.rooms.remove(0);
        }
        self.rooms.push(room);
    }
}
