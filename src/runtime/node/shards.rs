//! The shards of this node: it restores the rooms of those that it gets, and gives up those beyond its share.
//!
//! ```text
//!   view ──▶ owned, not hosted ──▶ read rooms, start their actors ──▶ hosted ──▶ clocks credited: the store is told
//!       └──▶ beyond the share ───▶ not hosted, actors end ──────────▶ freed in the store, for any other node
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};

use super::Node;
use crate::{
    room::{Room, RoomId, Timestamp},
    runtime::{
        limit::limits::STORE_RETRY,
        room::recovery::{restore, waits_for_opponent},
    },
    store::{ClusterStore, ClusterView, NodeId, Shard, StoreError},
};

/// Rooms read at a time.
const STEP: usize = 500;

/// Shards given up at a time: their rooms pause together.
const FREED: usize = 64;

/// The interval of looks at actors that are about to end.
const ENDING: Duration = Duration::from_millis(10);

/// A shard at one version.
type Held = BTreeMap<Shard, u64>;

/// What a background step has done.
enum Done {
    Hosted,
    Freed(Held),
    /// They were not freed, as far as is known, and are hosted again.
    NotFreed(Held),
}

impl Node {
    /// Follows the views of a store until the server stops: learns the owners of shards, hosts those of this node, and gives
    /// up those beyond its share.
    pub async fn follow_views(self, store: Arc<dyn ClusterStore>) {
        let mut views = store.views();
        views.mark_changed();
        let (mut hosted, mut freed) = (Held::new(), Held::new());
        let mut steps = FuturesUnordered::<BoxFuture<'_, Done>>::new();
        let mut is_freeing = false;
        loop {
            tokio::select! {
                biased;
                () = self.host().context.lifecycle.stop.cancelled() => return,
                changed = views.changed() => if changed.is_err() {
                    return;
                },
                Some(done) = steps.next() => match done {
                    Done::Hosted => {}
                    Done::Freed(shards) => {
                        is_freeing = false;
                        freed.extend(shards);
                    }
                    Done::NotFreed(shards) => {
                        is_freeing = false;
                        hosted.retain(|shard, _| !shards.contains_key(shard));
                    }
                },
            }
            let view = Arc::clone(&views.borrow_and_update());
            if view.me != self.cluster.me() {
                tracing::error!(node = %view.me, "this server was taken for dead; it goes on as another node");
                self.rename(view.me);
            }
            self.learn(view.owners.iter().copied());
            let owned = owned(&view);
            freed.retain(|shard, version| owned.get(shard) == Some(version));
            hosted.retain(|shard, version| owned.get(shard) == Some(version));
            let new: Held = owned
                .iter()
                .filter(|(shard, _)| !hosted.contains_key(shard) && !freed.contains_key(shard))
                .map(|(shard, version)| (*shard, *version))
                .collect();
            if !new.is_empty() {
                hosted.extend(&new);
                steps.push(self.take(&*store, Arc::clone(&view), new).boxed());
            }
            let surplus = view.surplus.saturating_sub(freed.len()).min(FREED);
            if surplus > 0 && !is_freeing {
                let given: Held = hosted
                    .iter()
                    .rev()
                    .filter(|(shard, _)| self.cluster.hosts(**shard))
                    .map(|(shard, version)| (*shard, *version))
                    .take(surplus)
                    .collect();
                if !given.is_empty() {
                    is_freeing = true;
                    steps.push(self.give_up(&*store, given).boxed());
                }
            }
        }
    }

    /// Hosts shards, until that succeeds or the node is another one.
    async fn take(&self, store: &dyn ClusterStore, view: Arc<ClusterView>, shards: Held) -> Done {
        let clock = self.host().context.clock;
        let away = |shard: &Shard| {
            let away = view.away.get(shard)?;
            let micros = (away.time + away.taken.elapsed()).as_micros();
            Some(Timestamp(clock.now().0.saturating_sub(i64::try_from(micros).unwrap_or(i64::MAX))))
        };
        let marked: Vec<_> = shards.keys().map(|shard| (*shard, away(shard))).collect();
        let numbers: Vec<_> = shards.into_keys().collect();
        while self.cluster.me() == view.me {
            let hosted = match self.host_shards(&marked).await {
                Ok(()) => store.note_credited(numbers.clone()).await,
                failed => failed,
            };
            match hosted {
                Ok(()) => break,
                Err(error) => tracing::warn!(%error, "rooms could not be taken over; trying again"),
            }
            tokio::time::sleep(STORE_RETRY).await;
        }
        Done::Hosted
    }

