//! The rooms in which players wait for any opponent, as PostgreSQL keeps them.

use std::time::Duration;

use reversi::{room::RoomId, runtime::NodeId};
use tokio::time::Instant;

/// Time after which another node may take the rooms of one that has not returned them.
const HELD_FOR: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct Waiting {
    /// The oldest first.
    rooms: Vec<RoomId>,
    /// The node that has them, and until when the others wait for it.
    taken: Option<(NodeId, Instant)>,
}

impl Waiting {
    /// Returns false while another node has the rooms.
    pub(super) fn take(&mut self, node: NodeId) -> bool {
        let now = Instant::now();
        let is_free = self.taken.is_none_or(|(by, until)| by == node || until < now);
        if is_free {
            self.taken = Some((node, now + HELD_FOR));
        }
        is_free
    }

    pub(super) fn oldest(&self, limit: usize) -> Vec<RoomId> {
        self.rooms.iter().copied().take(limit).collect()
    }

    pub(super) fn give_back(&mut self, node: NodeId, gone: &[RoomId], new: &[RoomId]) {
        self.rooms.retain(|room| !gone.contains(room));
        self.add(new);
        self.taken = self.taken.filter(|(by, _)| *by != node);
    }

    pub(super) fn add(&mut self, rooms: &[RoomId]) {
        for room in rooms {
            if !self.rooms.contains(room) {
                self.rooms.push(*room);
            }
        }
    }
}
