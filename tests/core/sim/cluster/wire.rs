//! The links between the processes: they delay, reorder between asks, feeds, news and lists, lose some asks, and all
//! that is on its way when they are cut, and can be held. Rooms, events, commands and rejections cross them in their
//! stored forms.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use prost::Message;
use reversi::{
    room::{RoomId, Seq, stored::v1},
    runtime::{
        Ask, Audience, FeedItem, LinkError, LobbyWatch, News, Node, NodeId, PeerList, Peers, Question, Reply,
        RoomError, Snapshot,
    },
    store::BoxFuture,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::gate::Gate;
use crate::sim::rng::Rng;

/// Asks under way from one process to another.
const ASKS: usize = 64;

/// News under way from one process to another.
const NEWS: usize = 256;

/// Items of a feed under way.
const FEED: usize = 32;

pub(super) struct Wire {
    state: Mutex<State>,
    /// All tasks of the simulation that belong to no runtime.
    pub(super) tasks: TaskTracker,
}

struct State {
    rng: Rng,
    ends: BTreeMap<usize, End>,
    /// By the process that dials, and the other one.
    links: BTreeMap<(usize, usize), Link>,
    /// Who does not reach whom, once for each reason.
    apart: Vec<(usize, usize)>,
}

/// A process at its end of the links.
struct End {
    id: NodeId,
    node: Node,
    /// Everything from and to it waits for this many reasons.
    held: Arc<Gate<usize>>,
}

/// A link in one direction.
struct Link {
    /// Cancelled when it breaks.
    broken: CancellationToken,
    news: mpsc::Sender<(NodeId, News)>,
    asks: Arc<()>,
}

/// What is needed to reach a process.
struct Route {
    from: NodeId,
    node: Node,
    broken: CancellationToken,
    held: [Arc<Gate<usize>>; 2],
    /// Counts the asks under way.
    asks: Arc<()>,
}

impl Wire {
    pub(super) fn new(rng: Rng) -> Arc<Self> {
        let state = State { rng, ends: BTreeMap::new(), links: BTreeMap::new(), apart: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), tasks: TaskTracker::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a process, and links it with all others.
    pub(super) fn add(self: &Arc<Self>, process: usize, id: NodeId, node: Node) {
        let others: Vec<_> = self.state().ends.keys().copied().collect();
        self.state().ends.insert(process, End { id, node, held: Arc::default() });
        others.into_iter().for_each(|other| self.link(process, other));
    }

    /// Cuts off a process for ever.
    pub(super) fn remove(&self, process: usize) {
        self.cut_all(process);
        self.state().ends.remove(&process);
    }

    /// A process rejoins with a new number.
    pub(super) fn rejoin_as(self: &Arc<Self>, process: usize, id: NodeId) {
        let linked = self.cut_all(process);
        if let Some(end) = self.state().ends.get_mut(&process) {
            end.id = id;
        }
        linked.into_iter().for_each(|other| self.link(process, other));
    }

    /// Holds everything from and to a process until the end of `time`.
    pub(super) async fn hold(&self, process: usize, time: impl Future<Output = ()>) {
        let held = self.state().ends.get(&process).map(|end| Arc::clone(&end.held));
        held.iter().for_each(|held| held.change(|reasons| *reasons += 1));
        time.await;
        held.iter().for_each(|held| held.change(|reasons| *reasons -= 1));
    }

    /// Keeps the first process of each pair from reaching the other one for a time.
    pub(super) async fn cut_for(self: &Arc<Self>, ways: &[(usize, usize)], time: Duration) {
        for &(from, to) in ways {
            self.state().apart.push((from, to));
            self.cut_to(from, to);
        }
        tokio::time::sleep(time).await;
        for way in ways {
            let apart = &mut self.state().apart;
            if let Some(reason) = apart.iter().position(|known| known == way) {
                apart.swap_remove(reason);
            }
        }
        self.link_ways(ways);
    }

    /// Links two processes in both directions, of which one may take longer.
    fn link(self: &Arc<Self>, one: usize, other: usize) {
        self.link_ways(&[(one, other), (other, one)]);
    }

    fn link_ways(self: &Arc<Self>, ways: &[(usize, usize)]) {
        for &(from, to) in ways {
            let delay = {
                let rng = &mut self.state().rng;
                if rng.percent(50) { Duration::ZERO } else { rng.millis(1..1_000) }
            };
            let wire = Arc::clone(self);
            self.tasks.spawn(async move {
                tokio::time::sleep(delay).await;
                wire.link_to(from, to);
            });
        }
    }

    /// Links a process to another one, unless it is linked or they are kept apart.
    fn link_to(self: &Arc<Self>, from: usize, to: usize) {
        let (broken, (sender, news)) = (CancellationToken::new(), mpsc::channel(NEWS));
        let (from_node, to_node, from_id, to_id) = {
            let mut state = self.state();
            let Some(ends) = state.ends.get(&from).zip(state.ends.get(&to)) else { return };
            let ends = (ends.0.node.clone(), ends.1.node.clone(), ends.0.id, ends.1.id);
            if state.links.contains_key(&(from, to)) || state.apart.contains(&(from, to)) {
                return;
            }
            let link = Link { broken: broken.clone(), news: sender, asks: Arc::default() };
            state.links.insert((from, to), link);
            ends
        };
        self.tasks.spawn(Arc::clone(self).deliver(from, to, news, broken.clone()));
        let (watch, list) = (to_node.list(), from_node.peer_list(to_id));
        self.tasks.spawn(Arc::clone(self).receive_list(from, to, watch, list, broken));
        to_node.linked_by(from_id);
        from_node.linked(to_id);
    }

    fn cut(&self, one: usize, other: usize) {
        self.cut_to(one, other);
        self.cut_to(other, one);
    }

    /// Cuts the link of a process to another one.
    fn cut_to(&self, from: usize, to: usize) {
        let mut state = self.state();
        let Some(link) = state.links.remove(&(from, to)) else { return };
        let from = state.ends.get(&from).map(|end| end.id);
        let to = state.ends.get(&to).map(|end| end.node.clone());
        drop(state);
        link.broken.cancel();
        if let Some((from, to)) = from.zip(to) {
            to.unlinked(from);
        }
    }

    /// Cuts all links of a process, and returns the others.
    fn cut_all(&self, process: usize) -> Vec<usize> {
        let others: Vec<_> = self.state().ends.keys().copied().filter(|other| *other != process).collect();
        others.iter().for_each(|other| self.cut(process, *other));
        others
    }

    /// Delivers the news of a link in order.
    async fn deliver(
        self: Arc<Self>,
        from: usize,
        to: usize,
        mut news: mpsc::Receiver<(NodeId, News)>,
        broken: CancellationToken,
    ) {
        let deliver = async {
            while let Some((sender, news)) = news.recv().await {
                let Some(route) = self.route(from, to) else { return };
                self.cross(&route).await;
                route.node.receive_news(sender, news);
            }
        };
        tokio::select! {
            biased;
            () = broken.cancelled() => {}
            () = deliver => {}
        }
    }

    /// Gives a process the rows of the other one over its link.
    async fn receive_list(
        self: Arc<Self>,
        from: usize,
        to: usize,
        mut watch: LobbyWatch,
        list: PeerList,
        broken: CancellationToken,
    ) {
        let send = async {
            loop {
                let update = watch.next().await;
                let Some(route) = self.route(from, to) else { return };
                self.cross(&route).await;
                list.update(update);
            }
        };
        tokio::select! {
            biased;
            () = broken.cancelled() => {}
            () = send => {}
        }
    }

    fn route(&self, from: usize, to: usize) -> Option<Route> {
        let state = self.state();
        let (sender, receiver) = (state.ends.get(&from)?, state.ends.get(&to)?);
        let link = state.links.get(&(from, to))?;
        Some(Route {
            from: sender.id,
            node: receiver.node.clone(),
            broken: link.broken.clone(),
            held: [Arc::clone(&sender.held), Arc::clone(&receiver.held)],
            asks: Arc::clone(&link.asks),
        })
    }

    fn process(&self, node: NodeId) -> Option<usize> {
        self.state().ends.iter().find(|(_, end)| end.id == node).map(|(process, _)| *process)
    }

    /// Whether an ask or its answer is lost, though the link holds.
    fn loses(&self) -> bool {
        self.state().rng.below(100) < 2
    }

    /// The nodes to which a process has a link.
    pub(super) fn reached(&self, process: usize) -> BTreeSet<NodeId> {
        let state = self.state();
        let linked = state.links.keys().filter(|(from, _)| *from == process);
        linked.filter_map(|(_, to)| state.ends.get(to)).map(|end| end.id).collect()
    }

    /// Waits for the way of one message.
    async fn cross(&self, route: &Route) {
        let delay = {
            let rng = &mut self.state().rng;
            match rng.below(100) {
                0..3 => rng.millis(50..800),
                3..40 => rng.millis(1..6),
                _ => Duration::ZERO,
            }
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        for held in &route.held {
            held.pass(|reasons| reasons > 0).await;
        }
    }
}

/// The links as one process has them.
pub(super) struct SimPeers {
    pub(super) wire: Arc<Wire>,
    pub(super) process: usize,
}

impl SimPeers {
    fn route(&self, node: NodeId) -> Option<Route> {
        self.wire.route(self.process, self.wire.process(node)?)
    }
}

impl Peers for SimPeers {
    fn ask(&self, node: NodeId, ask: Ask) -> BoxFuture<'_, Result<Reply, LinkError>> {
        Box::pin(async move {
            let route = self.route(node).ok_or(LinkError::Down)?;
            if Arc::strong_count(&route.asks) > ASKS {
                return Err(LinkError::Full);
            }
            let (reply, answer) = oneshot::channel();
            let (wire, ask) = (Arc::clone(&self.wire), carried_ask(ask));
            // The other process goes on if this one does not wait.
            self.wire.tasks.spawn(async move {
                let broken = route.broken.clone();
                let answer = async {
                    wire.cross(&route).await;
                    if wire.loses() {
                        return None;
                    }
                    // An answer is worked out to its end.
                    let node = route.node.clone();
                    let answer = wire.tasks.spawn(async move { node.answer(ask).await }).await.ok()?;
                    wire.cross(&route).await;
                    (!wire.loses()).then(|| carried_answer(answer))
                };
                tokio::select! {
                    biased;
                    () = broken.cancelled() => {}
                    answer = answer => if let Some(answer) = answer {
                        let _ = reply.send(answer);
                    }
                }
            });
            answer.await.map_err(|_| LinkError::Lost)
        })
    }

    fn follow(&self, node: NodeId, room: RoomId, audience: Audience, after: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        let (items, feed) = mpsc::channel(FEED);
        let Some(route) = self.route(node) else { return feed };
        let wire = Arc::clone(&self.wire);
        self.wire.tasks.spawn(async move {
            let broken = route.broken.clone();
            let follow = async {
                wire.cross(&route).await;
                let mut followed = match route.node.follow(room, audience, after).await {
                    Ok(followed) => followed,
                    Err(end) => return drop(items.send(FeedItem::Ended(end)).await),
                };
                loop {
                    let next = tokio::select! {
                        biased;
                        () = items.closed() => return,
                        next = followed.next() => next,
                    };
                    let Some(item) = next else { return };
                    wire.cross(&route).await;
                    if items.send(carried_item(item)).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                biased;
                () = broken.cancelled() => {}
                () = follow => {}
            }
        });
        feed
    }

    fn tell(&self, node: NodeId, news: News) {
        let Some(other) = self.wire.process(node) else { return };
        let Some(route) = self.route(node) else { return };
        let sent = {
            let state = self.wire.state();
            let Some(link) = state.links.get(&(self.process, other)) else { return };
            link.news.try_send((route.from, news))
        };
        if sent.is_err() {
            // What cannot be queued breaks the link.
            let (wire, one) = (Arc::clone(&self.wire), self.process);
            self.wire.tasks.spawn(async move {
                wire.cut_to(one, other);
                wire.link_to(one, other);
            });
        }
    }

    fn linked(&self) -> Vec<NodeId> {
        self.wire.reached(self.process).into_iter().collect()
    }
}

/// The message as the other process gets it.
fn sent<M: Message + Default>(message: &M) -> M {
    M::decode(&*message.encode_to_vec()).expect("a message")
}

fn carried_ask(mut ask: Ask) -> Ask {
    if let Question::Command(_, command) = &mut ask.what {
        *command = sent(&v1::Command::from(&*command)).read().expect("a command as it was sent");
    }
    ask
}

fn carried_answer(answer: Reply) -> Reply {
    match answer {
        Reply::Snapshot(Snapshot { room, watchers }) => {
            let room = sent(&v1::Room::from(&*room)).read().expect("a room as it was sent");
            Reply::Snapshot(Snapshot { room: Arc::new(room), watchers })
        }
        Reply::Refused(RoomError::Rejected(rejection)) => {
            let rejection = sent(&v1::Rejection::from(rejection)).read().expect("a rejection as it was sent");
            Reply::Refused(RoomError::Rejected(rejection))
        }
        answer => answer,
    }
}

fn carried_item(item: FeedItem) -> FeedItem {
    match item {
        FeedItem::Base(room) => {
            FeedItem::Base(Arc::new(sent(&v1::Room::from(&*room)).read().expect("a room as it was sent")))
        }
        FeedItem::Event(event) => {
            FeedItem::Event(Arc::new(sent(&v1::Event::from(&*event)).read().expect("an event as it was sent")))
        }
        FeedItem::Ended(end) => FeedItem::Ended(end),
    }
}
