//! A link to another node while it is up: the queues of asks, news and feeds for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    proto::cluster,
    room::{RoomId, Seq},
    runtime::{Ask, Audience, FeedItem, LinkError, News, NodeId, Reply, server_metrics},
};

/// Maximum asks of one link that are queued or await a reply: a node executes that many in about 50 ms.
pub(super) const MAX_ASKS: usize = 1_024;

/// Groups of rooms, by the lowest bits of their ids. Each group has a bound of its own, [`GROUP_ASKS`].
const GROUPS: usize = 128;

/// Maximum asks of one group that are queued or await a reply: as a room's mailbox, so that no room takes all.
const GROUP_ASKS: usize = 32;

/// Time limit for an ask to get a place within [`GROUP_ASKS`] and [`MAX_ASKS`], as when many players log in at once.
const SLOT_WAIT: Duration = Duration::from_secs(2);

/// Capacity of the queue of news, which takes memory as it fills: each open turn of a newly taken shard can be one.
const NEWS: usize = 1 << 16;

/// Maximum feeds of one link: one for each room of the other node that is watched at this node.
pub(super) const MAX_FEEDS: usize = 1 << 16;

/// Capacity of one follower's queue of items. A feed whose queue is full ends.
const FEED_CAPACITY: usize = 256;

/// The queues to one node. A broken link is never up again; the dialer makes a new one.
pub(super) struct Link {
    asks: mpsc::Sender<SentAsk>,
    news: mpsc::Sender<News>,
    feeds: mpsc::Sender<NewFeed>,
    slots: Arc<Semaphore>,
    groups: [Arc<Semaphore>; GROUPS],
    /// Cancelled to end the link.
    pub(super) broken: CancellationToken,
}

/// The receivers of a link's queues.
pub(super) struct Queues {
    pub(super) asks: mpsc::Receiver<SentAsk>,
    pub(super) news: mpsc::Receiver<News>,
    pub(super) feeds: mpsc::Receiver<NewFeed>,
}

/// A queued ask, and its asker.
pub(super) struct SentAsk {
    pub(super) ask: cluster::Ask,
    pub(super) asker: Asker,
}

/// Waits for a reply. Dropping it answers [`LinkError::Lost`] if the ask was sent, else [`LinkError::Down`].
pub(super) struct Asker {
    reply: Option<oneshot::Sender<Result<Reply, LinkError>>>,
    /// True if the ask may have reached the other node.
    pub(super) sent: bool,
    _permits: [OwnedSemaphorePermit; 2],
}

impl Asker {
    pub(super) fn answer(mut self, reply: Reply) {
        if let Some(asker) = self.reply.take() {
            let _ = asker.send(Ok(reply));
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        if let Some(asker) = self.reply.take() {
            let _ = asker.send(Err(if self.sent { LinkError::Lost } else { LinkError::Down }));
        }
    }
}

/// A room to follow, after which event, and the queue for its items.
pub(super) struct NewFeed {
    pub(super) room: RoomId,
    pub(super) audience: Audience,
    pub(super) after: Option<Seq>,
    pub(super) items: mpsc::Sender<FeedItem>,
}

impl Link {
    pub(super) fn new() -> (Arc<Self>, Queues) {
        let ((asks, sent), (news, told), (feeds, new)) =
            (mpsc::channel(MAX_ASKS), mpsc::channel(NEWS), mpsc::channel(MAX_FEEDS));
        let slots = Arc::new(Semaphore::new(MAX_ASKS));
        let groups = std::array::from_fn(|_| Arc::new(Semaphore::new(GROUP_ASKS)));
        let link = Self { asks, news, feeds, slots, groups, broken: CancellationToken::new() };
        (Arc::new(link), Queues { asks: sent, news: told, feeds: new })
    }

