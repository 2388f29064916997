//! Which servers share a database, and which of them writes.
//!
//! ```text
//!   join ──▶ a node with a lease ──▶ beat: renew the lease, look at the others, take free shards ──▶ owner of all shards
//!                                      │                                                             writes by its fence
//!                                      └── no row to renew: it was declared dead by another node
//! ```
//!
//! Every write of a node locks the node's row in `fence`. Declaring a node dead deletes that row, so it waits for a write in
//! progress and refuses all later ones. Leases, silence and ended connections only say when to do so: a mistake costs a
//! pause, never a write. Today one node owns all shards, and the others stand by to take them.

pub(super) mod fence;
mod node;
pub(super) mod shard;

use std::{sync::Arc, thread::JoinHandle, time::Duration};

use metrics::gauge;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_postgres::Config;

use super::{
    schema::{self, PostgresError},
    session::Session,
};
use crate::store::journal::{LEASE_AGE, OWNED_SHARDS};

/// The interval of beats.
const BEAT: Duration = Duration::from_millis(250);

/// The longest wait for a row that another node has locked; the next beat tries again.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '500ms'";

/// The longest wait for the database when the node leaves.
const FAREWELL: Duration = Duration::from_secs(1);

/// The part of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It owns nothing yet.
    StandBy {
        /// Where the owner of shards is, if there is one.
        owner: Option<String>,
        /// Whether a node lives that is the owner, or will be one.
        is_in_use: bool,
    },
    /// It owns all shards, as this node.
    Owner(i64),
    /// It was declared dead after it owned shards.
    Lost,
}

