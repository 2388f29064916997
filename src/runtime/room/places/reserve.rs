//! Reservations, and what a player holds at all nodes.

use std::sync::Arc;

use super::{Full, ReservedPlace};
use crate::{
    room::RoomId,
    runtime::{
        outcome::RoomError,
        player::{player::Player, quota::Place},
        room::rooms::Rooms,
    },
    store::{PlaceRequest, RoomPlace},
};

impl Rooms {
    /// Reserves a place in a room. A room that counts already can always be reserved.
    pub(in crate::runtime::room) async fn reserve(
        &self,
        player: &Player,
        what: Place,
        room: RoomId,
        limit: usize,
    ) -> Result<Result<ReservedPlace, Full>, RoomError> {
        let context = &self.host.context;
        let Some(here) = player.quota.reserve(what, room, limit) else {
            return Ok(Err(if player.quota.is_full(what, limit) { Full::Player } else { Full::Address }));
        };
        let mut place = ReservedPlace { _here: here, context: Arc::clone(context), stored: None };
        if !context.cluster.shares_store() {
            return Ok(Ok(place));
        }
        let (number, is_seat) = (self.random.bits(), what == Place::Seat);
        // First, so that the place is released even if this is cancelled.
        place.stored = Some(number);
        let request = PlaceRequest { number, player: player.id(), room, is_seat, limit };
        let turn = player.reserving.lock().await;
        let reserved = context.player_store.reserve_place(request).await?;
        drop(turn);
        Ok(if reserved { Ok(place) } else { Err(Full::Player) })
    }

    /// The rooms of which a player is a member, on whichever node they are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn places_of(&self, player: &Player) -> Result<Vec<RoomPlace>, RoomError> {
        let context = &self.host.context;
        if context.cluster.shares_store() && !player.is_visitor() {
            return Ok(context.player_store.room_places(player.id()).await?);
        }
        let seats = player.seats();
        let place = |room| RoomPlace { room, seated: seats.contains(&room) };
        Ok(player.rooms().into_iter().map(place).collect())
    }

    /// The rooms in which a player has a seat, on whichever node they are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn seats_of(&self, player: &Player) -> Result<Vec<RoomId>, RoomError> {
        Ok(self.places_of(player).await?.into_iter().filter(|place| place.seated).map(|place| place.room).collect())
    }
}
