//! The shards of this node: it restores the rooms of its new shards, and gives up shards beyond its share.
//!
//! ```text
//!   view ──▶ new ──────────────▶ read the rooms, start their actors ──▶ served ──▶ clocks credited: the store is told
//!       └──▶ beyond the share ─▶ not served, actors end ─▶ given to another node in the store, which is told
//! ```
//!
//! While a shard is handed over it always has a node. That node tells the others when it serves the shard.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::{
    sync::mpsc::error::TrySendError,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{Node, service::LEASE_LOST};
use crate::{
    room::{Room, RoomId, Timestamp},
    runtime::{
        cluster::peers::News,
        limit::limits::STORE_RETRY,
        room::{
            actor::ActorContext,
            message::Message,
            recovery::{restore, waits_for_opponent},
        },
        stalls::SHORTEST,
    },
    store::{Assignment, ClusterStore, ClusterView, Lease, NodeId, Obstacle, Shard, StoreError},
};

/// For this time after its start a node may be without links though there is no fault.
const LINKING: Duration = Duration::from_secs(5);

/// Maximum number of rooms read at a time.
const STEP: usize = 500;

/// Maximum number of shards given up at a time. Their rooms pause until another node has them.
const GIVEN: usize = 64;

/// Maximum time for rooms that are given up to credit their clocks.
const CREDITING: Duration = Duration::from_secs(1);

/// The interval at which to check whether actors have ended.
const ENDING: Duration = Duration::from_millis(10);

/// The state of a shard that this node owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its rooms are being restored, or their clocks credited.
    Taken,
    /// Its rooms are served.
    Served,
    /// Its rooms have ended here. It is being given to another node.
    GivenUp,
    /// It was given to another node, which the view does not show yet. Contains when its rooms ended here.
    Given(Timestamp),
    /// It could not be given away, so its rooms must be restored. Contains when these ended here.
    Kept(Timestamp),
}

/// The shards of this node.
#[derive(Default)]
struct OwnShards(BTreeMap<Shard, (Assignment, Stage)>);

impl OwnShards {
    /// Applies a view. Returns the shards to take, each with the time since which it was without a node if clocks may
    /// have to be credited.
    fn follow(&mut self, view: &ClusterView) -> Vec<(Assignment, Option<Timestamp>)> {
        let mine = view.assignments.iter().filter(|owned| owned.node == view.me);
        let owned: BTreeMap<_, _> = mine.map(|owned| (owned.shard, *owned)).collect();
        self.0.retain(|shard, (known, _)| owned.get(shard) == Some(known));
        let mut taken = Vec::new();
        for owned in owned.into_values() {
            let away_since = match self.0.get(&owned.shard) {
                None => view.away_since.get(&owned.shard).copied(),
                Some((_, Stage::Kept(ended))) => Some(*ended),
                Some(_) => continue,
            };
            self.0.insert(owned.shard, (owned, Stage::Taken));
            taken.push((owned, away_since));
        }
        taken
    }

    /// Marks surplus shards as given up, and returns them with their next nodes. At most [`GIVEN`] at a time.
    fn pick_surplus(&mut self, surplus: &BTreeMap<Shard, NodeId>) -> Vec<(Assignment, NodeId)> {
        let given = surplus.iter().filter_map(|(shard, next)| {
            let (owned, stage) = self.0.get_mut(shard).filter(|(_, stage)| *stage == Stage::Served)?;
            *stage = Stage::GivenUp;
            Some((*owned, *next))
        });
        given.take(GIVEN).collect()
    }

    fn set(&mut self, shards: &[Assignment], new: Stage) {
        for owned in shards {
            if let Some((known, stage)) = self.0.get_mut(&owned.shard)
                && known == owned
            {
                *stage = new;
            }
        }
    }
}

