//! The watchers of one room, or of its mirror on another node.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::{
    encoded_event::EncodedEvent,
    message::{Audience, Snapshot, Subscribed, WatchAccess, WatchError},
};
use crate::room::{Room, Seq};

/// Unsent events of a watcher. Beyond this it gets a new snapshot.
const WATCHER_LAG: usize = 64;

/// The channel to the watchers, while there are any, and the snapshot that they share.
#[derive(Default)]
pub(super) struct Watchers {
    events: Option<broadcast::Sender<EncodedEvent>>,
    /// The last snapshot, shared by concurrent requests.
    snapshot: Option<Arc<Room>>,
}

impl Watchers {
    /// True if there are no watchers, so that events need not be encoded.
    pub(super) fn is_none(&self) -> bool {
        self.events.is_none()
    }

    pub(super) fn count(&self) -> u32 {
        let count = self.events.as_ref().map_or(0, broadcast::Sender::receiver_count);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Counts the watchers. Closes the channel if there are none.
    pub(super) fn recount(&mut self) -> u32 {
        let count = self.count();
        if count == 0 {
            *self = Self::default();
        }
        count
    }

    /// Closes the channel. Each watcher looks the room up again and continues after its last event.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// As [`Watchers::restart`], but each watcher gets a snapshot: events that it has are lost.
    pub(super) fn roll_back(&mut self) {
        self.send(EncodedEvent::rolled_back());
        self.restart();
    }

    /// Drops the shared snapshot, because the room has changed.
    pub(super) fn outdate(&mut self) {
        self.snapshot = None;
    }

    pub(super) fn send(&self, event: EncodedEvent) {
        if let Some(events) = &self.events {
            // The last receiver may have gone.
            let _ = events.send(event);
        }
    }

    pub(super) fn snapshot(&mut self, room: &Room) -> Snapshot {
        let watchers = self.count();
        let room = self.snapshot.take().unwrap_or_else(|| Arc::new(room.clone()));
        // Kept only while the room is watched: otherwise a second copy is not worth its memory.
        self.snapshot = (watchers > 0).then(|| Arc::clone(&room));
        Snapshot { room, watchers }
    }

    /// Subscribes a watcher to later events. It reads missed events from the journal itself.
    pub(super) fn subscribe(
        &mut self,
        room: &Room,
        access: &WatchAccess,
        after: Option<Seq>,
    ) -> Result<Subscribed, WatchError> {
        access.check(room).map_err(WatchError::Access)?;
        let known = after.filter(|after| *after <= room.seq());
        // A spectator may have had a seat, and so events that spectators do not have yet.
        if known != after && access.audience() == Audience::Live {
            return Err(WatchError::Outdated);
        }
        let events = self.events.get_or_insert_with(|| broadcast::Sender::new(WATCHER_LAG)).subscribe();
        let is_delayed = access.is_delayed(room);
        Ok(Subscribed { snapshot: self.snapshot(room), after: known, events, is_delayed, live: None })
    }

    /// The answer to a watcher after the end.
    pub(super) fn last(&mut self, room: &Room, access: &WatchAccess) -> Result<Subscribed, WatchError> {
        access.check(room).map_err(WatchError::Access)?;
        let events = broadcast::Sender::new(1).subscribe();
        let is_delayed = access.is_delayed(room);
        Ok(Subscribed { snapshot: self.snapshot(room), after: None, events, is_delayed, live: None })
    }
}
