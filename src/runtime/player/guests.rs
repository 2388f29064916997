//! Guests by their last use and by network, to find those to remove when all places of players are taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    room::{PlayerId, Timestamp},
    runtime::limit::client_address::Prefix,
};

type ByTime = BTreeSet<(Timestamp, PlayerId)>;

/// Guests by the last time at which each is known to have been in use. Requests do not update this time; it is
/// corrected when a guest comes first.
#[derive(Default)]
pub(super) struct Guests {
    order: ByTime,
    known: HashMap<PlayerId, (Timestamp, Option<Prefix>)>,
    networks: HashMap<Prefix, Network>,
    /// The number of guests of each network.
    sizes: BTreeSet<(usize, Prefix)>,
}

/// The guests of a network, by their addresses.
#[derive(Default)]
struct Network {
    size: usize,
    addresses: BTreeMap<Prefix, ByTime>,
}

impl Guests {
    /// Adds a guest of an address, or replaces its time and its address.
    pub(super) fn insert(&mut self, guest: PlayerId, used: Timestamp, home: Option<Prefix>) {
        self.remove(guest);
        self.known.insert(guest, (used, home));
        self.order.insert((used, guest));
        if let Some(home) = home {
            self.change(home, |guests| guests.insert((used, guest)));
        }
    }

    pub(super) fn remove(&mut self, guest: PlayerId) {
        if let Some((used, home)) = self.known.remove(&guest) {
            self.order.remove(&(used, guest));
            if let Some(home) = home {
                self.change(home, |guests| guests.remove(&(used, guest)));
            }
        }
    }

    /// The guest with the earliest time.
    pub(super) fn first(&self) -> Option<(Timestamp, PlayerId)> {
        self.order.first().copied()
    }

    /// The guests of the largest network, there of the address with the most guests, those with the earliest time
    /// first. Empty if the network has at most `most` guests.
    pub(super) fn of_largest_network(&self, most: usize) -> impl Iterator<Item = PlayerId> {
        let largest = self.sizes.last().filter(|(size, _)| *size > most);
        let network = largest.and_then(|(_, network)| self.networks.get(network));
        let guests = network.and_then(|network| network.addresses.values().max_by_key(|guests| guests.len()));
        guests.into_iter().flatten().map(|(_, guest)| *guest)
    }

    fn change(&mut self, home: Prefix, change: impl FnOnce(&mut ByTime) -> bool) {
        let network = self.networks.entry(home.network()).or_default();
        let guests = network.addresses.entry(home).or_default();
        let (before, of_others) = (network.size, network.size - guests.len());
        change(guests);
        network.size = of_others + guests.len();
        if guests.is_empty() {
            network.addresses.remove(&home);
        }
        self.sizes.remove(&(before, home.network()));
        match network.size {
            0 => drop(self.networks.remove(&home.network())),
            size => drop(self.sizes.insert((size, home.network()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn the_first_guest_is_the_one_with_the_earliest_time() {
        let mut guests = Guests::default();
        let [ada, bea] = [1, 2].map(PlayerId::from_random);
        guests.insert(ada, Timestamp(1), None);
        guests.insert(bea, Timestamp(2), None);
        assert_eq!(guests.first(), Some((Timestamp(1), ada)));
        guests.insert(ada, Timestamp(3), None);
        assert_eq!(guests.first(), Some((Timestamp(2), bea)));
        guests.remove(bea);
        guests.remove(bea);
        assert_eq!(guests.first(), Some((Timestamp(3), ada)));
        guests.remove(ada);
        assert!(guests.first().is_none() && guests.known.is_empty());
    }

    #[test]
    fn the_largest_network_is_found_whatever_its_addresses() {
        let mut guests = Guests::default();
        let of = |address: &str| Some(Prefix::from(address.parse::<IpAddr>().unwrap()));
        let add = |guests: &mut Guests, id, used, address| {
            guests.insert(PlayerId::from_random(id), Timestamp(used), of(address));
        };
        add(&mut guests, 1, 1, "192.0.2.1");
        add(&mut guests, 2, 2, "192.0.2.1");
        assert_eq!(guests.of_largest_network(2).next(), None);
        // Three /56 of one /48, and one of them with two guests.
        for (id, used, address) in [
            (3, 9, "2001:db8:1:100::1"),
            (4, 8, "2001:db8:1:200::1"),
            (5, 7, "2001:db8:1:2ff::2"),
            (6, 6, "2001:db8:1:300::1"),
        ] {
            add(&mut guests, id, used, address);
        }
        let largest = |guests: &Guests| guests.of_largest_network(1).collect::<Vec<_>>();
        assert_eq!(largest(&guests), [5, 4].map(PlayerId::from_random));
        [3, 4, 5].into_iter().for_each(|id| guests.remove(PlayerId::from_random(id)));
        assert_eq!(largest(&guests), [1, 2].map(PlayerId::from_random));
        [1, 2, 6].into_iter().for_each(|id| guests.remove(PlayerId::from_random(id)));
        assert!(guests.networks.is_empty() && guests.sizes.is_empty());
    }
}
