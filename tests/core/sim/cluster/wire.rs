//! The links between the processes: they delay, reorder between asks, feeds, news and lists, lose some asks, and all that is on its
//! way when they are cut, and can be held. Rooms, events, commands and rejections cross them in their stored forms.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::{
        RoomId, Seq,
        stored::{
            decode_command, decode_event, decode_rejection, decode_room, encode_command, encode_event,
            encode_rejection, encode_room,
        },
    },
    runtime::{
        Ask, FeedItem, LinkError, LobbyWatch, News, Node, NodeId, PeerList, Peers, Question, Reply, RoomError, Snapshot,
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
    /// By the two processes, the lower first.
    links: BTreeMap<(usize, usize), Link>,
    /// The pairs that do not reach each other, once for each reason.
    apart: Vec<(usize, usize)>,
}

/// A process at its end of the links.
struct End {
    id: NodeId,
    node: Node,
    /// Everything from and to it waits for this many reasons.
    held: Arc<Gate<usize>>,
}

struct Link {
    /// Cancelled when it breaks.
    broken: CancellationToken,
    /// News from the lower process, and from the higher one.
    news: [mpsc::Sender<(NodeId, News)>; 2],
    asks: [Arc<()>; 2],
}

/// What is needed to reach a process.
struct Route {
    from: NodeId,
    node: Node,
    broken: CancellationToken,
    held: [Arc<Gate<usize>>; 2],
    /// Counts the asks of this direction.
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

