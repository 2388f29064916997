//! The places that players are about to take, as PostgreSQL keeps them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi::{room::RoomId, store::PlaceRequest};
use tokio::time::Instant;

/// Time after which a reservation that was not released ends.
const RESERVED: Duration = Duration::from_secs(120);

/// By their numbers, with the time at which they end.
#[derive(Default)]
pub(super) struct PendingPlaces(BTreeMap<u64, (PlaceRequest, Instant)>);

impl PendingPlaces {
    /// Reserves a place for a player for whom these rooms count, unless it is at its limit. Returns whether it did.
    pub(super) fn reserve(&mut self, place: PlaceRequest, mut counted: BTreeSet<RoomId>) -> bool {
        let now = Instant::now();
        self.0.retain(|_, (_, until)| *until > now);
        let pending = self.0.values().map(|(pending, _)| pending);
        let same = pending.filter(|pending| (pending.player, pending.is_seat) == (place.player, place.is_seat));
        counted.extend(same.map(|pending| pending.room));
        let is_free = counted.len() < place.limit || counted.contains(&place.room);
        if is_free {
            self.0.insert(place.number, (place, now + RESERVED));
        }
        is_free
    }

    pub(super) fn release(&mut self, number: u64) {
        self.0.remove(&number);
    }
}
