//! Requests with ids, which take effect once. A node remembers the last ones of its players. In a cluster the store does, too, since a
//! request may be sent again to another node.

use std::sync::Arc;

use crate::{
    room::{Command, GameId, Rejection, Room, RoomId},
    runtime::{
        outcome::{Accepted, RoomError},
        player::player::Player,
        room::{message::Snapshot, rooms::Rooms},
    },
    store::RequestTarget,
};

/// The id of a room to be created.
pub(super) struct NewRoomId {
    pub(super) id: RoomId,
    /// The request as the store has it, if it has an id.
    note: Option<String>,
}

/// What an earlier request with the same id has done.
pub(super) enum Earlier {
    /// It has created or found this room.
    Done(RoomId),
    /// Nothing, or not yet: it would create a room with this id.
    Unknown(RoomId),
}

impl Rooms {
    /// Runs a request that creates a room or finds one, unless an earlier request with the same id has.
    pub(super) async fn create_by_request(
        &self,
        player: &Arc<Player>,
        request: Option<String>,
        create: impl AsyncFnOnce(NewRoomId) -> Result<RoomId, RoomError>,
    ) -> Result<Snapshot, RoomError> {
        let room = match request {
            None => create(self.new_room(None)?).await?,
            Some(request) => {
                let note = format!("room {request}");
                let create = async || self.create_noted(player, note, create).await;
                player.rooms_created.once(request, create).await?.0
            }
        };
        self.snapshot_as_admin(room).await
    }

    async fn create_noted(
        &self,
        player: &Player,
        note: String,
        create: impl AsyncFnOnce(NewRoomId) -> Result<RoomId, RoomError>,
    ) -> Result<RoomId, RoomError> {
        let new = self.new_room(Some(note.clone()))?;
        let id = match self.earlier(player, &new).await? {
            Earlier::Done(room) => return Ok(room),
            Earlier::Unknown(id) => id,
        };
        let created = create(NewRoomId { id, ..new }).await;
        if created.is_err()
            && let Some(cluster) = &self.host.context.cluster
        {
            // Sent again, it is executed again. If this fails, it may find that its room has closed.
            let _ = cluster.player_store.forget_request(player.id(), note, Some(id)).await;
        }
        created
    }

    fn new_room(&self, note: Option<String>) -> Result<NewRoomId, RoomError> {
        Ok(NewRoomId { id: self.host.new_room(self.random.bits())?, note })
    }

    /// What the same request has done that was sent to any node before. The first one is recorded.
    pub(super) async fn earlier(&self, player: &Player, new: &NewRoomId) -> Result<Earlier, RoomError> {
        let (Some(cluster), Some(note)) = (&self.host.context.cluster, &new.note) else {
            return Ok(Earlier::Unknown(new.id));
        };
        let noted = || cluster.player_store.note_request(player.id(), note.clone(), RequestTarget::new(new.id, 0));
        let room = noted().await?.room;
        if room == new.id {
            return Ok(Earlier::Unknown(room));
        }
        match self.snapshot_as_admin(room).await {
            // Read again, as it may have closed meanwhile. Otherwise one of the two creates the room with this id.
            Err(RoomError::Rejected(Rejection::RoomNotFound)) if !noted().await?.is_closed => {
                Ok(Earlier::Unknown(room))
            }
            found => found.map(|_| Earlier::Done(room)),
        }
    }

    /// Records that a request has found a room instead of creating one.
    pub(super) async fn note_found(&self, player: &Player, new: &NewRoomId, room: RoomId) -> Result<(), RoomError> {
        if let (Some(cluster), Some(note)) = (&self.host.context.cluster, &new.note) {
            cluster.player_store.move_request(player.id(), note.clone(), room).await?;
        }
        Ok(())
    }

    /// Starts a game, unless the same request that was sent to any node before has.
    pub(in crate::runtime::room) async fn start_once(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        note: String,
    ) -> Result<Accepted, RoomError> {
        let start = || self.command(player, room, Command::Start);
        let Some(cluster) = &self.host.context.cluster else { return start().await };
        let before = self.snapshot_as_admin(room).await?.room;
        if before.owner().is_none_or(|owner| owner.id != player.id()) {
            // It is refused.
            return start().await;
        }
        let target = RequestTarget::new(room, last_game(&before));
        let noted = cluster.player_store.note_request(player.id(), note.clone(), target).await?;
        let started = async || {
            let snapshot = self.snapshot_as_admin(room).await?;
            Ok::<_, RoomError>(started_after(&snapshot.room, noted.last_game))
        };
        if let Some(started) = started().await? {
            return Ok(started);
        }
        let outcome = start().await;
        if outcome.is_err() {
            // The same request may have started it meanwhile.
            if let Ok(Some(started)) = started().await {
                return Ok(started);
            }
            if matches!(outcome, Err(RoomError::Rejected(_) | RoomError::TooFast(_))) {
                // A later game is not that of this request.
                let _ = cluster.player_store.forget_request(player.id(), note, None).await;
            }
        }
        outcome
    }

    /// Whether a game runs in a room, as far as that can be seen.
    pub(super) async fn is_playing(&self, room: RoomId) -> bool {
        self.snapshot_as_admin(room).await.is_ok_and(|snapshot| snapshot.room.running().is_some())
    }
}

/// The number of the running or last game of a room; 0 for none.
fn last_game(room: &Room) -> u32 {
    room.game().map_or(0, |game| game.number)
}

/// The answer to a request to start a game after another one, if that has started.
fn started_after(room: &Room, last: u32) -> Option<Accepted> {
    let game = GameId { room: room.id(), number: last + 1 };
    (last_game(room) > last).then_some(Accepted { seq: room.seq(), changed: false, game: Some(game) })
}
