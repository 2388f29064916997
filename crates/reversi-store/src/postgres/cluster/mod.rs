//! The nodes that share a database, and which of them writes to which rooms.
//!
//! ```text
//!   join ──▶ a node with a lease ──▶ beat: renew the lease, look at the others, take free shards ─┬▶ owner of all shards
//!                                      │                                                          └▶ member: its share
//!                                      └── no row to renew: it was declared dead by another node
//! ```
//!
//! Every write of a node locks the node's row in `fence`. Declaring a node dead deletes that row: this waits for a
//! write in progress, and all later writes are refused. Leases, silence and ended connections only say when to do so: a
//! mistake costs a pause, never a write.
//!
//! A node without an address for links owns all shards, and others like it stand by to take them. Nodes with one share
//! the shards: each takes free ones up to its share, and frees those beyond it. A draining node has no share.

pub(super) mod fence;
pub(super) mod node;
pub(super) mod shard;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use metrics::gauge;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_postgres::Config;

use self::node::{Other, Renewal};
use super::{error::PostgresError, schema, session::Session};
use crate::{
    cluster_store::{ClusterView, NodeInfo},
    journal::{LEASE_AGE, OWNED_SHARDS},
    shard::{Assignment, NodeId, Shard},
};

/// The interval of beats.
const BEAT: Duration = Duration::from_millis(250);

/// Time limit for a row that another node has locked; the next beat tries again.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '500ms'";

/// Time limit for the database when the node leaves.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeState {
    /// It owns nothing yet.
    StandBy {
        /// The place of the node that owns shards, for people; none if there is none.
        owner: Option<String>,
        /// True if another node renews its lease, and so owns all shards or will.
        is_in_use: bool,
    },
    /// It owns all shards; with the id of the node.
    Owner(i64),
    /// It shares the shards; with the id of the node.
    Member(i64),
    /// It was declared dead after it owned shards.
    Lost,
}

impl NodeState {
    fn is_member(&self) -> bool {
        matches!(self, Self::Member(_))
    }

    /// The id with which the node may write; none if it may not.
    pub(super) fn writer(&self) -> Option<i64> {
        match self {
            Self::Owner(node) | Self::Member(node) => Some(*node),
            Self::StandBy { .. } | Self::Lost => None,
        }
    }
}

