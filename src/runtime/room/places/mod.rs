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
    _shared: Option<SharedPlace>,
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
}

impl Drop for SharedPlace {
    fn drop(&mut self) {
        let (context, number) = (Arc::clone(&self.context), self.number);
        self.context.lifecycle.spawn(async move {
            if let Some(cluster) = &context.cluster {
                // If that fails, it ends by itself.
                let _ = cluster.player_store.release_place(number).await;
            }
        });
    }
}
