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

impl Rooms {
    /// Runs a request that creates a room with a given id or finds another one, unless an earlier request with the same id
    /// has.
    pub(super) async fn create_by_request(
        &self,
        player: &Arc<Player>,
        request: Option<String>,
        create: impl AsyncFnOnce(RoomId) -> Result<RoomId, RoomError>,
    ) -> Result<Snapshot, RoomError> {
        let new = self.host.new_room(self.random.bits())?;
        let room = match request {
            None => create(new).await?,
            Some(request) => {
                let note = format!("room {request}");
                let create = async || match self.created_before(player, note, new).await? {
                    Earlier::Created(room) => Ok(room),
                    Earlier::Unknown(room) => create(room).await,
                };
                player.rooms_created.once(request, create).await?.0
            }
        };
        self.snapshot_as_admin(room).await
    }

    /// The room of a request that was sent to any node before.
    async fn created_before(&self, player: &Player, note: String, new: RoomId) -> Result<Earlier, RoomError> {
        let Some(cluster) = &self.host.context.cluster else { return Ok(Earlier::Unknown(new)) };
        let target = RequestTarget { room: new, last_game: 0, is_closed: false };
        let noted = cluster.player_store.note_request(player.id(), note, target).await?;
        if noted.room == new {
            return Ok(Earlier::Unknown(new));
        }
        match self.snapshot_as_admin(noted.room).await {
            // Both create the room with this id, or only one does.
            Err(RoomError::Rejected(Rejection::RoomNotFound)) if !noted.is_closed => Ok(Earlier::Unknown(noted.room)),
            found => found.map(|_| Earlier::Created(noted.room)),
        }
    }

    /// Starts a game, unless a request that was sent to any node before has.
    pub(in crate::runtime::room) async fn start_once(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        note: String,
    ) -> Result<Accepted, RoomError> {
        let Some(cluster) = &self.host.context.cluster else {
            return self.command(player, room, Command::Start).await;
        };
        let snapshot = self.snapshot_as_admin(room).await?;
        let target = RequestTarget { room, last_game: last_game(&snapshot.room), is_closed: false };
        let noted = cluster.player_store.note_request(player.id(), note, target).await?;
        if let Some(started) = started_after(&snapshot.room, noted.last_game) {
            return Ok(started);
        }
        let outcome = self.command(player, room, Command::Start).await;
        if outcome.is_err()
            && let Ok(snapshot) = self.snapshot_as_admin(room).await
            && let Some(started) = started_after(&snapshot.room, noted.last_game)
        {
            return Ok(started);
        }
        outcome
    }
}

/// What an earlier request with the same id has done.
enum Earlier {
    /// It has this room.
    Created(RoomId),
    /// Nothing, or not yet: it would create a room with this id.
    Unknown(RoomId),
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
