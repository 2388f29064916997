//! Rooms in which a player waits for any opponent.

use crate::{room::RoomId, runtime::limit::limits::WAITING_ROOMS};

/// Oldest first: first come, first served. Locked during a match, so that no room is matched twice.
#[derive(Default)]
pub(crate) struct WaitingRooms(pub(crate) Vec<RoomId>);

impl WaitingRooms {
    pub(crate) fn remove(&mut self, room: RoomId) {
        self.0.retain(|&waiting| waiting != room);
    }

    /// Adds a room, unless it waits already. At the bound the oldest is dropped; it is still in the room list.
    pub(crate) fn add(&mut self, room: RoomId) {
        if self.0.contains(&room) {
            return;
        }
        if self.0.len() == WAITING_ROOMS {
            self.0.remove(0);
        }
        self.0.push(room);
    }
}
