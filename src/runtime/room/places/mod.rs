//! Places within a player's quota, which is over all nodes: each counts its own rooms, and a store that they share those of all.

mod free_seat;
mod reserve;

use std::sync::Arc;

use super::actor::ActorContext;
use crate::runtime::player::quota::Reservation;

/// A reserved place within a player's quota, released when it is dropped.
pub(super) struct ReservedPlace {
    _here: Reservation,
    context: Arc<ActorContext>,
    /// Under which the store counts it.
    number: u64,
    /// Whether it is left to end by itself.
    expires: bool,
}

/// Why no place is reserved.
pub(super) enum Full {
    /// The player has reached its limit.
    Player,
    /// Its address has, or the player has logged out.
    Address,
}

impl ReservedPlace {
    /// Lets it count on for a while, since a room may still give the place to the player.
    pub(super) fn let_expire(mut self) {
        self.expires = true;
    }
}

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        if self.expires {
            return;
        }
        let (context, number) = (Arc::clone(&self.context), self.number);
        self.context.lifecycle.spawn(async move {
            // If that fails, it ends by itself.
            let _ = context.player_store.release_place(number).await;
        });
    }
}