/// A node of this process. Dropping it frees its shards.
pub struct Membership {
    state: watch::Receiver<NodeState>,
    view: watch::Receiver<Arc<ClusterView>>,
    is_draining: Arc<watch::Sender<bool>>,
    leave: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Membership {
    /// Joins the nodes of a database, whose tables are created if necessary. Returns after the first beat.
    pub(super) async fn join(config: Config, lease: Duration, info: NodeInfo) -> Result<Self, PostgresError> {
        let (leave, left) = watch::channel(false);
        let is_draining = Arc::<watch::Sender<bool>>::default();
        let (reply, joined) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let join = LeaseHolder::join(config, lease, info, Arc::clone(&is_draining));
        let run = async move {
            match join.await {
                Ok(member) => {
                    // The caller may have stopped waiting.
                    let _ = reply.send(Ok((member.state.subscribe(), member.view.subscribe())));
                    member.run(left).await;
                }
                Err(error) => drop(reply.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("store-lease".into()).spawn(move || runtime.block_on(run))?;
        let (state, view) = joined.await.map_err(|_| thread_ended())??;
        Ok(Self { state, view, is_draining, leave, thread: Some(thread) })
    }

    /// The present state, and each change.
    pub(super) fn state(&self) -> watch::Receiver<NodeState> {
        self.state.clone()
    }

    /// The cluster as this node sees it, and each change. For a node that shares the shards.
    pub(super) fn views(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.clone()
    }

    /// Gives up the node's shards, and waits until it has none that another node can take.
    pub async fn hand_over(&self) {
        self.is_draining.send_replace(true);
        if self.state.borrow().is_member() {
            // It fails when the node has left.
            let _ = self.views().wait_for(|view| view.is_draining && view.surplus == 0).await;
        }
    }

    /// Waits until the node is asked to end, by `draining` in the table `node`.
    pub(super) fn wait_for_drain(&self) -> impl Future<Output = ()> + use<> {
        let mut is_draining = self.is_draining.subscribe();
        async move {
            if is_draining.wait_for(|is_draining| *is_draining).await.is_err() {
                // The node has left.
                std::future::pending().await
            }
        }
    }

    /// Waits until the node owns all shards, or shares them. Returns its id. Fails if it was declared dead.
    pub(super) async fn wait_to_write(&self) -> Result<i64, PostgresError> {
        let mut state = self.state();
        let owner = state.wait_for(|state| !matches!(state, NodeState::StandBy { .. })).await;
        let node = owner.map(|state| state.writer()).map_err(|_| thread_ended())?;
        node.ok_or(PostgresError::Fenced)
    }

    /// Waits until another node has taken over, or can; for ever once this node leaves.
    pub async fn wait_until_lost(&self) {
        if self.state().wait_for(|state| *state == NodeState::Lost).await.is_err() && *self.leave.borrow() {
            // The thread has ended because this node leaves, not because of a fault.
            std::future::pending().await
        }
    }

    /// Lets another node take over at once. This node can write nothing after that.
    pub async fn leave(&self) {
        self.leave.send_replace(true);
        // Until the thread ends.
        let _ = self.state().wait_for(|_| false).await;
    }
}

fn thread_ended() -> PostgresError {
    PostgresError::Database("the thread of the lease has ended".to_owned())
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // The panic hook has logged a panic.
            let _ = thread.join();
        }
    }
}

/// The node of this process, on a thread of its own.
struct LeaseHolder {
    config: Config,
    lease: Duration,
    info: NodeInfo,
    /// Stays true when the node rejoins with a new id.
    is_draining: Arc<watch::Sender<bool>>,
    state: watch::Sender<NodeState>,
    view: watch::Sender<Arc<ClusterView>>,
    /// The nodes of shards, of which only changes are read once all are known.
    assignments: BTreeMap<Shard, Assignment>,
    assignments_read: Option<Instant>,
    /// None before the node is inserted, and after it was declared dead, until it rejoins.
    id: Option<i64>,
    session: Option<Arc<Session>>,
    /// True until the node has read the other nodes once.
    is_new: bool,
    /// True until the lease is renewed for the first time over this connection.
    is_new_connection: bool,
    /// True if this connection holds the node's advisory lock.
    is_locked: bool,
    renewed: Instant,
    is_failing: bool,
    /// The other servers whose options were compared with those of this one.
    compared: BTreeSet<i64>,
}

impl LeaseHolder {
    /// Connects, creates the tables if necessary, and beats once.
    async fn join(
        config: Config,
        lease: Duration,
        info: NodeInfo,
        is_draining: Arc<watch::Sender<bool>>,
    ) -> Result<Self, PostgresError> {
        let session = Session::open(&config).await?;
        // A command changes no tables of others: its writer upgrades them, once it has all shards.
        let is_command = info.listens.is_none();
        if is_command {
            schema::create(&session).await?
        } else {
            schema::upgrade(&session, None).await?
        }
        session.batch(LOCK_TIMEOUT).await?;
        let mut member = Self {
            config,
            lease,
            info,
            is_draining,
            state: watch::Sender::new(NodeState::StandBy { owner: None, is_in_use: false }),
            view: watch::Sender::default(),
            assignments: BTreeMap::new(),
            assignments_read: None,
            id: None,
            is_new: true,
            session: Some(Arc::new(session)),
            is_new_connection: true,
            is_locked: false,
            renewed: Instant::now(),
            is_failing: false,
            compared: BTreeSet::new(),
        };
        let state = member.beat(false).await?;
        member.set_state(state);
        Ok(member)
    }

    fn set_state(&self, state: NodeState) {
        self.state.send_if_modified(|known| {
            let is_new = *known != state;
            *known = state;
            is_new
        });
    }

    /// Beats until `left`, or until shards are lost.
    async fn run(mut self, mut left: watch::Receiver<bool>) {
        let mut ticks = interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_owner = matches!(*self.state.borrow(), NodeState::Owner(_));
            let beat = async {
                ticks.tick().await;
                timeout(self.lease, self.beat(is_owner)).await
            };
            let beat = tokio::select! {
                _ = left.wait_for(|left| *left) => break,
                beat = beat => beat,
            };
            gauge!(LEASE_AGE).set(self.renewed.elapsed().as_secs_f64());
            match beat {
                Ok(Ok(now)) => {
                    self.is_failing = false;
                    let is_lost = now == NodeState::Lost;
                    gauge!(OWNED_SHARDS).set(f64::from(self.owned(&now)));
                    self.set_state(now);
                    if is_lost {
                        return;
                    }
                }
                Ok(Err(error)) => {
                    self.note_failure(&error.to_string());
                    self.session = self.session.take().filter(|session| !session.is_closed());
                }
                Err(_) => {
                    self.note_failure("the database gives no answer");
                    self.session = None;
                }
            }
        }
        self.leave().await;
    }

    fn note_failure(&mut self, error: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(error, "the lease is not renewed, or the other servers are not seen; trying again");
        }
    }