    /// Ends the rooms of shards here, and frees them for other nodes.
    async fn give_up(&self, store: &dyn ClusterStore, shards: Held) -> Done {
        let numbers: BTreeSet<_> = shards.keys().copied().collect();
        let is_given = |room: RoomId| numbers.contains(&Shard::of(room));
        self.cluster.end_hosting(&numbers);
        let registry = &self.host().context.registry;
        loop {
            // Again, as a request may just have started one.
            self.release(is_given);
            if !registry.any_live(is_given) {
                break;
            }
            tokio::time::sleep(ENDING).await;
        }
        match store.free(numbers.into_iter().collect()).await {
            Ok(()) => Done::Freed(shards),
            Err(error) => {
                tracing::warn!(%error, "rooms could not be given to another node");
                Done::NotFreed(shards)
            }
        }
    }

    /// Restores the rooms of shards that this node owns now, and credits their clocks with the time since they ran last.
    /// Returns when that is written: only then may the store forget when that was.
    ///
    /// # Errors
    /// When the store cannot be read; the rooms are not served before it is tried again.
    pub async fn host_shards(&self, shards: &[(Shard, Option<Timestamp>)]) -> Result<(), StoreError> {
        let context = &self.host().context;
        self.restore_shards(shards.iter().copied().collect()).await?;
        while context.registry.uncredited.load(Relaxed) > 0 {
            if context.lifecycle.stop.is_cancelled() {
                return Err(StoreError::Unavailable("the server is stopping".into()));
            }
            tokio::time::sleep(STORE_RETRY).await;
        }
        Ok(())
    }

    async fn restore_shards(&self, mut left: BTreeMap<Shard, Option<Timestamp>>) -> Result<(), StoreError> {
        let journal = &self.host().context.journal;
        // One after the other, so that none takes the actors of another for those of an earlier time as owner.
        let _restoring = self.cluster.restoring.lock().await;
        left.retain(|shard, _| !self.cluster.hosts(*shard));
        let owned = self.cluster.owned(left.keys().copied());
        // An earlier try may have failed.
        self.release(|room| left.contains_key(&Shard::of(room)));
        let mut after = None;
        while let Some((&first, _)) = left.first_key_value() {
            after = after.max(first.before());
            let rooms = journal.open_rooms(after, STEP).await?;
            let last = rooms.last().map(|room| room.id());
            for room in rooms {
                if let Some(&away_since) = left.get(&Shard::of(room.id())) {
                    self.restore_room(room, away_since).await?;
                }
            }
            // The rooms of the last shard may go on.
            let rest = last.map_or_else(BTreeMap::new, |last| left.split_off(&Shard::of(last)));
            let restored = std::mem::replace(&mut left, rest);
            after = last;
            self.cluster.host(owned.iter().filter(|owned| restored.contains_key(&owned.shard)));
            // What was restored of a shard that was lost meanwhile.
            self.release(|room| restored.contains_key(&Shard::of(room)) && !self.cluster.owns(room));
        }
        Ok(())
    }

    async fn restore_room(&self, room: Room, away_since: Option<Timestamp>) -> Result<(), StoreError> {
        let host = self.host();
        if host.know_members(&room).await.is_err() {
            return Err(StoreError::Unavailable("the members of a room cannot be read".into()));
        }
        while host.context.registry.live(room.id()).is_some() {
            // The actor of an earlier time as owner has not ended yet.
            tokio::time::sleep(ENDING).await;
        }
        if waits_for_opponent(&room) {
            self.rooms.waiting.lock().await.add(room.id());
        }
        restore(host, room, away_since);
        Ok(())
    }
}

/// The shards of this node in a view.
fn owned(view: &ClusterView) -> Held {
    let is_mine = |owner: NodeId| owner == view.me;
    view.owners.iter().filter(|owned| is_mine(owned.node)).map(|owned| (owned.shard, owned.version)).collect()
}
