//! Places within a player's quota. In a cluster the quota is over all nodes: this node counts its own rooms, and the store
//! those of all.

mod free_seat;
mod reserve;

use std::sync::Arc;

use super::actor::ActorContext;
use crate::runtime::player::quota::Reservation;

/// A reserved place within a player's quota, released when it is dropped.
pub(super) struct ReservedPlace {
    _here: Reservation,
    shared: Option<SharedPlace>,
}

/// Why no place is reserved.
pub(super) enum Full {
    /// The player has reached its limit.
    Player,
    /// Its address has, or the player has logged out.
    Address,
}

/// A place that the store counts. In a cluster only.
struct SharedPlace {
    context: Arc<ActorContext>,
    number: u64,
    /// Whether it is left to end by itself.
    expires: bool,
}

impl ReservedPlace {
    /// Lets it count on for a while, since a room may still give the place to the player.
    pub(super) fn let_expire(mut self) {
        if let Some(shared) = &mut self.shared {
            shared.expires = true;
        }
    }
}

impl Drop for SharedPlace {
    fn drop(&mut self) {
        if self.expires {
            return;
        }
        let (context, number) = (Arc::clone(&self.context), self.number);
        self.context.lifecycle.spawn(async move {
            if let Some(cluster) = &context.cluster {
                // If that fails, it ends by itself.
                let _ = cluster.player_store.release_place(number).await;
            }
        });
    }
}