/// The shards that are still this node's after it gave them away, if any: the database has lost that, as after a failover
/// to a standby that lacked the last commits. Also returns when their rooms ended here.
async fn still_owned(
    store: Arc<dyn ClusterStore>,
    given: Vec<Assignment>,
    ended: Timestamp,
) -> (Vec<Assignment>, Timestamp) {
    let mut lease = store.lease();
    lease.mark_unchanged();
    // The first renewal may have been asked for before the shards were given away. A view is seen before its renewal.
    for _ in 0..2 {
        if lease.changed().await.is_err() {
            return (Vec::new(), ended);
        }
    }
    let view = Arc::clone(&store.views().borrow());
    let is_kept = |owned: &Assignment| owned.node == view.me && view.assignments.contains(owned);
    let kept: Vec<_> = given.into_iter().filter(is_kept).collect();
    if !kept.is_empty() {
        tracing::error!(shards = kept.len(), "the database has lost that rooms were given away; they go on here");
    }
    (kept, ended)
}

fn in_words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::CutOff => {
            "it is not linked in both directions with a majority of the servers; check the network between them, its \
             --advertise address, and that all have --node-cert or none"
        }
        Obstacle::WrongClock => "its clock differs by more than 5 s from those of most others and the database",
        Obstacle::NoAccess => "it renews its lease, but cannot read or write rooms",
        Obstacle::Unshared => "a server without --node-listen has all rooms; give all servers the option, or none",
    }
}

impl Node {
    /// Applies the views of a store until the server stops: records the nodes of shards, hosts the shards of this
    /// node, and gives up those beyond its share. Without a lease, access to rooms, enough links or a right clock, the node
    /// serves no clients.
    pub async fn follow_views(self, store: Arc<dyn ClusterStore>) {
        let (mut views, mut lease) = (store.views(), store.lease());
        views.mark_changed();
        let mut shards = OwnShards::default();
        let (mut steps, mut looks) = (JoinSet::<(Vec<Assignment>, Stage)>::new(), JoinSet::new());
        let (mut is_giving, mut may_link_until) = (false, Some(Instant::now() + LINKING));
        loop {
            let Lease { end: lease_end, ahead, .. } = *lease.borrow_and_update();
            self.cluster.note_ahead(ahead);
            // The view that is not learned yet may have a new id of this node.
            let is_known = views.borrow().me == self.cluster.me();
            let has_lease = Instant::now() < lease_end && is_known;
            let obstacle = views.borrow().obstacle;
            let is_linking = has_lease && obstacle == Some(Obstacle::CutOff);
            let is_linking = is_linking && may_link_until.is_some_and(|until| Instant::now() < until);
            let obstacle = if has_lease { obstacle.map(in_words) } else { Some(LEASE_LOST) };
            self.set_in_service(obstacle, is_linking);
            if !is_linking
                && may_link_until.take().is_some()
                && let Some(obstacle) = obstacle
            {
                tracing::error!(obstacle, "this server serves no clients");
            }
            tokio::select! {
                biased;
                () = self.host().context.lifecycle.stop.cancelled() => return,
                changed = views.changed() => if changed.is_err() {
                    return;
                },
                renewed = lease.changed() => match renewed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                () = self.cluster.given.notified() => {
                    store.look_again();
                    continue;
                }
                () = sleep_until(lease_end), if obstacle.is_none() => continue,
                Some(step) = steps.join_next() => {
                    // A panic has been logged; the shards of its task stay as they are.
                    let (done, stage) = step.unwrap_or_else(|_| (Vec::new(), Stage::GivenUp));
                    is_giving &= stage == Stage::Served;
                    shards.set(&done, stage);
                    if let Stage::Given(ended) = stage {
                        looks.spawn(still_owned(Arc::clone(&store), done, ended));
                    }
                }
                Some(Ok((kept, ended))) = looks.join_next() => shards.set(&kept, Stage::Kept(ended)),
            }
            let view = Arc::clone(&views.borrow_and_update());
            if view.me != self.cluster.me() {
                tracing::error!(
                    node = %view.me,
                    "this server has lost its rooms, as it did not renew its lease or could not read or write them; it \
                     continues as a new node, at first without rooms"
                );
                self.rejoin_as(view.me);
            }
            self.learn_nodes(view.others.iter().map(|(node, _)| *node));
            self.learn(view.assignments.iter().copied());
            let taken = shards.follow(&view);
            if !taken.is_empty() {
                steps.spawn(self.clone().take(Arc::clone(&store), view.me, taken));
            }
            let given = if is_giving { Vec::new() } else { shards.pick_surplus(&view.surplus) };
            if !given.is_empty() {
                is_giving = true;
                steps.spawn(self.clone().give(Arc::clone(&store), given));
            }
        }
    }

