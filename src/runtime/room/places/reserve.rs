//! Reservations, and what a player holds at all nodes.

use std::sync::Arc;

use super::{Full, ReservedPlace, SharedPlace};
use crate::{
    room::RoomId,
    runtime::{
        outcome::RoomError,
        player::{player::Player, quota::Holding},
        room::rooms::Rooms,
    },
    store::{HeldRoom, PlaceRequest},
};

impl Rooms {
    /// Reserves a place in a room. A room that counts already can always be reserved.
    pub(in crate::runtime::room) async fn reserve(
        &self,
        player: &Player,
        what: Holding,
        room: RoomId,
        limit: usize,
    ) -> Result<Result<ReservedPlace, Full>, RoomError> {
        let context = &self.host.context;
        let Some(here) = player.quota.reserve(what, room, limit) else {
            return Ok(Err(if player.quota.is_full(what, limit) { Full::Player } else { Full::Address }));
        };
        let Some(cluster) = &context.cluster else { return Ok(Ok(ReservedPlace { _here: here, shared: None })) };
        // Made first, so that the place is released even if this is cancelled.
        let shared = SharedPlace { context: Arc::clone(context), number: self.random.bits(), expires: false };
        let is_seat = what == Holding::Seat;
        let place = PlaceRequest { number: shared.number, player: player.id(), room, is_seat, limit };
        let turn = player.reserving.lock().await;
        let reserved = cluster.player_store.reserve_place(place).await?;
        drop(turn);
        Ok(if reserved { Ok(ReservedPlace { _here: here, shared: Some(shared) }) } else { Err(Full::Player) })
    }

    /// The rooms of which a player is a member, on whichever node they are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn held_by(&self, player: &Player) -> Result<Vec<HeldRoom>, RoomError> {
        if let Some(cluster) = self.host.context.cluster.as_ref().filter(|_| !player.is_visitor()) {
            return Ok(cluster.player_store.held_rooms(player.id()).await?);
        }
        let seats = player.seats();
        let held = |room| HeldRoom { room, seated: seats.contains(&room) };
        Ok(player.rooms().into_iter().map(held).collect())
    }

    /// The rooms in which a player has a seat, on whichever node they are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn seats_of(&self, player: &Player) -> Result<Vec<RoomId>, RoomError> {
        if self.host.context.cluster.is_none() {
            return Ok(player.seats());
        }
        Ok(self.held_by(player).await?.into_iter().filter(|held| held.seated).map(|held| held.room).collect())
    }
}
