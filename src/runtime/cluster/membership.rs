//! This node among the others.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
};

use tokio::{
    sync::{Mutex, Notify, futures::OwnedNotified, mpsc},
    time::{Instant, timeout, timeout_at},
};

use super::{
    directory::Directory,
    peers::{Ask, FeedItem, LinkError, News, Peers, Reply},
};
use crate::{
    room::{RoomId, Seq},
    runtime::{
        limit::limits::{ASK_DEADLINE, ASK_RETRY, MOVE_PATIENCE},
        outcome::RoomError,
    },
    store::{NodeId, Ownership, PlayerStore, Shard},
};

/// This node: the directory, the links, and where players of other nodes are looked up.
pub(crate) struct Cluster {
    me: AtomicI64,
    peers: Arc<dyn Peers>,
    pub(crate) player_store: Arc<dyn PlayerStore>,
    directory: RwLock<Directory>,
    /// Notifies waiting requests of new owners.
    changes: Arc<Notify>,
    /// The shards of this node whose rooms are restored.
    hosted: RwLock<BTreeSet<Shard>>,
    /// Held while rooms are restored.
    pub(crate) restoring: Mutex<()>,
}

impl Cluster {
    pub(crate) fn new(me: NodeId, peers: Arc<dyn Peers>, player_store: Arc<dyn PlayerStore>) -> Self {
        let (directory, hosted) = (RwLock::default(), RwLock::default());
        let (changes, restoring) = (Arc::default(), Mutex::default());
        Self { me: AtomicI64::new(me.0), peers, player_store, directory, changes, hosted, restoring }
    }

    pub(crate) fn me(&self) -> NodeId {
        NodeId(self.me.load(SeqCst))
    }

    /// Goes on as another node, without rooms, after this one was declared dead.
    pub(crate) fn rename(&self, me: NodeId) {
        self.me.store(me.0, SeqCst);
        self.hosted_mut().clear();
        self.changes.notify_waiters();
    }

    pub(crate) fn owner(&self, room: RoomId) -> Option<Ownership> {
        self.directory().get(Shard::of(room))
    }

    /// Whether this node has the rooms of a shard, and has restored them.
    pub(crate) fn hosts(&self, shard: Shard) -> bool {
        self.hosted.read().unwrap_or_else(PoisonError::into_inner).contains(&shard)
    }

    /// Whether a room is on this node.
    pub(crate) fn owns(&self, room: RoomId) -> bool {
        self.hosts(Shard::of(room))
    }

    /// Whether this node has a shard at this version.
    pub(crate) fn has(&self, owned: Ownership) -> bool {
        self.directory().get(owned.shard) == Some(owned) && owned.node == self.me()
    }

