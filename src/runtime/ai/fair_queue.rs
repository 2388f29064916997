//! A queue of searches that wait for a thread, ordered by address, then by player, then by deadline.
//!
//! Each address gets an equal share of the threads, and each player of an address an equal part of that share. Many
//! rooms or long searches of one player weaken or delay only the moves of its own AI seats.

use std::{
    collections::BinaryHeap,
    sync::Arc,
    time::{Duration, Instant},
};

use super::job::Queued;
use crate::runtime::limit::search_use::SearchUse;

#[derive(Default)]
pub(crate) struct FairQueue {
    /// Addresses with at least one waiting search.
    addresses: Vec<AddressQueue>,
}

struct AddressQueue {
    searches: Arc<SearchUse>,
    /// Players with at least one waiting search.
    players: Vec<PlayerQueue>,
}

struct PlayerQueue {
    searches: Arc<SearchUse>,
    jobs: BinaryHeap<Queued>,
}

impl FairQueue {
    pub(crate) fn len(&self) -> usize {
        self.addresses.iter().map(AddressQueue::len).sum()
    }

    pub(crate) fn push(&mut self, queued: Queued) {
        let user = queued.job.user.clone();
        let addresses = &mut self.addresses;
        let at = addresses.iter().position(|address| Arc::ptr_eq(&address.searches, user.shared()));
        let at = at.unwrap_or_else(|| {
            addresses.push(AddressQueue { searches: Arc::clone(user.shared()), players: Vec::new() });
            addresses.len() - 1
        });
        let players = &mut addresses[at].players;
        let of = players.iter().position(|player| Arc::ptr_eq(&player.searches, &user.player));
        let of = of.unwrap_or_else(|| {
            players.push(PlayerQueue { searches: user.player, jobs: BinaryHeap::new() });
            players.len() - 1
        });
        players[of].jobs.push(queued);
    }

    /// Removes searches whose tickets were dropped.
    pub(crate) fn retain_wanted(&mut self) {
        for address in &mut self.addresses {
            address.players.iter_mut().for_each(|player| player.jobs.retain(Queued::is_wanted));
            address.players.retain(|player| !player.jobs.is_empty());
        }
        self.addresses.retain(|address| !address.players.is_empty());
    }

    /// The next search. It belongs to the address with the fewest running searches, then the least search time used
    /// after this search; its player is chosen in the same way. So users who used little come first, and short
    /// searches come before long ones.
    pub(crate) fn peek(&self, now: Instant) -> Option<&Queued> {
        let (at, of) = self.next(now)?;
        self.addresses[at].players[of].jobs.peek()
    }

    /// Takes the next search. Also returns the number of equal parts into which the time of all threads is divided: the
    /// search gets one of them.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Queued, usize)> {
        let (at, of) = self.next(now)?;
        let (waiting, addresses) = (self.len(), self.addresses.len());
        let players = &mut self.addresses[at].players;
        let parts = addresses * players.len() * players[of].jobs.len();
        let queued = players[of].jobs.pop()?;
        if players[of].jobs.is_empty() {
            players.swap_remove(of);
        }
        if players.is_empty() {
            self.addresses.swap_remove(at);
        }
        // At most one part for each waiting search.
        Some((queued, parts.min(waiting)))
    }

    /// Drops the last search of the player with the most searches, at the address with the most searches.
    pub(crate) fn drop_one(&mut self) {
        let most = self.addresses.iter_mut().max_by_key(|address| address.len());
        let most = most.and_then(|address| address.players.iter_mut().max_by_key(|player| player.jobs.len()));
        if let Some(player) = most {
            player.jobs = std::mem::take(&mut player.jobs).into_sorted_vec().into_iter().skip(1).collect();
        }
        // Also removes addresses and players without searches.
        self.retain_wanted();
    }

    /// The indices of the address and of the player of the next search.
    fn next(&self, now: Instant) -> Option<(usize, usize)> {
        let addresses = self.addresses.iter().enumerate();
        let next = addresses.filter_map(|(at, address)| {
            let (of, first) = address.next(now)?;
            Some((rank(&address.searches, first, now), (at, of)))
        });
        next.min().map(|(_, index)| index)
    }
}

/// The sort key of a waiting search, lowest first: running searches of its user, search time used after it, then its
/// deadline and arrival.
fn rank(searches: &SearchUse, next: &Queued, now: Instant) -> (usize, Duration, (Instant, u64)) {
    let (running, used) = searches.load(now);
    (running, used.saturating_add(next.job.length()), next.order())
}

impl AddressQueue {
    fn len(&self) -> usize {
        self.players.iter().map(|player| player.jobs.len()).sum()
    }

    /// The index of the player of the next search, and that search.
    fn next(&self, now: Instant) -> Option<(usize, &Queued)> {
        let players = self.players.iter().enumerate();
        let next = players.filter_map(|(of, player)| Some((of, player.jobs.peek()?, player)));
        let (of, first, _) = next.min_by_key(|(_, first, player)| rank(&player.searches, first, now))?;
        Some((of, first))
    }
}
