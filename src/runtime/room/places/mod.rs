//! Places within a player's quota. The quota is for all nodes together: each node counts the places in its own rooms,
//! and the store that they share counts all.

mod free_seat;
mod reserve;

use std::sync::Arc;

use super::actor::ActorContext;
use crate::runtime::player::quota::QuotaPermit;

/// A reserved place within a player's quota, released when it is dropped.
pub(in crate::runtime) struct ReservedPlace {
    _here: QuotaPermit,
    context: Arc<ActorContext>,
    /// Its number in a store that nodes share, where it is released; otherwise it ends there by itself.
    stored: Option<u64>,
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
        self.stored = None;
    }
}

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        let Some(number) = self.stored else { return };
        let context = Arc::clone(&self.context);
        self.context.lifecycle.spawn(async move {
            // If this fails, the place expires.
            let _ = context.player_store.release_place(number).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind, RoomId},
        runtime::{NodeId, Parts, Peers, Runtime, cluster::peers::NoPeers, player::quota::Place},
        store::{MemoryStore, Store},
    };

    #[tokio::test]
    async fn only_nodes_that_share_a_store_keep_places_in_it() {
        let node: (_, Arc<dyn Peers>) = (NodeId(1), Arc::new(NoPeers));
        for (cluster, expected) in [(None, false), (Some(node), true)] {
            let parts = Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new());
            let runtime = Runtime::start(Parts { cluster, ..parts }).await.unwrap();
            let name = DisplayName::parse("Ada").unwrap();
            let (ada, _) = runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.unwrap();
            let place = runtime.rooms.reserve(&ada, Place::Room, RoomId::from_random(1), 1).await.unwrap();
            assert_eq!(place.ok().unwrap().stored.is_some(), expected);
        }
    }
}