    pub(super) async fn ask(&self, ask: Ask) -> Result<Reply, LinkError> {
        let group = &self.groups[ask.room.bits() as usize % GROUPS];
        let permits = async {
            let in_group = Arc::clone(group).acquire_owned().await.ok()?;
            Some([in_group, Arc::clone(&self.slots).acquire_owned().await.ok()?])
        };
        let Ok(Some(permits)) = timeout(SLOT_WAIT, permits).await else { return Err(LinkError::Full) };
        let (reply, answer) = oneshot::channel();
        let asker = Asker { reply: Some(reply), sent: false, _permits: permits };
        // The queue has a place for each slot, so it is never full. If it is closed, the asker is dropped.
        let _ = self.asks.try_send(SentAsk { ask: cluster::Ask::new(ask), asker });
        answer.await.unwrap_or(Err(LinkError::Lost))
    }

    /// The items of a room. If the request cannot be queued, the feed ends at once.
    pub(super) fn follow(&self, room: RoomId, audience: Audience, after: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        let (items, feed) = mpsc::channel(FEED_CAPACITY);
        let _ = self.feeds.try_send(NewFeed { room, audience, after, items });
        feed
    }

    pub(super) fn tell(&self, news: News) {
        if self.news.try_send(news).is_err() {
            self.broken.cancel();
        }
    }
}

/// The links that are up.
#[derive(Default)]
pub(super) struct OpenLinks {
    links: RwLock<BTreeMap<NodeId, Arc<Link>>>,
    reached: watch::Sender<BTreeSet<NodeId>>,
}

impl OpenLinks {
    pub(super) fn get(&self, node: NodeId) -> Option<Arc<Link>> {
        self.links.read().unwrap_or_else(PoisonError::into_inner).get(&node).cloned()
    }

    pub(super) fn nodes(&self) -> Vec<NodeId> {
        self.links.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// The nodes to which a link is up that goes through no other node, and each change.
    pub(super) fn reached(&self) -> watch::Receiver<BTreeSet<NodeId>> {
        self.reached.subscribe()
    }

    /// Lists the link as up until the result is dropped. The node counts as reached if the link is direct.
    pub(super) fn open(&self, node: NodeId, link: Arc<Link>, is_direct: bool) -> OpenLink<'_> {
        self.links.write().unwrap_or_else(PoisonError::into_inner).insert(node, link);
        self.reached.send_if_modified(|reached| is_direct && reached.insert(node));
        server_metrics::links(self.reached.borrow().len());
        OpenLink { links: self, node }
    }
}

/// Dropping it lists the link as down.
pub(super) struct OpenLink<'a> {
    links: &'a OpenLinks,
    node: NodeId,
}

impl Drop for OpenLink<'_> {
    fn drop(&mut self) {
        self.links.links.write().unwrap_or_else(PoisonError::into_inner).remove(&self.node);
        self.links.reached.send_modify(|reached| {
            reached.remove(&self.node);
        });
        server_metrics::links(self.links.reached.borrow().len());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::runtime::Question;

    #[tokio::test(start_paused = true)]
    async fn an_ask_whose_turn_does_not_come_is_refused() {
        let (link, _queues) = Link::new();
        let _taken = link.slots.acquire_many(u32::try_from(MAX_ASKS).unwrap()).await.unwrap();
        let ask = Ask { room: RoomId::from_random(1), what: Question::Snapshot };
        assert!(matches!(link.ask(ask).await, Err(LinkError::Full)));
    }

    #[tokio::test(start_paused = true)]
    async fn asks_of_one_room_do_not_take_the_places_of_others() {
        let (link, mut queues) = Link::new();
        let ask = |room| Ask { room: RoomId::from_random(room), what: Question::Snapshot };
        let mut of_one: Vec<_> = (0..MAX_ASKS).map(|_| Box::pin(link.ask(ask(1)))).collect();
        assert!(of_one.iter_mut().all(|ask| ask.now_or_never().is_none()));
        assert_eq!(queues.asks.len(), GROUP_ASKS);
        let mut other = Box::pin(link.ask(ask(2)));
        assert!((&mut other).now_or_never().is_none());
        let last = std::iter::from_fn(|| queues.asks.try_recv().ok()).last().unwrap();
        assert_eq!(last.ask.room, RoomId::from_random(2).bits());
    }
}