    /// Renews the lease, declares other nodes dead, and takes free shards unless it owns all. Returns the new state.
    async fn beat(&mut self, is_owner: bool) -> Result<NodeState, PostgresError> {
        let (session, id) = self.connect().await?;
        let session = &*session;
        let was_draining = *self.is_draining.borrow();
        let renewed = node::renew(session, id, self.lease, self.is_new_connection, was_draining).await?;
        let Some(Renewal { was_connected, is_draining }) = renewed else {
            if is_owner {
                return Ok(NodeState::Lost);
            }
            (self.id, self.assignments_read) = (None, None);
            if self.info.address.is_some() {
                // It rejoins with a new id.
                return Box::pin(self.beat(false)).await;
            }
            return Ok(NodeState::StandBy { owner: None, is_in_use: true });
        };
        (self.is_new_connection, self.renewed) = (false, Instant::now());
        self.is_draining.send_if_modified(|known| is_draining && !std::mem::replace(known, true));
        let (mut living, mut dead) = (Vec::new(), Vec::new());
        for other in node::others(session, id).await? {
            let is_dead = other.is_dead(was_connected, self.is_new);
            if is_dead { dead.push(other) } else { living.push(other) }
        }
        for other in dead {
            if node::declare_dead(session, &other).await? {
                tracing::warn!(node = other.id, "{} is gone", other.place());
            }
        }
        self.is_new = false;
        self.compare_options(&living);
        if self.info.address.is_some() {
            self.share(session, id, &living, is_draining).await?;
            return Ok(NodeState::Member(id));
        }
        if is_owner || !is_draining && shard::take_all(session, id).await? {
            return Ok(NodeState::Owner(id));
        }
        let owner = living.iter().find(|other| other.has_shards).map(Other::place);
        Ok(NodeState::StandBy { owner, is_in_use: living.iter().any(Other::is_living) })
    }

