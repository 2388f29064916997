//! What one player holds: the rooms and seats that rooms have given, and those that are being asked for.
//!
//! Only a room's actor writes what is held. A request keeps a [`Place`] while it asks, so that two at once cannot both
//! get the last one; its end takes nothing away that the room has given meanwhile. All of it counts at the player's
//! address as well, as soon as that is known.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::directory::Player;
use crate::{
    room::RoomId,
    runtime::limit::client_address::{Address, Share},
};

/// What a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Membership of a room.
    Room,
    /// A seat in a room.
    Seat,
}

impl Holding {
    const ALL: [Self; 2] = [Self::Room, Self::Seat];

    fn share(self) -> Share {
        match self {
            Self::Room => Share::Rooms,
            Self::Seat => Share::Seats,
        }
    }
}

#[derive(Default)]
pub(crate) struct Holdings {
    rooms: Held,
    seats: Held,
    /// Set when the player logs out: nothing may be gained any more.
    pub(crate) gone: bool,
    /// Rooms that were too busy to be told of the player's presence, and for which somebody waits.
    pub(crate) untold: BTreeSet<RoomId>,
}

#[derive(Default)]
struct Held {
    confirmed: BTreeSet<RoomId>,
    /// How many requests ask for each.
    pending: BTreeMap<RoomId, u32>,
}

/// A place within a quota, kept while a room is asked. It ends when it is dropped, with its request or before it.
pub(crate) struct Place {
    player: Arc<Player>,
    what: Holding,
    room: RoomId,
}

impl Place {
    /// Keeps a place for one more; none when the player or its address holds as many as it may, or the player has
    /// logged out.
    pub(crate) fn keep(player: &Arc<Player>, what: Holding, room: RoomId, limit: usize) -> Option<Self> {
        let mut holdings = player.holdings();
        let gone = holdings.gone;
        let held = holdings.of(what);
        let at_home = || player.home().is_none_or(|home| home.try_add(what.share()));
        if !held.has(room) && (gone || held.count() >= limit || !at_home()) {
            return None;
        }
        *held.pending.entry(room).or_default() += 1;
        Some(Self { player: Arc::clone(player), what, room })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.player.change(self.what, |Held { pending, .. }| {
            if let Some(requests) = pending.get_mut(&self.room) {
                *requests -= 1;
                if *requests == 0 {
                    pending.remove(&self.room);
                }
            }
        });
    }
}

impl Player {
    /// Notes where the player comes from, unless that is known: from now on what it holds and asks for counts there too.
    pub fn comes_from(&self, address: &Arc<Address>) {
        if self.home().is_some() {
            return;
        }
        let mut holdings = self.holdings();
        if self.settle(address) {
            for what in Holding::ALL {
                address.shift(what.share(), 0, holdings.of(what).count());
            }
        }
    }

    /// Notes what a room has given or taken.
    pub(crate) fn note(&self, what: Holding, room: RoomId, holds: bool) {
        self.change(what, |Held { confirmed, .. }| {
            if holds {
                confirmed.insert(room);
            } else {
                confirmed.remove(&room);
            }
        });
    }

    fn change(&self, what: Holding, change: impl FnOnce(&mut Held)) {
        let mut holdings = self.holdings();
        let held = holdings.of(what);
        let before = held.count();
        change(held);
        if let Some(home) = self.home() {
            home.shift(what.share(), before, held.count());
        }
    }
}

/// One who is forgotten holds nothing, though a room may not have been told.
impl Drop for Player {
    fn drop(&mut self) {
        Holding::ALL.into_iter().for_each(|what| self.change(what, |held| *held = Held::default()));
    }
}

impl Holdings {
    /// What rooms have given.
    pub(crate) fn confirmed(&self, what: Holding) -> &BTreeSet<RoomId> {
        match what {
            Holding::Room => &self.rooms.confirmed,
            Holding::Seat => &self.seats.confirmed,
        }
    }

    /// Whether it is a member of no room, and about to be of none.
    pub(crate) fn is_empty(&self) -> bool {
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
        runtime::{Addresses, Limits, player::directory::Players},
    };

    #[test]
    fn the_end_of_a_request_takes_nothing_that_another_gained() {
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0, &Limits::default()).unwrap();
        let [room, other] = [1, 2].map(RoomId::from_random);
        let keep = |room| Place::keep(&ada, Holding::Seat, room, 1);
        let (first, second) = (keep(room).unwrap(), keep(room).unwrap());
        assert!(keep(other).is_none());
        ada.note(Holding::Seat, room, true);
        drop((first, second));
        assert_eq!(ada.seats(), [room]);
        assert!(keep(other).is_none() && keep(room).is_some());
        ada.note(Holding::Seat, room, false);
        let place = keep(other).unwrap();
        assert!(keep(room).is_none() && ada.seats().is_empty());
        drop(place);
        ada.holdings().gone = true;
        assert!(keep(room).is_none());
    }

    #[test]
    fn what_is_held_counts_at_home_too_for_as_long_as_it_is_held() {
        let limits = Limits { rooms_per_address: 2, ..Limits::default() };
        let home = Addresses::new(&limits).of([192, 0, 2, 1].into());
        let players = Players::default();
        let log_in = |name| players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0, &limits).unwrap().0;
        let (ada, bea) = (log_in("Ada"), log_in("Bea"));
        let [one, two, three] = [1, 2, 3].map(RoomId::from_random);
        fn keep(player: &Arc<Player>, room: RoomId) -> Option<Place> {
            Place::keep(player, Holding::Room, room, 64)
        }
        // As after a restart: what was brought back counts from the first call on.
        ada.note(Holding::Room, one, true);
        [&ada, &bea, &ada].into_iter().for_each(|player| player.comes_from(&home));
        let place = keep(&bea, two).unwrap();
        assert!(keep(&ada, three).is_none() && keep(&bea, three).is_none());
        bea.note(Holding::Room, two, true);
        drop(place);
        assert!(keep(&bea, two).is_some(), "what it has already");
        assert!(keep(&ada, three).is_none());
        bea.note(Holding::Room, two, false);
        drop(keep(&ada, three).unwrap());
        ada.note(Holding::Room, two, true);
        players.forget(&ada);
        drop(ada);
        assert!(keep(&bea, one).is_some() && keep(&bea, two).is_some(), "the forgotten hold nothing");
    }
}
