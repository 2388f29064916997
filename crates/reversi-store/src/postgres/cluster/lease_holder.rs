//! The node of this process, which renews its lease, looks at the others and takes shards.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metrics::gauge;
use reversi_room::Timestamp;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use super::{
    access::AccessCheck,
    link_reports::{self, Report, Status},
    node::{self, Other, Renewal, SeenRenewals},
    shard::{self, ShardRow},
};
use crate::{
    clock_check::{ClockCheck, ClockReading},
    cluster_store::{ClusterView, Lease, NodeInfo, Obstacle},
    journal::{CLOCK_SKEW, LEASE_AGE, OWNED_SHARDS},
    postgres::{
        error::PostgresError,
        schema,
        session::{Config, Session},
    },
    quorum::{QuorumNode, Unreached, may_serve},
    shard::{Assignment, NodeId, Shard, share, surplus},
};

/// The interval of beats.
const BEAT: Duration = Duration::from_millis(250);

/// Time limit for a row that another node has locked; the next beat tries again.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '500ms'";

/// Time limit for the database when the node leaves.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// How a node shares a database.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// Time limit for reads and writes while the database is away.
    pub patience: Duration,
    /// The time without renewals after which another node takes over.
    pub lease: Duration,
    /// What the node tells the other nodes about itself.
    pub info: NodeInfo,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { patience: Duration::from_secs(10), lease: Duration::from_secs(3), info: NodeInfo::default() }
    }
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::postgres) enum NodeState {
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
    pub(super) fn is_member(&self) -> bool {
        matches!(self, Self::Member(_))
    }

    /// The id with which the node may write; none if it may not.
    pub(in crate::postgres) fn writer(&self) -> Option<i64> {
        match self {
            Self::Owner(node) | Self::Member(node) => Some(*node),
            Self::StandBy { .. } | Self::Lost => None,
        }
    }
}

/// The node of this process, on a thread of its own.
pub(super) struct LeaseHolder {
    config: Config,
    lease: Duration,
    info: NodeInfo,
    /// Stays true when the node rejoins with a new id.
    is_draining: Arc<watch::Sender<bool>>,
    pub(super) state: watch::Sender<NodeState>,
    pub(super) view: watch::Sender<Arc<ClusterView>>,
    /// The lease as it was last renewed.
    pub(super) held: watch::Sender<Lease>,
    is_replaceable: bool,
    clock: ClockCheck,
    pub(super) access: AccessCheck,
    /// The other nodes that this node reaches.
    reached: Arc<watch::Sender<BTreeSet<NodeId>>>,
    /// Those that it does not reach, as stored; none if that is unknown.
    unreached: Option<BTreeSet<NodeId>>,
    /// What it says of itself, as stored; none if that is unknown.
    status: Option<Status>,
    /// False until the database has answered that it has the status.
    is_status_stored: bool,
    /// What this node has seen of the others over this connection.
    seen: SeenRenewals,
    /// The nodes of shards, of which only changes are read once all are known.
    assignments: BTreeMap<Shard, Assignment>,
    /// When shards got their nodes, by the clock of the database.
    assigned: BTreeMap<Shard, f64>,
    assignments_read: Option<Instant>,
    /// None before the node is inserted, and after it was declared dead, until it rejoins.
    id: Option<i64>,
    session: Option<Arc<Session>>,
    /// True until the node has read the other nodes once.
    is_new: bool,
    /// True until the lease is renewed for the first time over this connection.
    is_new_connection: bool,
    /// True if an owner has counted its shards over this connection: a failover may have lost the takeover.
    has_counted: bool,
    /// True if this connection holds the node's advisory lock.
    is_locked: bool,
    /// When the last renewal was asked for.
    renewed: Instant,
    /// When the last complete beat renewed the lease.
    seen_until: Instant,
    is_failing: bool,
    /// The other servers whose options were compared with those of this one.
    compared: BTreeSet<i64>,
}

