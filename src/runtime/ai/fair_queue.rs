//! The searches that wait for a thread, by address, then by player, then by deadline.
//!
//! Each address gets the same share of the threads, and of it each of its players. One with many rooms or long searches
//! makes only its own moves weaker or later.

use std::{
    collections::BinaryHeap,
    sync::Arc,
    time::{Duration, Instant},
};

use super::job::Queued;
use crate::runtime::limit::search_use::SearchUse;

#[derive(Default)]
pub(crate) struct FairQueue {
    /// Those with waiting searches.
    addresses: Vec<AddressQueue>,
}

struct AddressQueue {
    searches: Arc<SearchUse>,
    /// Those with waiting searches.
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
        let owner = queued.job.owner.clone();
        let addresses = &mut self.addresses;
        let at = addresses.iter().position(|address| Arc::ptr_eq(&address.searches, owner.shared()));
        let at = at.unwrap_or_else(|| {
            addresses.push(AddressQueue { searches: Arc::clone(owner.shared()), players: Vec::new() });
            addresses.len() - 1
        });
        let players = &mut addresses[at].players;
        let of = players.iter().position(|player| Arc::ptr_eq(&player.searches, &owner.player));
        let of = of.unwrap_or_else(|| {
            players.push(PlayerQueue { searches: owner.player, jobs: BinaryHeap::new() });
            players.len() - 1
        });
        players[of].jobs.push(queued);
    }

    /// Removes searches that are no longer wanted.
    pub(crate) fn retain_wanted(&mut self) {
        for address in &mut self.addresses {
            address.players.iter_mut().for_each(|player| player.jobs.retain(Queued::is_wanted));
            address.players.retain(|player| !player.jobs.is_empty());
        }
        self.addresses.retain(|address| !address.players.is_empty());
    }

    /// The next search: of the address with the fewest running ones, then the least used time after it; likewise among its
    /// players. So who has used little goes first, and a short search before a long one.
    pub(crate) fn peek(&self, now: Instant) -> Option<&Queued> {
        let (at, of) = self.next(now)?;
        self.addresses[at].players[of].jobs.peek()
    }

    /// Takes the next search. Also returns how many equal parts the time of all threads has, one of which is its own.
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
        // Fewer if other addresses or players have fewer searches.
        Some((queued, parts.min(waiting)))
    }

    /// Drops the last search of the player with the most, of the address with the most.
    pub(crate) fn drop_one(&mut self) {
        let most = self.addresses.iter_mut().max_by_key(|address| address.len());
        let most = most.and_then(|address| address.players.iter_mut().max_by_key(|player| player.jobs.len()));
        if let Some(player) = most {
            player.jobs = std::mem::take(&mut player.jobs).into_sorted_vec().into_iter().skip(1).collect();
        }
        // Empty entries, too.
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

/// The lesser is served first: running searches, the used time after this one, and the order of arrival.
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
