//! Requests with ids, which take effect once. A node remembers the last ones of its players. A store that nodes share does, too, since a
//! request may be sent again to another node.

use std::sync::Arc;

use crate::{
    room::{Command, GameId, PlayerId, Rejection, Room, RoomId},
    runtime::{
        outcome::{Accepted, RoomError},
        player::player::Player,
        room::{message::Snapshot, rooms::Rooms},
    },
    store::{ForgetWhen, RequestTarget},
};

/// The id of a room to be created.
pub(super) struct NewRoomId {
    pub(super) id: RoomId,
    /// Whether this call has chosen it at random. Otherwise an earlier call of the same request has, and may have created the room.
    pub(super) is_own: bool,
    /// Whether the same request has created or found the room already.
    pub(super) is_created: bool,
    /// The key of the request in the store, if it has an id.
    request_key: Option<String>,
}

impl NewRoomId {
    /// The id that the first request has chosen.
    fn with_id(&self, id: RoomId) -> Self {
        Self { id, is_own: self.is_own && id == self.id, is_created: false, request_key: self.request_key.clone() }
    }

    /// The id of the room that the first request has created or found.
    fn created(&self, id: RoomId) -> Self {
        Self { is_own: false, is_created: true, ..self.with_id(id) }
    }
}

/// What an earlier request with the same id has done.
pub(super) enum Earlier {
    /// It has created or found this room.
    Done(RoomId),
    /// It has created or found this room, in which the player has a seat. The last step of a quick start may not be done.
    Begun(NewRoomId),
    /// Nothing, or not yet: it would create a room with this id.
    Unknown(NewRoomId),
}

impl Rooms {
    /// Runs a request that creates a room or finds one. A repeated request, sent to any node, gets the result of the first one.
    pub(super) async fn create_by_request(
        &self,
        player: &Arc<Player>,
        request: Option<String>,
        create: impl AsyncFnOnce(NewRoomId) -> Result<Snapshot, RoomError>,
    ) -> Result<Snapshot, RoomError> {
        let Some(request) = request else { return create(self.new_room(None)?).await };
        let key = format!("room {request}");
        let create = async |new| Ok(create(new).await?.room.id());
        let create = async || self.create_recorded(player, key, create).await;
        let (room, _) = player.rooms_created.once(request, create).await?;
        self.snapshot_as_admin(room).await
    }

    async fn create_recorded(
        &self,
        player: &Player,
        key: String,
        create: impl AsyncFnOnce(NewRoomId) -> Result<RoomId, RoomError>,
    ) -> Result<RoomId, RoomError> {
        let new = self.new_room(Some(key.clone()))?;
        let new = match self.earlier(player, &new).await? {
            Earlier::Done(room) => return Ok(room),
            Earlier::Begun(new) | Earlier::Unknown(new) => new,
        };
        let is_own = new.is_own;
        let created = create(new).await;
        if let Err(error) = &created
            && is_own
        {
            let when = if error.is_unknown() { ForgetWhen::Closed } else { ForgetWhen::NotOpen };
            // If this fails, the request that is sent again may find that its room has closed.
            let _ = self.host.context.player_store.forget_request(player.id(), key, when).await;
        }
        created
    }

    fn new_room(&self, request_key: Option<String>) -> Result<NewRoomId, RoomError> {
        let id = self.host.context.cluster.new_room(self.random.bits()).ok_or(RoomError::Unreachable)?;
        Ok(NewRoomId { id, is_own: true, is_created: false, request_key })
    }