impl LeaseHolder {
    /// Connects, creates the tables if necessary, and beats once.
    pub(super) async fn join(
        config: Config,
        Sharing { patience, lease, info }: Sharing,
        is_draining: Arc<watch::Sender<bool>>,
        reached: Arc<watch::Sender<BTreeSet<NodeId>>>,
    ) -> Result<Self, PostgresError> {
        let session = Session::open(&config).await?;
        // A command changes no tables of others: its writer upgrades them, once it has all shards.
        let is_command = info.listens.is_none();
        if is_command {
            schema::create(&session, patience).await?
        } else {
            schema::upgrade(&session, None, patience).await?
        }
        session.batch(LOCK_TIMEOUT).await?;
        let mut member = Self {
            config,
            lease,
            info,
            is_draining,
            state: watch::Sender::new(NodeState::StandBy { owner: None, is_in_use: false }),
            view: watch::Sender::default(),
            held: watch::Sender::new(Lease { end: Instant::now(), ahead: 0, is_replaceable: false }),
            is_replaceable: false,
            clock: ClockCheck::default(),
            access: AccessCheck::new(patience + lease),
            reached,
            unreached: None,
            status: None,
            is_status_stored: false,
            seen: SeenRenewals::default(),
            assignments: BTreeMap::new(),
            assigned: BTreeMap::new(),
            assignments_read: None,
            id: None,
            is_new: true,
            session: Some(Arc::new(session)),
            is_new_connection: true,
            has_counted: false,
            is_locked: false,
            renewed: Instant::now(),
            seen_until: Instant::now(),
            is_failing: false,
            compared: BTreeSet::new(),
        };
        let state = member.beat(false).await?;
        member.set_state(state);
        member.note_renewal();
        Ok(member)
    }

    fn set_state(&self, state: NodeState) {
        self.state.send_if_modified(|known| {
            let is_new = *known != state;
            *known = state;
            is_new
        });
    }

    /// Call after a beat, so that who reads of the lease also sees the node's id and its shards.
    fn note_renewal(&self) {
        let ahead = self.clock.ahead().unwrap_or_default();
        let (end, is_replaceable) = (self.renewed + self.lease, self.is_replaceable);
        self.held.send_replace(Lease { end, ahead, is_replaceable });
    }

