//! What one player holds: the rooms and seats that rooms have given, and those that are being asked for.
//!
//! Only a room's actor writes what is held. A request keeps a [`Place`] while it asks, so that two at once cannot both
//! get the last one; its end takes nothing away that the room has given meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::players::Player;
use crate::room::RoomId;

/// What a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Membership of a room.
    Room,
    /// A seat in a room.
    Seat,
}

#[derive(Default)]
pub(super) struct Holdings {
    rooms: Held,
    seats: Held,
    /// Set when the player logs out: nothing may be gained any more.
    pub(super) gone: bool,
    /// Rooms that were too busy to be told of the player's presence, and for which somebody waits.
    pub(super) untold: BTreeSet<RoomId>,
}

#[derive(Default)]
struct Held {
    confirmed: BTreeSet<RoomId>,
    /// How many requests ask for each.
    pending: BTreeMap<RoomId, u32>,
}

/// A place within a quota, kept while a room is asked. It ends when it is dropped, with its request or before it.
pub(super) struct Place {
    player: Arc<Player>,
    what: Holding,
    room: RoomId,
}

impl Place {
    /// Keeps a place for one more; none when the player holds as many as it may, or has logged out.
    pub(super) fn keep(player: &Arc<Player>, what: Holding, room: RoomId, limit: usize) -> Option<Self> {
        let mut holdings = player.holdings();
        let gone = holdings.gone;
        let held = holdings.of(what);
        if !held.has(room) && (gone || held.count() >= limit) {
            return None;
        }
        *held.pending.entry(room).or_default() += 1;
        Some(Self { player: Arc::clone(player), what, room })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut holdings = self.player.holdings();
        let pending = &mut holdings.of(self.what).pending;
        if let Some(requests) = pending.get_mut(&self.room) {
            *requests -= 1;
            if *requests == 0 {
                pending.remove(&self.room);
            }
        }
    }
}

impl Holdings {
    /// Notes what a room has given or taken.
    pub(super) fn note(&mut self, what: Holding, room: RoomId, holds: bool) {
        let confirmed = &mut self.of(what).confirmed;
        if holds {
            confirmed.insert(room);
        } else {
            confirmed.remove(&room);
        }
    }

    /// What rooms have given.
    pub(super) fn confirmed(&self, what: Holding) -> &BTreeSet<RoomId> {
        match what {
            Holding::Room => &self.rooms.confirmed,
            Holding::Seat => &self.seats.confirmed,
        }
    }

    /// Whether it is a member of no room, and about to be of none.
    pub(super) fn is_empty(&self) -> bool {
        self.rooms.confirmed.is_empty() && self.rooms.pending.is_empty()
    }

    fn of(&mut self, what: Holding) -> &mut Held {
        match what {
            Holding::Room => &mut self.rooms,
            Holding::Seat => &mut self.seats,
        }
    }
}

impl Held {
    fn has(&self, room: RoomId) -> bool {
        self.confirmed.contains(&room) || self.pending.contains_key(&room)
    }

    fn count(&self) -> usize {
        self.confirmed.len() + self.pending.keys().filter(|room| !self.confirmed.contains(room)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{Limits, players::Players},
    };

    #[test]
    fn the_end_of_a_request_takes_nothing_that_another_gained() {
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0, &Limits::default()).unwrap();
        let [room, other] = [1, 2].map(RoomId::from_random);
        let keep = |room| Place::keep(&ada, Holding::Seat, room, 1);
        let (first, second) = (keep(room).unwrap(), keep(room).unwrap());
        assert!(keep(other).is_none());
        ada.holdings().note(Holding::Seat, room, true);
        drop((first, second));
        assert_eq!(ada.seats(), [room]);
        assert!(keep(other).is_none() && keep(room).is_some());
        ada.holdings().note(Holding::Seat, room, false);
        let place = keep(other).unwrap();
        assert!(keep(room).is_none() && ada.seats().is_empty());
        drop(place);
        ada.holdings().gone = true;
        assert!(keep(room).is_none());
    }
}
