//! The players with a place in a room: a membership or a seat, as counted in the players' quotas.

use std::collections::BTreeSet;

use crate::{
    room::{Event, Phase, PlayerId, Room, RoomId},
    runtime::player::{directory::Players, quota::Place},
};

/// The players with a place, as last recorded in the players' quotas.
#[derive(Default)]
pub(crate) struct CountedPlaces {
    members: BTreeSet<PlayerId>,
    seated: BTreeSet<PlayerId>,
}

impl CountedPlaces {
    fn of(room: &Room) -> Self {
        if room.phase() == Phase::Closed {
            return Self::default();
        }
        Self {
            members: room.members().iter().map(|member| member.profile.id).collect(),
            seated: room.seats().iter().filter_map(|(_, seat)| seat.occupant.player()).collect(),
        }
    }

    /// Records the places. If `corrects`, wrong records of an earlier actor of the room are corrected, too.
    pub(crate) fn note(players: &Players, room: &Room, corrects: bool) -> Self {
        let (id, places) = (room.id(), Self::of(room));
        let mut concerned: BTreeSet<_> = places.members.union(&places.seated).copied().collect();
        if corrects {
            concerned.extend(players.with_place_in(id).iter().map(|player| player.id()));
        }
        for player in concerned.iter().filter_map(|player| players.get(*player)) {
            player.quota.note(Place::Seat, id, places.seated.contains(&player.id()));
            player.quota.note(Place::Room, id, places.members.contains(&player.id()));
        }
        places
    }

    /// Records the changes since the last record.
    pub(crate) fn update(&mut self, players: &Players, room: &Room) {
        self.replace(players, room.id(), Self::of(room));
    }

    /// Also records the places after events that may be in the journal, so that no player exceeds a quota meanwhile.
    pub(crate) fn expect(&mut self, players: &Players, room: &Room, in_doubt: &[Event]) {
        let mut after = room.clone();
        in_doubt.iter().for_each(|event| after.apply(event));
        let mut expected = Self::of(&after);
        expected.members.extend(&self.members);
        expected.seated.extend(&self.seated);
        self.replace(players, room.id(), expected);
    }

    /// Removes all records, because another node has the room.
    pub(crate) fn release(&mut self, players: &Players, room: RoomId) {
        self.replace(players, room, Self::default());
    }

    fn replace(&mut self, players: &Players, room: RoomId, after: Self) {
        let before = std::mem::replace(self, after);
        let note = |what, before: &BTreeSet<PlayerId>, after: &BTreeSet<PlayerId>| {
            for player in before.symmetric_difference(after) {
                if let Some(known) = players.get(*player) {
                    known.quota.note(what, room, after.contains(player));
                }
            }
        };
        note(Place::Seat, &before.seated, &self.seated);
        note(Place::Room, &before.members, &self.members);
    }
}
