//! Rooms in which a player waits for any opponent.

use crate::room::RoomId;

/// The most rooms in which a player waits for any opponent.
pub(crate) const WAITING_ROOMS: usize = 1_024;

/// The waiting rooms, the oldest first. Locked while a player is matched, so that no room is matched twice.
#[derive(Default)]
pub(crate) struct WaitingRooms(pub(crate) Vec<RoomId>);

impl WaitingRooms {
    pub(crate) fn remove(&mut self, room: RoomId) {
        self.0.retain(|&waiting| waiting != room);
    }

    /// Adds a room, unless it is there already. At [`WAITING_ROOMS`] the oldest is removed here, but stays in the list
    /// of rooms.
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
