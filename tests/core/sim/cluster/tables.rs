//! What the database has of open rooms and of their players, in tables that change together.

use std::collections::BTreeMap;

use reversi::{
    room::{Event, Fact, PlayerId, Room, RoomId},
    store::{PlaceRequest, RoomPlace},
};

use super::{places::PendingPlaces, waiting::Waiting};

#[derive(Default)]
pub(super) struct Tables {
    /// The open rooms.
    pub(super) rooms: BTreeMap<RoomId, Room>,
    pub(super) waiting: Waiting,
    pub(super) places: PendingPlaces,
}

impl Tables {
    /// The events of an append.
    pub(super) fn write(&mut self, id: RoomId, events: &[Event]) {
        for event in events {
            match &event.fact {
                Fact::Created(creation) => {
                    self.rooms.insert(id, Room::new((**creation).clone(), event.at));
                }
                Fact::Closed(_) => {
                    self.rooms.remove(&id);
                }
                _ => {
                    self.rooms.entry(id).and_modify(|room| room.apply(event));
                }
            }
        }
    }

    /// The rooms of a player, by their ids.
    pub(super) fn held(&self, player: PlayerId) -> Vec<RoomPlace> {
        let rooms = self.rooms.iter().filter(|(_, room)| room.member(player).is_some());
        rooms.map(|(id, room)| RoomPlace { room: *id, seated: room.seat_of(player).is_some() }).collect()
    }

    /// Reserves a place, unless the player is at its limit. Returns whether it did.
    pub(super) fn reserve(&mut self, place: PlaceRequest) -> bool {
        let held = self.held(place.player).into_iter().filter(|held| held.seated || !place.is_seat);
        self.places.reserve(place, held.map(|held| held.room).collect())
    }
}