    /// Hosts shards, until that succeeds or the node has a new number.
    async fn take(
        self,
        store: Arc<dyn ClusterStore>,
        me: NodeId,
        taken: Vec<(Assignment, Option<Timestamp>)>,
    ) -> (Vec<Assignment>, Stage) {
        let shards: Vec<_> = taken.iter().map(|(owned, _)| *owned).collect();
        while self.cluster.me() == me {
            let served = match self.serve_shards(&taken).await {
                Ok(()) => store.note_credited(shards.clone()).await,
                failed => failed,
            };
            match served {
                Ok(()) => break,
                Err(error) => tracing::warn!(%error, "rooms could not be taken over; trying again"),
            }
            tokio::time::sleep(STORE_RETRY).await;
        }
        (shards, Stage::Served)
    }

    /// Ends the rooms of shards here, and gives them to other nodes.
    async fn give(self, store: Arc<dyn ClusterStore>, given: Vec<(Assignment, NodeId)>) -> (Vec<Assignment>, Stage) {
        let shards: BTreeSet<_> = given.iter().map(|(owned, _)| owned.shard).collect();
        self.credit_clocks(|room| shards.contains(&Shard::of(room))).await;
        let ended = self.host().context.clock.now();
        self.cluster.end_serving(&shards);
        self.end_rooms(|shard| shards.contains(&shard)).await;
        let handed_over = store.hand_over(given.clone(), ended).await;
        let (given, next): (Vec<_>, BTreeSet<_>) = given.into_iter().unzip();
        match handed_over {
            Ok(()) => {
                next.into_iter().for_each(|node| self.cluster.tell(node, News::ShardsGiven));
                store.look_again();
                (given, Stage::Given(ended))
            }
            Err(error) => {
                tracing::warn!(%error, "rooms could not be given to another node");
                (given, Stage::Kept(ended))
            }
        }
    }

    /// Lets rooms and tournaments credit their clocks with time that was lost here, of which the next node knows nothing.
    /// Waits for that, but not for long.
    async fn credit_clocks(&self, is_given: impl Fn(RoomId) -> bool) {
        let told = Arc::new(());
        let ActorContext { registry, tournaments, stalls, clock, .. } = &*self.host().context;
        let mut asked = registry.all_live(is_given);
        let lost = stalls.lost(clock.now());
        let until = Instant::now() + CREDITING;
        loop {
            let message = || Message::CreditStalls(Arc::clone(&told));
            asked.retain(|room| matches!(room.try_send(message()), Err(TrySendError::Full(_))));
            let have_rooms = asked.is_empty() && Arc::strong_count(&told) == 1;
            // Tournaments do it by themselves, within a second.
            let missing = lost.saturating_sub(tournaments.credited()).max(0);
            let is_done = have_rooms && Duration::from_micros(missing.cast_unsigned()) < SHORTEST;
            if is_done || Instant::now() >= until {
                return;
            }
            tokio::time::sleep(ENDING).await;
        }
    }