    /// A process goes on as another node.
    pub(super) fn rename(self: &Arc<Self>, process: usize, id: NodeId) {
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

    /// Keeps two processes apart for a time.
    pub(super) async fn part(self: &Arc<Self>, one: usize, other: usize, time: Duration) {
        let pair = (one.min(other), one.max(other));
        self.state().apart.push(pair);
        self.cut(one, other);
        tokio::time::sleep(time).await;
        {
            let apart = &mut self.state().apart;
            if let Some(reason) = apart.iter().position(|known| *known == pair) {
                apart.swap_remove(reason);
            }
        }
        self.link(one, other);
    }

    /// Links two processes, unless they are linked or kept apart.
    fn link(self: &Arc<Self>, one: usize, other: usize) {
        let pair = (one.min(other), one.max(other));
        let broken = CancellationToken::new();
        let ([low, to_high], [high, to_low]) = ([pair.0, pair.1], [pair.1, pair.0]);
        let (from_low, low_news) = mpsc::channel(NEWS);
        let (from_high, high_news) = mpsc::channel(NEWS);
        let link = Link { broken: broken.clone(), news: [from_low, from_high], asks: [Arc::default(), Arc::default()] };
        let ends = {
            let mut state = self.state();
            let Some(ends) = state.ends.get(&pair.0).zip(state.ends.get(&pair.1)) else { return };
            let ends = [ends.0, ends.1].map(|end| (end.id, end.node.clone()));
            if state.links.contains_key(&pair) || state.apart.contains(&pair) {
                return;
            }
            state.links.insert(pair, link);
            ends
        };
        for (from, to, news) in [(low, to_high, low_news), (high, to_low, high_news)] {
            self.tasks.spawn(Arc::clone(self).deliver(from, to, news, broken.clone()));
        }
        let [(low, low_node), (high, high_node)] = ends;
        for (from, to, watch, list) in [
            (pair.0, pair.1, low_node.list(), high_node.peer_list(low)),
            (pair.1, pair.0, high_node.list(), low_node.peer_list(high)),
        ] {
            self.tasks.spawn(Arc::clone(self).send_list(from, to, watch, list, broken.clone()));
        }
        low_node.linked(high);
        high_node.linked(low);
    }

    fn cut(&self, one: usize, other: usize) {
        let pair = (one.min(other), one.max(other));
        let mut state = self.state();
        let Some(link) = state.links.remove(&pair) else { return };
        let ends = [pair.0, pair.1].map(|process| state.ends.get(&process).map(|end| (end.id, end.node.clone())));
        drop(state);
        link.broken.cancel();
        if let [Some((low, low_node)), Some((high, high_node))] = ends {
            low_node.unlinked(high);
            high_node.unlinked(low);
        }
    }

    /// Cuts all links of a process, and returns the others.
    fn cut_all(&self, process: usize) -> Vec<usize> {
        let pairs: Vec<_> = self.state().links.keys().copied().collect();
        let linked = pairs.into_iter().filter(|(low, high)| *low == process || *high == process);
        let others: Vec<_> = linked.map(|(low, high)| if low == process { high } else { low }).collect();
        others.iter().for_each(|other| self.cut(process, *other));
        others
    }

    /// Delivers the news of one direction in order.
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
                route.node.told(sender, news);
            }
        };
        tokio::select! {
            biased;
            () = broken.cancelled() => {}
            () = deliver => {}
        }
    }

    /// Sends the rows of one process to another.
    async fn send_list(
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
        let link = state.links.get(&(from.min(to), from.max(to)))?;
        Some(Route {
            from: sender.id,
            node: receiver.node.clone(),
            broken: link.broken.clone(),
            held: [Arc::clone(&sender.held), Arc::clone(&receiver.held)],
            asks: Arc::clone(&link.asks[usize::from(from > to)]),
        })
    }

    fn process(&self, node: NodeId) -> Option<usize> {
        self.state().ends.iter().find(|(_, end)| end.id == node).map(|(process, _)| *process)
    }

    /// Whether an ask or its answer is lost, though the link holds.
    fn loses(&self) -> bool {
        self.state().rng.below(100) < 2
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

    fn follow(&self, node: NodeId, room: RoomId, after: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        let (items, feed) = mpsc::channel(FEED);
        let Some(route) = self.route(node) else { return feed };
        let wire = Arc::clone(&self.wire);
        self.wire.tasks.spawn(async move {
            let broken = route.broken.clone();
            let follow = async {
                wire.cross(&route).await;
                let mut followed = match route.node.follow(room, after).await {
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
        let pair = (self.process.min(other), self.process.max(other));
        let sent = {
            let state = self.wire.state();
            let Some(link) = state.links.get(&pair) else { return };
            link.news[usize::from(self.process > other)].try_send((route.from, news))
        };
        if sent.is_err() {
            // What cannot be queued breaks the link.
            let (wire, one) = (Arc::clone(&self.wire), self.process);
            self.wire.tasks.spawn(async move {
                wire.cut(one, other);
                wire.link(one, other);
            });
        }
    }

    fn linked(&self) -> Vec<NodeId> {
        let state = self.wire.state();
        let pairs = state.links.keys().filter(|(low, high)| [*low, *high].contains(&self.process));
        let others = pairs.map(|(low, high)| if *low == self.process { *high } else { *low });
        others.filter_map(|other| state.ends.get(&other)).map(|end| end.id).collect()
    }
}

fn carried_ask(mut ask: Ask) -> Ask {
    if let Question::Command(_, command) = &mut ask.what {
        *command = decode_command(&encode_command(command)).expect("a command as it was encoded");
    }
    ask
}

fn carried_answer(answer: Reply) -> Reply {
    match answer {
        Reply::Snapshot(Snapshot { room, watchers }) => {
            let room = decode_room(&encode_room(&room)).expect("a room as it was encoded");
            Reply::Snapshot(Snapshot { room: Arc::new(room), watchers })
        }
        Reply::Refused(RoomError::Rejected(rejection)) => {
            let rejection = decode_rejection(&encode_rejection(rejection)).expect("a rejection as it was encoded");
            Reply::Refused(RoomError::Rejected(rejection))
        }
        answer => answer,
    }
}

fn carried_item(item: FeedItem) -> FeedItem {
    match item {
        FeedItem::Base(room) => {
            FeedItem::Base(Arc::new(decode_room(&encode_room(&room)).expect("a room as it was encoded")))
        }
        FeedItem::Event(event) => {
            FeedItem::Event(Arc::new(decode_event(&encode_event(&event)).expect("an event as it was encoded")))
        }
        FeedItem::Ended(end) => FeedItem::Ended(end),
    }
}