    /// Beats until `left`, or until shards are lost. Beats at once when it is `asked` to.
    pub(super) async fn run(mut self, mut left: watch::Receiver<bool>, asked: Arc<Notify>) {
        let mut ticks = interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reached = self.reached.subscribe();
        loop {
            let is_owner = matches!(*self.state.borrow(), NodeState::Owner(_));
            let beat = async {
                tokio::select! {
                    _ = ticks.tick() => {}
                    _ = reached.changed() => {}
                    () = asked.notified() => {}
                }
                timeout(self.lease, self.beat(is_owner)).await
            };
            let beat = tokio::select! {
                _ = left.wait_for(|left| *left) => break,
                beat = beat => beat,
            };
            gauge!(LEASE_AGE).set(self.renewed.elapsed().as_secs_f64());
            match beat {
                Ok(Ok(now)) => {
                    (self.is_failing, self.seen_until) = (false, self.renewed);
                    let is_lost = now == NodeState::Lost;
                    gauge!(OWNED_SHARDS).set(f64::from(self.owned(&now)));
                    self.set_state(now);
                    self.note_renewal();
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
        if self.renewed.elapsed() >= self.lease {
            // Others may have them.
            gauge!(OWNED_SHARDS).set(0.0);
        }
    }

    /// Renews the lease, declares other nodes dead, and takes free shards unless it owns all. Returns the new state.
    async fn beat(&mut self, is_owner: bool) -> Result<NodeState, PostgresError> {
        let (session, id) = self.connect().await?;
        let session = &*session;
        let was_draining = *self.is_draining.borrow();
        let (asked, before) = (Instant::now(), self.info.clock.map(|clock| clock()));
        let renewed = node::renew(session, id, self.lease, self.is_new_connection, was_draining).await?;
        let Some(Renewal { was_connected, is_draining, at }) = renewed else {
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
        self.is_new_connection = false;
        self.renewed = asked;
        if is_owner {
            // It keeps its shards, whatever becomes of the rest.
            self.note_renewal();
        }
        if let (Some(before), Some(clock)) = (before, self.info.clock) {
            self.check_clock(ClockReading::new(before, at, clock()));
        }
        self.is_draining.send_if_modified(|known| is_draining && !std::mem::replace(known, true));
        let (mut living, mut dead) = (Vec::new(), Vec::new());
        for other in node::others(session, id, &mut self.seen).await? {
            let is_dead = other.is_dead(was_connected, self.is_new);
            if is_dead { dead.push(other) } else { living.push(other) }
        }
        for other in dead {
            if node::declare_dead(session, &other).await? {
                tracing::warn!(node = other.id, "{} is gone", other.place());
            }
        }
        self.is_new = false;
        node::warn_of_options(&self.info, self.lease, &living, &mut self.compared);
        self.is_replaceable = living.iter().any(Other::may_take_over);
        let is_replaceable = living.iter().any(|other| other.may_take_over() && other.is_living());
        if let Some(state) = self.give_up_lost(session, is_replaceable).await? {
            return Ok(state);
        }
        if self.info.address.is_some() {
            self.share(session, id, &living, is_draining).await?;
            return Ok(NodeState::Member(id));
        }
        if is_owner && !self.has_counted {
            if shard::count(session, id).await? < i64::from(Shard::COUNT) {
                return Ok(NodeState::Lost);
            }
            self.has_counted = true;
        }
        let is_owner = is_owner || !is_draining && shard::take_all(session, id).await?;
        if self.info.listens.is_some() {
            self.report_status(session, id, is_owner).await?;
        }
        if is_owner {
            return Ok(NodeState::Owner(id));
        }
        let owner = living.iter().find(|other| other.has_shards).map(Other::place);
        Ok(NodeState::StandBy { owner, is_in_use: living.iter().any(Other::is_living) })
    }

    /// Leaves if this node has shards that it cannot read or write: others take them. Returns the new state if it has
    /// left. A node that shares the shards rejoins, and has none until it can; one without others keeps them.
    async fn give_up_lost(
        &mut self,
        session: &Session,
        is_replaceable: bool,
    ) -> Result<Option<NodeState>, PostgresError> {
        let (is_member, has_ended) = (self.info.address.is_some(), self.access.has_writer_ended());
        let has_shards = self.owned(&self.state.borrow()) > 0;
        if !(has_ended || self.access.is_lost() && has_shards && is_replaceable) {
            return Ok(None);
        }
        if let Some(id) = self.id {
            node::leave(session, id, self.access.unwritable_since().and_then(|since| self.time_of(since))).await?;
        }
        tracing::error!("this server renewed its lease, but could read or write no room; its rooms are given up");
        // Only now: until it has left, it must try again, or it would keep its rooms.
        (self.id, self.assignments_read) = (None, None);
        self.assignments.clear();
        if is_member && !has_ended { Box::pin(self.beat(false)).await.map(Some) } else { Ok(Some(NodeState::Lost)) }
    }

    /// A time that has passed, by the clock of the node.
    fn time_of(&self, passed: Instant) -> Option<Timestamp> {
        let micros = i64::try_from(passed.elapsed().as_micros()).unwrap_or(i64::MAX);
        Some((self.info.clock?)().shifted(-micros))
    }

    fn check_clock(&mut self, reading: ClockReading) {
        if self.clock.apply(reading) {
            // What was written before the database's clock was set may seem to be old, or new for long.
            (self.assignments_read, self.unreached) = (None, None);
        }
        if let Some(ahead) = self.clock.ahead() {
            let seconds = Duration::from_micros(ahead.unsigned_abs()).as_secs_f64();
            gauge!(CLOCK_SKEW).set(if ahead < 0 { -seconds } else { seconds });
        }
    }

    /// Takes free shards up to the node's share, and reads the nodes of the others into a new view.
    async fn share(
        &mut self,
        session: &Session,
        id: i64,
        others: &[Other],
        is_draining: bool,
    ) -> Result<(), PostgresError> {
        let (serving, obstacle) = self.compare_state(session, id, others).await?;
        let takes_shards = !is_draining && obstacle.is_none();
        // A node that ends gives nothing to one that is silent: it would have to wait for that one.
        let is_taker = |other: &&Other| {
            other.takes_shards() && serving.contains(&NodeId(other.id)) && (other.is_living() || !is_draining)
        };
        let me = NodeId(id);
        let others_take = others.iter().filter(is_taker).map(|other| NodeId(other.id));
        let takers: BTreeSet<_> = others_take.chain(takes_shards.then_some(me)).collect();
        if takes_shards {
            shard::take(session, id, share(takers.len())).await?;
        }
        let before = Arc::clone(&self.view.borrow());
        let mut away_since = if before.me == me { before.away_since.clone() } else { BTreeMap::new() };
        let now = Instant::now();
        let knows_rest = self.assignments_read.is_some_and(|read| now - read < shard::CHANGES / 2);
        for row in self.read_shards(session, id, !knows_rest).await? {
            self.assigned.insert(row.shard, row.changed);
            match row.owner() {
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
        let address = |other: &Other| Some((NodeId(other.id), other.address.clone()?));
        // What a silent node should have waits until it renews its lease, or is dead.
        let is_silent = |node: &NodeId| others.iter().any(|other| other.id == node.0 && !other.is_living());
        let has_shards = assignments.iter().any(|owned| owned.node == me);
        // The database may have been away from all: those that are silent now may soon take shards.
        let is_drained = is_draining && !(has_shards && others.iter().any(Other::may_return));
        let mut oldest_first = assignments.clone();
        let since = |owned: &Assignment| self.assigned.get(&owned.shard).copied().unwrap_or_default();
        oldest_first.sort_by(|one, other| since(one).total_cmp(&since(other)));
        let mut surplus = surplus(me, &takers, &oldest_first);
        surplus.retain(|_, next| !is_silent(next));
        let view = ClusterView {
            me,
            others: others.iter().filter_map(address).collect(),
            assignments,
            away_since,
            obstacle,
            is_drained: is_drained && surplus.is_empty(),
            surplus,
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

    /// Reads the nodes of shards. If the database has lost changes of them, as after a failover to a standby that
    /// lacked the last commits, they get versions that no node knows yet, so that all nodes learn them.
    async fn read_shards(&self, session: &Session, id: i64, all: bool) -> Result<Vec<ShardRow>, PostgresError> {
        let rows = shard::assignments(session, id, all).await?;
        let known = |row: &ShardRow| self.assignments.get(&row.shard).filter(|known| row.is_before(known)).copied();
        let lost: Vec<_> = rows.iter().filter_map(known).collect();
        if lost.is_empty() {
            return Ok(rows);
        }
        tracing::error!(
            shards = lost.len(),
            "the database has lost changes of the servers of rooms, and so perhaps moves"
        );
        shard::raise_versions(session, &lost, self.time_of(self.seen_until)).await?;
        shard::assignments(session, id, true).await
    }

    /// Compares the links and clocks of the nodes. Stores which others this node does not reach, and whether it serves.
    /// Returns the nodes that serve, and why this one does not.
    async fn compare_state(
        &mut self,
        session: &Session,
        id: i64,
        others: &[Other],
    ) -> Result<(BTreeSet<NodeId>, Option<Obstacle>), PostgresError> {
        let me = NodeId(id);
        let unreached: BTreeSet<_> = {
            let reached = self.reached.borrow();
            let live = others.iter().filter(|other| other.in_quorum().is_some()).map(|other| NodeId(other.id));
            live.filter(|other| !reached.contains(other)).collect()
        };
        if self.unreached.as_ref() != Some(&unreached) {
            // Unknown until the answer: a report whose answer is lost is made again.
            self.unreached = None;
            link_reports::report_unreached(session, id, &unreached).await?;
            self.unreached = Some(unreached);
        }
        let reports = link_reports::reports(session).await?;
        let of_others = || reports.iter().filter(|report| report.node != me);
        let serving = of_others().filter(|report| report.status.is_serving).map(|report| report.node);
        let mut serving: BTreeSet<_> = serving.collect();
        let clocks: Vec<_> = of_others().filter_map(|report| report.status.ahead).collect();
        let is_wrong = |ahead| self.clock.judge_other(ahead, &clocks);
        let is_out = |report: &&Report| !report.status.is_serving && report.status.ahead.is_some_and(is_wrong);
        let with_wrong_clock: BTreeSet<_> = of_others().filter(is_out).map(|report| report.node).collect();
        let is_serving = self.status.is_some_and(|status| status.is_serving);
        let this = QuorumNode { id: me, is_silent: false };
        let counted = others.iter().filter_map(Other::in_quorum).filter(|node| !with_wrong_clock.contains(&node.id));
        let nodes: Vec<_> = counted.chain([this]).collect();
        // Its own are not among the reports before the first one of its status.
        let own = self.unreached.iter().flatten().map(|peer| Unreached { node: me, peer: *peer, time: Duration::ZERO });
        let unreached: Vec<_> = reports.into_iter().flat_map(|report| report.unreached).chain(own).collect();
        let has_wrong_clock = self.clock.judge(&clocks, is_serving, Instant::now());
        let is_unshared = others.iter().any(|other| other.address.is_none() && other.has_shards);
        let obstacle = match may_serve(me, is_serving, &nodes, &unreached) {
            _ if is_unshared && self.owned(&self.state.borrow()) == 0 => Some(Obstacle::Unshared),
            false => Some(Obstacle::CutOff),
            true if self.access.is_lost() => Some(Obstacle::NoAccess),
            true => has_wrong_clock.then_some(Obstacle::WrongClock),
        };
        self.report_status(session, id, obstacle.is_none()).await?;
        if obstacle.is_none() {
            serving.insert(me);
        }
        Ok((serving, obstacle))
    }

    /// Stores what the node says of itself, if that has changed.
    async fn report_status(&mut self, session: &Session, id: i64, is_serving: bool) -> Result<(), PostgresError> {
        let tenths = |micros: i64| micros.saturating_add(50_000).div_euclid(100_000) * 100_000;
        let status = Status { is_serving, ahead: self.clock.ahead().map(tenths) };
        if self.status != Some(status) || !self.is_status_stored {
            (self.status, self.is_status_stored) = (Some(status), false);
            link_reports::report_status(session, id, status).await?;
            self.is_status_stored = true;
        }
        Ok(())
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
                (self.is_new_connection, self.has_counted) = (true, false);
                (self.is_locked, self.assignments_read) = (false, None);
                // A failover may have lost what was stored.
                (self.unreached, self.is_status_stored) = (None, false);
                self.seen = SeenRenewals::default();
                self.access.begin_again();
                Arc::clone(self.session.insert(Arc::new(session)))
            }
        };
        let id = match self.id {
            Some(id) => id,
            None => {
                (self.is_new, self.is_locked) = (true, false);
                // Links are those of a node; a new one has none yet.
                self.reached.send_replace(BTreeSet::new());
                (self.unreached, self.status) = (None, None);
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
        if !matches!(timeout(LEAVE_TIMEOUT, node::leave(&session, id, None)).await, Ok(Ok(()))) {
            tracing::warn!("the node could not be removed; the other servers wait for the end of its lease");
        }
        if let Some(session) = Arc::into_inner(session) {
            session.close().await;
        }
    }
}