    /// Ends the actors of rooms and tournaments that are not served here, and waits until they have ended.
    async fn end_rooms(&self, has_moved: impl Fn(Shard) -> bool) {
        loop {
            // Each time, because a request may just have started another one.
            self.release(&has_moved);
            let context = &self.host().context;
            let any = context.tournaments.release(|tournament| has_moved(Shard::of_tournament(tournament)));
            if !any && !context.registry.any_live(|room| has_moved(Shard::of(room))) {
                return;
            }
            tokio::time::sleep(ENDING).await;
        }
    }

    /// Restores the rooms of shards that this node owns now, and credits their clocks with the time since they ran
    /// last, by the clock of the node that had them. Returns when the credit is written. Until then the store must keep
    /// the time at which they ran last.
    ///
    /// # Errors
    /// When the store cannot be read, or the server is stopping. The rooms are not served before a call succeeds.
    pub async fn serve_shards(&self, shards: &[(Assignment, Option<Timestamp>)]) -> Result<(), StoreError> {
        let context = &self.host().context;
        self.restore_shards(shards).await?;
        while context.registry.uncredited.load(Relaxed) > 0 {
            if context.lifecycle.stop.is_cancelled() {
                return Err(StoreError::Unavailable("the server is stopping".into()));
            }
            tokio::time::sleep(STORE_RETRY).await;
        }
        Ok(())
    }

    /// Takes all shards, for a server by itself, and restores their rooms. Does not wait until their clocks are
    /// credited with the time since `alive`.
    pub(in crate::runtime) async fn take_all(&self, alive: Option<Timestamp>) -> Result<(), StoreError> {
        let owned = |shard| Assignment { shard, node: self.cluster.me(), version: 1 };
        let shards: Vec<_> = Shard::all().map(|shard| (owned(shard), alive)).collect();
        self.cluster.learn(shards.iter().map(|(owned, _)| *owned));
        self.restore_shards(&shards).await
    }

    async fn restore_shards(&self, shards: &[(Assignment, Option<Timestamp>)]) -> Result<(), StoreError> {
        let host = self.host();
        // One call at a time, so that none ends the rooms that another restores.
        let _restoring = self.cluster.restoring.lock().await;
        let is_wanted = |owned: &Assignment| self.cluster.owns(*owned) && !self.cluster.serves_shard(owned.shard);
        let wanted = shards.iter().filter(|(owned, _)| is_wanted(owned));
        let mut remaining: BTreeMap<_, _> =
            wanted.map(|(owned, away_since)| (owned.shard, (*owned, *away_since))).collect();
        // Some may remain from an earlier time with the shard, or from an earlier attempt.
        self.end_rooms(|shard| remaining.contains_key(&shard)).await;
        let mut after = None;
        while let Some((&first, _)) = remaining.first_key_value() {
            after = after.max(first.before());
            let mut rooms = host.context.journal.open_rooms(after, STEP).await?;
            after = rooms.last().map(Room::id);
            rooms.retain(|room| remaining.contains_key(&Shard::of(room.id())));
            host.know_members(&rooms).await?;
            self.rooms
                .add_waiting(rooms.iter().filter(|room| waits_for_opponent(room)).map(Room::id).collect())
                .await?;
            for room in rooms {
                let away_since = remaining.get(&Shard::of(room.id())).and_then(|(_, away_since)| *away_since);
                restore(host, room, away_since);
            }
            // The last shard may have more rooms.
            let rest = after.map_or_else(BTreeMap::new, |last| remaining.split_off(&Shard::of(last)));
            let restored = std::mem::replace(&mut remaining, rest);
            self.cluster.serve(restored.values().map(|(owned, _)| *owned));
            self.tournaments
                .restore_surely(restored.values().map(|(owned, since)| (owned.shard, *since)).collect())
                .await;
            if restored.keys().any(|shard| !self.cluster.serves_shard(*shard)) {
                // Rooms of a shard that was lost while they were restored.
                self.release(|shard| restored.contains_key(&shard) && !self.cluster.serves_shard(shard));
            }
        }
        Ok(())
    }
}
