//! Rooms in which somebody waits for anybody.

use tokio::sync::Mutex;

use super::limits::WAITING_ROOMS;
use crate::room::RoomId;

/// First come, first served. The lock is held while two are brought together, so that nobody is matched twice.
#[derive(Default)]
pub(super) struct Matchmaker {
    pub(super) waiting: Mutex<Waiting>,
}

/// The waiting rooms, oldest first.
#[derive(Default)]
pub(super) struct Waiting {
    rooms: Vec<RoomId>,
}

impl Waiting {
    pub(super) fn rooms(&self) -> Vec<RoomId> {
        self.rooms.clone()
    }

    pub(super) fn remove(&mut self, room: RoomId) {
        self.rooms.retain(|&waiting| waiting != room);
    }

    /// Adds a room; the oldest goes when there are too many, and is still found in the list of rooms.
    pub(super) fn add(&mut self, room: RoomId) {
        if self.rooms.len() == WAITING_ROOMS {
            self.rooms.remove(0);
        }
        self.rooms.push(room);
    }
}
