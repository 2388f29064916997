//! The host of rooms, which starts their actors.

use std::sync::Arc;

use super::{
    actor::{self, ActorContext, Origin},
    holders::Holders,
    registry::RoomHandle,
};
use crate::{
    room::{Rejection, Room, RoomId},
    runtime::{
        lobby::listing::{Listing, Lobby},
        outcome::RoomError,
    },
};

/// Gives rooms their actors. Clones are handles to the same rooms.
#[derive(Clone)]
pub(crate) struct RoomHost {
    pub(crate) context: Arc<ActorContext>,
    pub(crate) lobby: Arc<Lobby>,
}

impl RoomHost {
    /// The actor of an open room, started from the journal if it has none.
    pub(crate) async fn room(&self, id: RoomId) -> Result<RoomHandle, RoomError> {
        if let Some(handle) = self.context.registry.live(id) {
            return Ok(handle);
        }
        let history = self.context.journal.load(id).await.map_err(|error| {
            tracing::error!(room = %id, "a room cannot be read");
            RoomError::from(error)
        })?;
        let room = history.ok_or(Rejection::RoomNotFound)?.latest();
        Ok(self.start(room, Origin::Journal))
    }

    pub(crate) fn start(&self, room: Room, origin: Origin) -> RoomHandle {
        // A separate token, so that rooms do not contend when they poll it.
        let stop = self.context.lifecycle.stop.child_token();
        let listing = || Listing::new(&self.lobby, &room);
        let (handle, new) = self.context.registry.register(&room, stop, listing);
        if let Some(new) = new {
            let origin = if new.was_dormant { Origin::Dormant } else { origin };
            actor::spawn(Arc::clone(&self.context), room, origin, new);
        }
        handle
    }

    pub(crate) fn register_dormant(&self, room: &Room) {
        Holders::note(&self.context.players, room, false);
        self.context.registry.register_dormant(room, Listing::new(&self.lobby, room));
    }

    /// Starts the actor of a dormant room in the background, so that it handles its deadline.
    pub(crate) fn wake(&self, room: RoomId) {
        let host = self.clone();
        self.context.lifecycle.spawn(async move {
            if let Err(error) = host.room(room).await {
                tracing::warn!(%room, %error, "a dormant room could not be loaded");
            }
        });
    }
}