    /// The rooms of these shards are restored, unless the node has lost them since.
    pub(crate) fn host<'a>(&self, shards: impl IntoIterator<Item = &'a Ownership>) {
        let directory = self.directory();
        let is_current = |owned: &&Ownership| directory.get(owned.shard) == Some(**owned) && owned.node == self.me();
        self.hosted_mut().extend(shards.into_iter().filter(is_current).map(|owned| owned.shard));
        drop(directory);
        self.changes.notify_waiters();
    }

    /// The rooms of these shards are on this node no longer.
    pub(crate) fn end_hosting(&self, shards: &BTreeSet<Shard>) {
        self.hosted_mut().retain(|shard| !shards.contains(shard));
    }

    /// Records owners, and returns the shards that this node has lost by it.
    pub(crate) fn learn(&self, owners: impl IntoIterator<Item = Ownership>) -> Vec<Shard> {
        let (me, mut lost, mut any) = (self.me(), Vec::new(), false);
        let mut directory = self.directory.write().unwrap_or_else(PoisonError::into_inner);
        for new in owners {
            let was_mine = directory.get(new.shard).is_some_and(|known| known.node == me);
            if directory.learn(new) {
                any = true;
                // If this node has it again, another one had it meanwhile.
                if was_mine {
                    lost.push(new.shard);
                }
            }
        }
        let mut hosted = self.hosted_mut();
        for shard in &lost {
            hosted.remove(shard);
        }
        drop((directory, hosted));
        if any {
            self.changes.notify_waiters();
        }
        lost
    }

    /// Ends at the next change of the directory. A `watch` channel would wake its receivers in a random order.
    pub(crate) fn change(&self) -> DirectoryChange {
        Box::pin(Arc::clone(&self.changes).notified_owned())
    }

    /// An id for a new room: in a shard of this node, or of any if it has none.
    pub(crate) fn new_room(&self, random: u64) -> Option<RoomId> {
        let directory = self.directory();
        let here = directory.any_shard(random, |owned| self.hosts(owned.shard));
        here.or_else(|| directory.any_shard(random, |_| true)).map(|shard| shard.room(random))
    }

    /// Asks the owner of a room once. None if nothing was done, and the request may be repeated.
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Option<Reply>, RoomError> {
        // This node may own the room and not have restored it.
        let Some(owner) = self.owner(ask.room).filter(|owner| owner.node != self.me()) else { return Ok(None) };
        match timeout(ASK_DEADLINE, self.peers.ask(owner.node, ask.clone())).await {
            Ok(Ok(Reply::Elsewhere(known))) => {
                self.learn_elsewhere(known);
                Ok(None)
            }
            Ok(Ok(answer)) => Ok(Some(answer)),
            Ok(Err(LinkError::Full)) => Err(RoomError::Busy),
            Ok(Err(LinkError::Down)) => Ok(None),
            Ok(Err(LinkError::Lost)) | Err(_) if ask.is_repeatable() => Ok(None),
            Ok(Err(LinkError::Lost)) | Err(_) => Err(RoomError::Unreachable),
        }
    }

    /// Learns an owner from a node that is not the owner. What this node has lost it learns from the store.
    pub(crate) fn learn_elsewhere(&self, known: Option<Ownership>) {
        let me = self.me();
        let was_mine = |new: &Ownership| self.directory().get(new.shard).is_some_and(|owned| owned.node == me);
        self.learn(known.filter(|new| new.node != me && !was_mine(new)));
    }

    fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosted_mut(&self) -> RwLockWriteGuard<'_, BTreeSet<Shard>> {
        self.hosted.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a room at its owner; none while it has no other one.
    pub(crate) fn follow(&self, room: RoomId, after: Option<Seq>) -> Option<(NodeId, mpsc::Receiver<FeedItem>)> {
        let node = self.owner(room)?.node;
        (node != self.me()).then(|| (node, self.peers.follow(node, room, after)))
    }

    pub(crate) fn tell(&self, node: NodeId, news: News) {
        self.peers.tell(node, news);
    }

    pub(crate) fn tell_all(&self, news: &News) {
        for node in self.peers.linked() {
            self.peers.tell(node, news.clone());
        }
    }
}

/// A change of the directory after this was made.
pub(crate) type DirectoryChange = Pin<Box<OwnedNotified>>;

/// The patience of one request with rooms that move.
pub(crate) struct Patience<'a> {
    cluster: &'a Cluster,
    change: DirectoryChange,
    until: Instant,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, change: cluster.change(), until: Instant::now() + MOVE_PATIENCE }
    }

    /// Waits for a change of the directory, or a while.
    ///
    /// # Errors
    /// [`RoomError::Unreachable`] when the patience has ended.
    pub(crate) async fn wait(&mut self) -> Result<(), RoomError> {
        let retry = Instant::now() + ASK_RETRY;
        if retry >= self.until {
            return Err(RoomError::Unreachable);
        }
        let _ = timeout_at(retry, self.change.as_mut()).await;
        // Before the caller looks at the directory again.
        self.change = self.cluster.change();
        Ok(())
    }
}
