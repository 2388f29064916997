//! Callers without a token: one visitor for each address, however many people call from there.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::player::Player;
use crate::{room::Timestamp, runtime::limit::client_address::Prefix};

/// The visitors in use, and those of the last minute, whose rates still count.
#[derive(Default)]
pub(super) struct Visitors(Mutex<HashMap<Option<Prefix>, Arc<Player>>>);

impl Visitors {
    /// Returns the visitor of an address, or adds one. If there are `most` visitors, first removes those not in use.
    pub(super) fn of(&self, address: Option<Prefix>, most: usize, new: impl FnOnce() -> Player) -> Arc<Player> {
        let mut visitors = self.visitors();
        if visitors.len() >= most && !visitors.contains_key(&address) {
            visitors.retain(|_, visitor| is_in_use(visitor));
        }
        match visitors.entry(address) {
            Entry::Occupied(visitor) => Arc::clone(visitor.get()),
            Entry::Vacant(free) => Arc::clone(free.insert(Arc::new(new()))),
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Player>> {
        self.visitors().values().cloned().collect()
    }

    /// Forgets these visitors.
    pub(super) fn forget(&self, is_forgotten: impl Fn(&Player) -> bool) {
        self.visitors().retain(|_, visitor| !is_forgotten(visitor));
    }

    /// Forgets visitors without a call or stream since `before`.
    pub(super) fn forget_unused(&self, before: Timestamp) {
        self.visitors().retain(|_, visitor| is_in_use(visitor) || !visitor.streams.is_unused(before));
    }

    fn visitors(&self) -> MutexGuard<'_, HashMap<Option<Prefix>, Arc<Player>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True while a call or a stream of the visitor is in progress.
fn is_in_use(visitor: &Arc<Player>) -> bool {
    Arc::strong_count(visitor) > 1
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        room::PlayerId,
        runtime::{ClientAddress, ClientAddresses, Clock, Limits, Resource, StreamEnd, player::directory::Players},
    };

    fn address(limits: Limits) -> Arc<ClientAddress> {
        ClientAddresses::new(limits).entry([192, 0, 2, 1].into())
    }

    #[test]
    fn an_address_has_one_visitor_who_is_no_player_of_it() {
        let home = address(Limits { players_per_address: 1, streams_per_address: 1, ..Limits::default() });
        let players = Players::default();
        let visitor = players.visitor(Some(&home));
        assert!(Arc::ptr_eq(&visitor, &players.visitor(Some(&home))));
        assert!(!Arc::ptr_eq(&visitor, &players.visitor(None)));
        assert!(players.get(visitor.id()).is_none() && players.count() == 0);
        assert!(!visitor.is_present(Duration::from_secs(60)), "a room has no such member");
        let place = home.acquire(Resource::Players).expect("the place of a player");
        drop((visitor, players, place));
        let place = home.acquire(Resource::Players);
        assert!(place.is_some() && home.acquire(Resource::Players).is_none());
    }

    #[test]
    fn a_visitor_is_forgotten_when_it_was_not_used_for_a_while() {
        let (players, home) = (Players::default(), address(Limits::default()));
        let visitor = players.visitor(Some(&home));
        let (id, now) = (visitor.id(), Clock::default().now());
        let later = now.after(Duration::from_secs(1));
        players.forget_unused_visitors(later);
        drop(visitor);
        assert_eq!(players.visitor(Some(&home)).id(), id, "a call had not ended");
        players.forget_unused_visitors(now.before(Duration::from_secs(60)));
        assert_eq!(players.visitor(Some(&home)).id(), id, "it has just called");
        players.forget_unused_visitors(later);
        assert_ne!(players.visitor(Some(&home)).id(), id);
    }

    #[test]
    fn the_number_of_visitors_is_bounded_and_those_in_use_are_kept() {
        let (visitors, limits) = (Visitors::default(), Limits::default());
        let of = |host: u8| {
            let prefix = Prefix::from(std::net::IpAddr::from([192, 0, 2, host]));
            let id = PlayerId::from_random(host.into());
            visitors.of(Some(prefix), 8, || Player::visitor(id, None, Clock::default(), &limits))
        };
        let in_use = of(0);
        for host in 1..100 {
            of(host);
            assert!(visitors.all().len() <= 8);
        }
        assert!(Arc::ptr_eq(&in_use, &of(0)));
    }

    #[test]
    fn the_streams_of_visitors_end_with_those_of_players() {
        let players = Players::default();
        let visitor = players.visitor(None);
        players.end_streams(StreamEnd::Draining);
        assert_eq!(visitor.stream_end(), Some(StreamEnd::Draining));
    }
}