    /// What the same request has done that was sent to any node before. The first one is recorded.
    pub(super) async fn earlier(&self, player: &Player, new: &NewRoomId) -> Result<Earlier, RoomError> {
        let Some(key) = &new.request_key else { return Ok(Earlier::Unknown(new.with_id(new.id))) };
        let store = &self.host.context.player_store;
        let recorded = || store.record_request(player.id(), key.clone(), RequestTarget::new(new.id, 0));
        let room = recorded().await?.room;
        if room == new.id && new.is_own {
            return Ok(Earlier::Unknown(new.with_id(room)));
        }
        match self.snapshot_as_admin(room).await {
            Ok(found) if is_unfinished(&found.room, player.id()) => Ok(Earlier::Begun(new.created(room))),
            Ok(_) => Ok(Earlier::Done(room)),
            Err(RoomError::Rejected(Rejection::RoomNotFound)) => {
                // Read again, as the room may have closed meanwhile. Otherwise each of the requests creates it, or finds it.
                let RequestTarget { room, was_open, .. } = recorded().await?;
                if was_open { Err(Rejection::RoomNotFound.into()) } else { Ok(Earlier::Unknown(new.with_id(room))) }
            }
            Err(error) => Err(error),
        }
    }

    /// Records that a request has found a room instead of creating one.
    pub(super) async fn record_found(&self, player: &Player, new: &NewRoomId, room: RoomId) -> Result<(), RoomError> {
        if let Some(key) = &new.request_key {
            self.host.context.player_store.redirect_request(player.id(), key.clone(), room).await?;
        }
        Ok(())
    }

    /// Starts a game, unless the same request that was sent to any node before has.
    pub(in crate::runtime::room) async fn start_once(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        key: String,
    ) -> Result<Accepted, RoomError> {
        let start = || self.command(player, room, Command::Start);
        let store = &self.host.context.player_store;
        let before = self.snapshot_as_admin(room).await?.room;
        if before.owner().is_none_or(|owner| owner.id != player.id()) {
            // It is refused.
            return start().await;
        }
        let target = RequestTarget::new(room, last_game(&before));
        let recorded = store.record_request(player.id(), key.clone(), target).await?;
        let started = async || {
            let snapshot = self.snapshot_as_admin(room).await?;
            Ok::<_, RoomError>(started_after(&snapshot.room, recorded.last_game))
        };
        if let Some(started) = started().await? {
            return Ok(started);
        }
        let outcome = start().await;
        if outcome.is_err() {
            let was_refused = matches!(outcome, Err(RoomError::Rejected(_) | RoomError::TooFast(_)));
            match started().await {
                // By the same request, meanwhile.
                Ok(Some(started)) => return Ok(started),
                // A later game is not that of this request.
                Ok(None) if was_refused => {
                    let _ = store.forget_request(player.id(), key, ForgetWhen::Always).await;
                }
                _ => {}
            }
        }
        outcome
    }

    /// Whether the same request has begun a game in the room, at this node or another one.
    pub(super) async fn has_game(&self, new: &NewRoomId) -> Result<bool, RoomError> {
        Ok(new.request_key.is_some() && self.snapshot_as_admin(new.id).await?.room.game().is_some())
    }

    /// Leaves a room whose creation could not be finished: only if this call has created it, and it had no game. If that fails,
    /// `GetMe` lists the room.
    pub(super) async fn undo_creation(&self, player: &Arc<Player>, new: &NewRoomId) {
        let may_leave = self.snapshot_as_admin(new.id).await.is_ok_and(|found| found.room.game().is_none());
        if new.is_own && may_leave {
            let _ = self.command(player, new.id, Command::Vacate).await;
        }
    }
}

/// Whether the node that created a room may have ended before the last step of a quick start, in which the player starts a game,
/// or gets ready and the room waits for an opponent.
fn is_unfinished(room: &Room, player: PlayerId) -> bool {
    room.game().is_none() && room.seat_of(player).is_some()
}

/// The number of the running or last game of a room; 0 for none.
pub(super) fn last_game(room: &Room) -> u32 {
    room.game().map_or(0, |game| game.number)
}

/// The answer to a request to start a game after another one, if that has started.
fn started_after(room: &Room, last: u32) -> Option<Accepted> {
    let game = GameId { room: room.id(), number: last + 1 };
    (last_game(room) > last).then_some(Accepted { seq: room.seq(), changed: false, game: Some(game) })
}
