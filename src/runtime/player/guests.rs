//! Guests in the order of their last use: the first makes room when all places of players are taken.

use std::collections::{BTreeSet, HashMap};

use crate::room::{PlayerId, Timestamp};

/// Guests by the time until which each is known to have been in use. Requests do not change the order: the time is
/// corrected when a guest comes first.
#[derive(Default)]
pub(super) struct Guests {
    order: BTreeSet<(Timestamp, PlayerId)>,
    times: HashMap<PlayerId, Timestamp>,
}

impl Guests {
    /// Adds a guest, or replaces its time.
    pub(super) fn insert(&mut self, guest: PlayerId, used: Timestamp) {
        self.remove(guest);
        self.times.insert(guest, used);
        self.order.insert((used, guest));
    }

    pub(super) fn remove(&mut self, guest: PlayerId) {
        if let Some(used) = self.times.remove(&guest) {
            self.order.remove(&(used, guest));
        }
    }

    /// The guest with the earliest time.
    pub(super) fn first(&self) -> Option<(Timestamp, PlayerId)> {
        self.order.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_guest_is_the_one_with_the_earliest_time() {
        let mut guests = Guests::default();
        let [ada, bea] = [1, 2].map(PlayerId::from_random);
        guests.insert(ada, Timestamp(1));
        guests.insert(bea, Timestamp(2));
        assert_eq!(guests.first(), Some((Timestamp(1), ada)));
        guests.insert(ada, Timestamp(3));
        assert_eq!(guests.first(), Some((Timestamp(2), bea)));
        guests.remove(bea);
        guests.remove(bea);
        assert_eq!(guests.first(), Some((Timestamp(3), ada)));
        guests.remove(ada);
        assert!(guests.first().is_none() && guests.times.is_empty());
    }
}
