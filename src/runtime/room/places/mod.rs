//! Places within a player's quota. The quota is for all nodes together: each node counts the places in its own rooms,
//! and the store that they share counts all.

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
    /// The player's address has reached its limit, or the player has logged out.
    Address,
}

impl ReservedPlace {
    /// Lets the place count until it expires, because a room may still give it to the player.
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
            // If this fails, the place expires.
            let _ = context.player_store.release_place(number).await;
        });
    }
}