    /// Takes free shards up to the node's share, and reads the nodes of the others into a new view.
    async fn share(
        &mut self,
        session: &Session,
        id: i64,
        others: &[Other],
        is_draining: bool,
    ) -> Result<(), PostgresError> {
        let takes_shards = !is_draining;
        let takers = others.iter().filter(|other| other.takes_shards()).count() + usize::from(takes_shards);
        // A node that drains keeps its shards if no other node can take them.
        let share = if takes_shards { usize::from(Shard::COUNT).div_ceil(takers) } else { 0 };
        if takes_shards {
            shard::take(session, id, share).await?;
        }
        let me = NodeId(id);
        let before = Arc::clone(&self.view.borrow());
        let mut away_since = if before.me == me { before.away_since.clone() } else { BTreeMap::new() };
        let now = Instant::now();
        let knows_rest = self.assignments_read.is_some_and(|read| now - read < shard::CHANGES / 2);
        for row in shard::assignments(session, id, !knows_rest).await? {
            match row.owner {
                Some(owner) => drop(self.assignments.insert(row.shard, owner)),
                None => drop(self.assignments.remove(&row.shard)),
            }
            match row.away_since {
                Some(since) => drop(away_since.insert(row.shard, since)),
                None => drop(away_since.remove(&row.shard)),
            }
        }
        self.assignments_read = Some(now);
        let assignments: Vec<Assignment> = self.assignments.values().copied().collect();
        let owned = assignments.iter().filter(|owned| owned.node == me).count();
        let address = |other: &Other| Some((NodeId(other.id), other.address.clone()?));
        let view = ClusterView {
            me,
            others: others.iter().filter_map(address).collect(),
            assignments,
            away_since,
            is_draining,
            surplus: if takers == 0 { 0 } else { owned.saturating_sub(share) },
        };
        // Before the view: a reader of the view may write with this id.
        self.set_state(NodeState::Member(id));
        self.view.send_if_modified(|known| {
            let is_new = **known != view;
            if is_new {
                *known = Arc::new(view);
            }
            is_new
        });
        Ok(())
    }

    /// Warns once of each other server that does not have the options of this one.
    fn compare_options(&mut self, others: &[Other]) {
        self.compared.retain(|id| others.iter().any(|other| other.id == *id));
        if self.info.listens.is_none() {
            return;
        }
        for other in others.iter().filter(|other| other.has_known_options()) {
            if !self.compared.insert(other.id) {
                continue;
            }
            let (node, place) = (other.id, other.place());
            if other.lease != self.lease {
                let [here, there] = [self.lease, other.lease].map(|lease| lease.as_secs_f64());
                tracing::warn!(node, here, there, "{place} has another --lease; give all servers the same");
            }
            match (&self.info.address, &other.address) {
                (None, Some(_)) => tracing::warn!(
                    node,
                    "this server has no --node-listen, and {place} has; only servers with it share the rooms"
                ),
                (Some(_), None) => tracing::warn!(
                    node,
                    "{place} has no --node-listen, and this server has; only servers with it share the rooms"
                ),
                _ => {}
            }
        }
    }

    /// Number of shards that the node has.
    fn owned(&self, state: &NodeState) -> u32 {
        match state {
            NodeState::Owner(_) => Shard::COUNT.into(),
            NodeState::Member(id) => self.assignments.values().map(|owned| u32::from(owned.node == NodeId(*id))).sum(),
            NodeState::StandBy { .. } | NodeState::Lost => 0,
        }
    }

    /// The open connection, and the node's id. Connects and inserts the node if necessary.
    async fn connect(&mut self) -> Result<(Arc<Session>, i64), PostgresError> {
        let session = match &self.session {
            Some(session) => Arc::clone(session),
            None => {
                let session = Session::open(&self.config).await?;
                session.batch(LOCK_TIMEOUT).await?;
                (self.is_new_connection, self.is_locked, self.assignments_read) = (true, false, None);
                Arc::clone(self.session.insert(Arc::new(session)))
            }
        };
        let id = match self.id {
            Some(id) => id,
            None => {
                (self.is_new, self.is_locked) = (true, false);
                *self.id.insert(node::join(&session, &self.info).await?)
            }
        };
        if !self.is_locked {
            self.is_locked = node::lock(&session, id).await?;
        }
        Ok((session, id))
    }

    async fn leave(self) {
        let (Some(session), Some(id)) = (self.session, self.id) else { return };
        if !matches!(timeout(LEAVE_TIMEOUT, node::leave(&session, id)).await, Ok(Ok(()))) {
            tracing::warn!("the node could not be removed; the other servers wait for the end of its lease");
        }
        if let Some(session) = Arc::into_inner(session) {
            session.close().await;
        }
    }
}
