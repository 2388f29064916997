//! The rooms and seats that count against one player's limits: those confirmed by rooms, and those being requested.
//!
//! Only a room's actor confirms. A pending request holds a [`QuotaPermit`], so that two concurrent ones cannot both get
//! the last place. All count at the player's address as well, once it is known.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use crate::{
    room::RoomId,
    runtime::limit::client_address::{ClientAddress, Resource},
};

/// A place in a room, which a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Membership of a room.
    Room,
    /// A seat in a room.
    Seat,
}

impl Place {
    const ALL: [Self; 2] = [Self::Room, Self::Seat];

    fn resource(self) -> Resource {
        match self {
            Self::Room => Resource::Rooms,
            Self::Seat => Resource::Seats,
        }
    }
}

#[derive(Default)]
pub(crate) struct Quota {
    /// True for a visitor, who holds nothing and does not count as a player of the address.
    is_visitor: bool,
    /// The address of the log-in, or of the first call after a restart.
    home: OnceLock<Arc<ClientAddress>>,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    /// By [`Place`].
    counted: [Counted; 2],
    /// Set at log-out: no further place is reserved.
    closed: bool,
}

#[derive(Default)]
struct Counted {
    confirmed: BTreeSet<RoomId>,
    /// The number of pending requests for each room.
    pending: BTreeMap<RoomId, u32>,
}

/// A reserved place, given back when this is dropped.
pub(crate) struct QuotaPermit {
    quota: Arc<Quota>,
    what: Place,
    room: RoomId,
}

impl Quota {
    /// The quota of a visitor, in which nothing can be reserved.
    pub(crate) fn of_visitor(address: Option<&Arc<ClientAddress>>) -> Self {
        let home = address.map_or_else(OnceLock::new, |address| Arc::clone(address).into());
        Self { is_visitor: true, home, places: Mutex::new(Places { closed: true, ..Places::default() }) }
    }

    pub(crate) fn is_visitor(&self) -> bool {
        self.is_visitor
    }

    /// Reserves a place. `None` at the limit of the player or its address, or after log-out. A room that counts already
    /// can always be reserved.
    pub(crate) fn reserve(self: &Arc<Self>, what: Place, room: RoomId, limit: usize) -> Option<QuotaPermit> {
        let mut places = self.places();
        let closed = places.closed;
        let counted = &mut places.counted[what as usize];
        let counts_at_home = || self.home().is_none_or(|home| home.try_add(what.resource()));
        if !counted.has(room) && (closed || counted.count() >= limit || !counts_at_home()) {
            return None;
        }
        *counted.pending.entry(room).or_default() += 1;
        Some(QuotaPermit { quota: Arc::clone(self), what, room })
    }

    pub(crate) fn home(&self) -> Option<&Arc<ClientAddress>> {
        self.home.get()
    }

    /// Sets the address, unless one is set, and counts the places there.
    pub(crate) fn set_home(&self, address: &Arc<ClientAddress>) {
        if self.home().is_some() {
            return;
        }
        let places = self.places();
        if self.home.set(Arc::clone(address)).is_ok() {
            for what in Place::ALL {
                address.adjust(what.resource(), 0, places.counted[what as usize].count());
            }
            address.adjust(Resource::Players, 0, 1);
        }
    }

    /// Records whether a room has confirmed a place.
    pub(crate) fn note(&self, what: Place, room: RoomId, holds: bool) {
        self.change(what, |Counted { confirmed, .. }| {
            if holds {
                confirmed.insert(room);
            } else {
                confirmed.remove(&room);
            }
        });
    }

    /// Forgets what is confirmed in these rooms.
    pub(crate) fn release(&self, has_moved: impl Fn(RoomId) -> bool) {
        for what in Place::ALL {
            self.change(what, |counted| counted.confirmed.retain(|room| !has_moved(*room)));
        }
    }

    /// The confirmed rooms.
    pub(crate) fn confirmed(&self, what: Place) -> Vec<RoomId> {
        self.places().counted[what as usize].confirmed.iter().copied().collect()
    }

    pub(crate) fn has_confirmed(&self, what: Place) -> bool {
        !self.places().counted[what as usize].confirmed.is_empty()
    }

    /// True if the player has reached its own limit, also with pending requests.
    pub(crate) fn is_full(&self, what: Place, limit: usize) -> bool {
        self.places().counted[what as usize].count() >= limit
    }