/// A node of this process. Dropping it frees its shards.
pub struct Membership {
    part: watch::Receiver<Part>,
    leave: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Membership {
    /// Joins the nodes of a database, whose tables are created if necessary. Returns after the first beat.
    pub(super) async fn join(config: Config, lease: Duration, listens: Option<String>) -> Result<Self, PostgresError> {
        let (leave, left) = watch::channel(false);
        let (reply, joined) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = async move {
            match Node::join(config, lease, listens).await {
                Ok((node, part)) => {
                    // The caller may have stopped waiting.
                    let _ = reply.send(Ok(part.subscribe()));
                    node.run(part, left).await;
                }
                Err(error) => drop(reply.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("store-lease".into()).spawn(move || runtime.block_on(run))?;
        let part = joined.await.map_err(|_| thread_ended())??;
        Ok(Self { part, leave, thread: Some(thread) })
    }

    /// The present part, and each change.
    pub(super) fn part(&self) -> watch::Receiver<Part> {
        self.part.clone()
    }

    /// Waits until the node owns all shards. Returns its number.
    pub(super) async fn owns(&self) -> Result<i64, PostgresError> {
        let mut part = self.part();
        let owner = part.wait_for(|part| !matches!(part, Part::StandBy { .. })).await;
        match owner.map(|part| part.clone()) {
            Ok(Part::Owner(node)) => Ok(node),
            Ok(_) => Err(PostgresError::Fenced),
            Err(_) => Err(thread_ended()),
        }
    }

    /// Waits until another server has taken over, or can.
    pub async fn lost(&self) {
        if self.part().wait_for(|part| *part == Part::Lost).await.is_err() && *self.leave.borrow() {
            // The thread has ended because this server leaves, not because of a fault.
            std::future::pending().await
        }
    }

    /// Lets another server take over at once. Nothing is written here after that.
    pub async fn leave(&self) {
        self.leave.send_replace(true);
        // Until the thread ends.
        let _ = self.part().wait_for(|_| false).await;
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

/// The node on its thread.
struct Node {
    config: Config,
    lease: Duration,
    listens: Option<String>,
    /// None before it is inserted, and after it was declared dead without shards.
    id: Option<i64>,
    session: Option<Arc<Session>>,
    /// Whether the node has not yet looked at the others.
    is_new: bool,
    /// Whether the lease has still to be renewed for the first time over this connection.
    is_new_connection: bool,
    /// Whether this connection holds the node's advisory lock.
    is_locked: bool,
    renewed: Instant,
    is_failing: bool,
}

impl Node {
    /// Connects, creates the tables if necessary, and beats once.
    async fn join(
        config: Config,
        lease: Duration,
        listens: Option<String>,
    ) -> Result<(Self, watch::Sender<Part>), PostgresError> {
        let session = Session::open(&config).await?;
        schema::migrate(&session).await?;
        session.batch(LOCK_TIMEOUT).await?;
        let mut node = Self {
            config,
            lease,
            listens,
            id: None,
            is_new: true,
            session: Some(Arc::new(session)),
            is_new_connection: true,
            is_locked: false,
            renewed: Instant::now(),
            is_failing: false,
        };
        let part = node.beat(false).await?;
        Ok((node, watch::Sender::new(part)))
    }

    /// Beats until `left`, or until shards are lost.
    async fn run(mut self, part: watch::Sender<Part>, mut left: watch::Receiver<bool>) {
        let mut ticks = interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_owner = matches!(*part.borrow(), Part::Owner(_));
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
                    let is_owner = matches!(now, Part::Owner(_));
                    gauge!(OWNED_SHARDS).set(if is_owner { f64::from(shard::SHARDS) } else { 0.0 });
                    part.send_if_modified(|known| std::mem::replace(known, now.clone()) != now);
                    if now == Part::Lost {
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

    /// Renews the lease, declares others dead, and takes free shards unless it is the owner of all.
    async fn beat(&mut self, is_owner: bool) -> Result<Part, PostgresError> {
        let (session, id) = self.connect().await?;
        let session = &*session;
        let Some(was_connected) = node::renew(session, id, self.lease, self.is_new_connection).await? else {
            if is_owner {
                return Ok(Part::Lost);
            }
            self.id = None;
            return Ok(Part::StandBy { owner: None, is_in_use: true });
        };
        (self.is_new_connection, self.renewed) = (false, Instant::now());
        let (mut owner, mut is_in_use) = (None, false);
        for other in node::others(session, id).await? {
            if !other.is_dead(was_connected, self.is_new) {
                is_in_use |= other.is_living();
                owner = owner.or_else(|| other.has_shards.then(|| other.place()));
            } else if node::declare_dead(session, &other).await? {
                tracing::warn!(node = other.id, "{} is gone", other.place());
            }
        }
        self.is_new = false;
        if is_owner || shard::take(session, id).await? {
            return Ok(Part::Owner(id));
        }
        Ok(Part::StandBy { owner, is_in_use })
    }

    /// The open connection, and the node's number. Connects and inserts the node if necessary.
    async fn connect(&mut self) -> Result<(Arc<Session>, i64), PostgresError> {
        let session = match &self.session {
            Some(session) => Arc::clone(session),
            None => {
                let session = Session::open(&self.config).await?;
                session.batch(LOCK_TIMEOUT).await?;
                (self.is_new_connection, self.is_locked) = (true, false);
                Arc::clone(self.session.insert(Arc::new(session)))
            }
        };
        let id = match self.id {
            Some(id) => id,
            None => {
                (self.is_new, self.is_locked) = (true, false);
                *self.id.insert(node::join(&session, self.listens.as_deref()).await?)
            }
        };
        if !self.is_locked {
            self.is_locked = node::lock(&session, id).await?;
        }
        Ok((session, id))
    }

    async fn leave(self) {
        let (Some(session), Some(id)) = (self.session, self.id) else { return };
        if !matches!(timeout(FAREWELL, node::leave(&session, id)).await, Ok(Ok(()))) {
            tracing::warn!("the node could not be removed; the other servers wait for the end of its lease");
        }
        if let Some(session) = Arc::into_inner(session) {
            session.close().await;
        }
    }
}