    /// True if a room has confirmed anything.
    pub(crate) fn counts(&self, room: RoomId) -> bool {
        self.places().counted.iter().any(|counted| counted.confirmed.contains(&room))
    }

    /// True if the player is a member of no room, and no pending request could make it one.
    pub(crate) fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.places().closed
    }

    pub(crate) fn close(&self) {
        self.places().closed = true;
    }

    /// Closes the quota if it is open and empty and `condition` holds, and returns whether it did.
    pub(crate) fn close_if_empty(&self, condition: impl FnOnce() -> bool) -> bool {
        let mut places = self.places();
        let closes = !places.closed && places.is_empty() && condition();
        places.closed |= closes;
        closes
    }

    pub(crate) fn reopen(&self) {
        self.places().closed = false;
    }

    fn change(&self, what: Place, change: impl FnOnce(&mut Counted)) {
        let mut places = self.places();
        let counted = &mut places.counted[what as usize];
        let before = counted.count();
        change(counted);
        if let Some(home) = self.home() {
            home.adjust(what.resource(), before, counted.count());
        }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        self.quota.change(self.what, |Counted { pending, .. }| {
            if let Some(requests) = pending.get_mut(&self.room) {
                *requests -= 1;
                if *requests == 0 {
                    pending.remove(&self.room);
                }
            }
        });
    }
}

/// A removed player no longer counts at its address, even if a room has not recorded the removal.
impl Drop for Quota {
    fn drop(&mut self) {
        Place::ALL.into_iter().for_each(|what| self.change(what, |counted| *counted = Counted::default()));
        if let Some(home) = self.home().filter(|_| !self.is_visitor) {
            home.adjust(Resource::Players, 1, 0);
        }
    }
}

impl Places {
    fn is_empty(&self) -> bool {
        let rooms = &self.counted[Place::Room as usize];
        rooms.confirmed.is_empty() && rooms.pending.is_empty()
    }
}

impl Counted {
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
    use crate::runtime::{ClientAddresses, Limits};

    #[test]
    fn a_dropped_reservation_keeps_what_a_room_has_given() {
        let quota = Arc::new(Quota::default());
        let [room, other] = [1, 2].map(RoomId::from_random);
        let reserve = |room| quota.reserve(Place::Seat, room, 1);
        let (first, second) = (reserve(room).unwrap(), reserve(room).unwrap());
        assert!(reserve(other).is_none());
        quota.note(Place::Seat, room, true);
        drop((first, second));
        assert_eq!(quota.confirmed(Place::Seat), [room]);
        assert!(reserve(other).is_none() && reserve(room).is_some());
        quota.note(Place::Seat, room, false);
        let place = reserve(other).unwrap();
        assert!(reserve(room).is_none() && quota.confirmed(Place::Seat).is_empty());
        drop(place);
        quota.close();
        assert!(reserve(room).is_none() && !quota.close_if_empty(|| true), "it is closed already");
    }

    #[test]
    fn places_count_at_the_address_too() {
        let limits = Limits { rooms_per_address: 2, ..Limits::default() };
        let home = ClientAddresses::new(limits).entry([192, 0, 2, 1].into());
        let (ada, bea) = (Arc::new(Quota::default()), Arc::new(Quota::default()));
        let [one, two, three] = [1, 2, 3].map(RoomId::from_random);
        fn reserve(quota: &Arc<Quota>, room: RoomId) -> Option<QuotaPermit> {
            quota.reserve(Place::Room, room, 64)
        }
        // As after a restart: restored places count from the first call on.
        ada.note(Place::Room, one, true);
        [&ada, &bea, &ada].into_iter().for_each(|quota| quota.set_home(&home));
        let place = reserve(&bea, two).unwrap();
        assert!(reserve(&ada, three).is_none() && reserve(&bea, three).is_none());
        bea.note(Place::Room, two, true);
        drop(place);
        assert!(reserve(&bea, two).is_some(), "the player has it already");
        assert!(reserve(&ada, three).is_none());
        bea.note(Place::Room, two, false);
        drop(reserve(&ada, three).unwrap());
        ada.note(Place::Room, two, true);
        drop(ada);
        assert!(reserve(&bea, one).is_some() && reserve(&bea, two).is_some(), "a removed player has no rooms");
    }
}
