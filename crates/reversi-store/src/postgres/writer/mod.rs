//! The writer: the only task of this process that writes to the database, under the fence of its node. It executes all
//! writes together that were queued during the previous batch, so a batch gathers while the database executes one.
//!
//! ```text
//!   lost connection ──▶ connect, raise ──▶ read what the batch appends to: written, or not and executed again
//!                       the fence ├─────▶ no fence: others have the rooms; nothing is written until this node has a new number
//!                                 └─────▶ after the patience: unknown; rooms are read again only after the next connection
//! ```

pub(super) mod batch;
pub(super) mod change;

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot, watch},
    time::{Instant, timeout_at},
};

use batch::{BatchError, Outcome, Write};

use super::{
    cluster::{
        access::Access,
        fence::{Fence, FenceError},
        lease_holder::NodeState,
    },
    error::{PostgresError, describe, is_refusal},
    schema,
    session::{Config, Session},
};
use crate::{
    damage::DamagedRows,
    journal::{AppendError, COMMIT_WRITES, FENCED_APPENDS},
};

/// Maximum number of writes in one batch, which bounds the wait of its first.
const MAX_BATCH: usize = 1_024;

/// Maximum number of changes of players in the queue, and so in one batch: each takes a few statements, one after the
/// other, for which the moves of the batch wait.
pub(super) const MAX_CHANGES: usize = 64;

/// Number of rooms with long tails for which the next batch is made a transaction that shortens them. Fewer wait for a
/// batch that is a transaction anyway.
const MAX_FOLDS: usize = 64;

/// Maximum yields before a batch, as long as each brings more writes.
const MAX_YIELDS: usize = 16;

/// The interval of tries to connect again.
const RETRY: Duration = Duration::from_millis(100);

/// A write and the receiver of its outcome.
pub(super) struct QueuedWrite {
    pub(super) write: Write,
    pub(super) done: Done,
}

/// The receiver of an outcome.
pub(super) enum Done {
    Append(oneshot::Sender<Result<(), AppendError>>),
    Change {
        done: oneshot::Sender<Outcome>,
        /// One of [`MAX_CHANGES`], for a change on behalf of players.
        _permit: Option<OwnedSemaphorePermit>,
    },
}

impl Done {
    fn send(self, outcome: Outcome) {
        // The caller may have stopped waiting.
        match self {
            Self::Append(done) => drop(done.send(outcome.map(drop))),
            Self::Change { done, .. } => drop(done.send(outcome)),
        }
    }
}

/// The task that writes.
pub(super) struct Writer {
    config: Config,
    patience: Duration,
    /// The state of the node, with the id with which it may write.
    state: watch::Receiver<NodeState>,
    session: Option<Session>,
    /// What permits writes over this connection.
    fence: Fence,
    /// True if the node of the fence was declared dead.
    is_fenced: bool,
    /// True if the patience has ended without a connection.
    is_unreachable: bool,
    /// True while the outcome of a batch is unknown.
    in_doubt: Arc<AtomicBool>,
    access: Arc<Access>,
    damaged: Arc<DamagedRows>,
    /// Rooms with long tails.
    folds: Vec<i64>,
}

impl Writer {
    /// Connects as a node that owns shards.
    pub(super) async fn open(
        config: Config,
        state: watch::Receiver<NodeState>,
        patience: Duration,
        in_doubt: Arc<AtomicBool>,
        access: Arc<Access>,
        damaged: Arc<DamagedRows>,
    ) -> Result<Self, PostgresError> {
        let node = state.borrow().writer().ok_or(PostgresError::Fenced)?;
        let (session, fence) = open(&config, node).await?;
        // A command has joined without upgrading the tables. Fails if a copy has begun meanwhile.
        schema::upgrade(&session, Some(node), patience).await?;
        schema::log_promises(&session).await?;
        Ok(Self {
            config,
            patience,
            state,
            session: Some(session),
            fence,
            is_fenced: false,
            is_unreachable: false,
            in_doubt,
            access,
            damaged,
            folds: Vec::new(),
        })
    }

    /// Executes requests until their queue ends.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<QueuedWrite>) {
        let mut waiting = VecDeque::new();
        while let Some(first) = next(&mut waiting, &mut queue).await {
            waiting.push_front(first);
            for _ in 0..MAX_YIELDS {
                let before = waiting.len();
                std::thread::yield_now();
                while waiting.len() < MAX_BATCH
                    && let Ok(request) = queue.try_recv()
                {
                    waiting.push_back(request);
                }
                if waiting.len() == before {
                    break;
                }
            }
            self.execute(batch_of(&mut waiting)).await;
        }
        if let Some(session) = self.session {
            session.close().await;
        }
    }

    /// Executes requests and sends their outcomes.
    async fn execute(&mut self, mut batch: Vec<QueuedWrite>) {
        metrics::histogram!(COMMIT_WRITES).record(f64::from(u32::try_from(batch.len()).unwrap_or(u32::MAX)));
        let end = Instant::now() + self.patience;
        let mut sent_by = None;
        while !batch.is_empty() {
            if let Err(error) = self.connect(end).await {
                return self.refuse(batch, sent_by.is_some(), &error);
            }
            let sent = sent_by.is_some();
            if sent_by.replace(self.fence.node).is_some_and(|node| node != self.fence.node) {
                // Other nodes have had the rooms since, so their last events do not show what this node wrote.
                let (appends, others) = batch.into_iter().partition(|request| request.write.subject().is_some());
                self.refuse(appends, sent, &PostgresError::Fenced);
                // The fence of the appends is gone, so none can still be written, and reads show which were.
                self.in_doubt.store(false, Ordering::Release);
                batch = others;
            }
            if sent {
                match self.resolve(&batch, end).await {
                    Ok(outcomes) => batch = answer(batch, outcomes),
                    Err(Failure::Fenced) => return self.lose(batch, sent),
                    Err(_) => continue,
                }
            }
            match self.write(&batch, end).await {
                Ok(outcomes) => {
                    return batch.into_iter().zip(outcomes).for_each(|(request, outcome)| request.done.send(outcome));
                }
                Err(Failure::Lost) => {}
                Err(Failure::Fenced) => return self.lose(batch, sent),
                Err(Failure::Refused(error)) if !self.folds.is_empty() => {
                    // No write fails because of a fold.
                    tracing::error!(error, "the events of rooms could not be folded");
                    self.folds.clear();
                }
                // One of them may have failed the others. A repeated request can only be one of those with a request.
                Err(failure @ (Failure::Refused(_) | Failure::Repeated)) if batch.len() > 1 => {
                    let has_request = |write: &Write| write.append().is_some_and(|append| append.request.is_some());
                    let is_suspect =
                        |request: &QueuedWrite| matches!(failure, Failure::Refused(_)) || has_request(&request.write);
                    let (suspects, others): (Vec<_>, Vec<_>) = batch.into_iter().partition(is_suspect);
                    if !others.is_empty() {
                        Box::pin(self.execute(others)).await;
                    }
                    for request in suspects {
                        Box::pin(self.execute(vec![request])).await;
                    }
                    return;
                }
                Err(Failure::Repeated) => {
                    return batch.into_iter().for_each(|request| request.done.send(Err(AppendError::Repeated)));
                }
                Err(Failure::Refused(error)) => return self.refuse(batch, false, &PostgresError::Database(error)),
            }
        }
    }

    /// Connects again if necessary: tries until `end`, but only once if the patience has ended before.
    async fn connect(&mut self, end: Instant) -> Result<(), PostgresError> {
        let node = self.state.borrow().writer().unwrap_or(self.fence.node);
        if node != self.fence.node {
            // The node has rejoined with a new id, to which no earlier write belongs.
            (self.session, self.is_fenced) = (None, false);
            self.folds.clear();
        }
        if self.is_fenced {
            return Err(PostgresError::Fenced);
        }
        if self.session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        self.session = None;
        Access::set(&self.access.is_writer_away, true);
        loop {
            let tried = timeout_at(end, open(&self.config, node)).await;
            let error = match tried {
                Ok(Ok((session, fence))) => {
                    tracing::warn!("the database is reached again");
                    (self.session, self.fence) = (Some(session), fence);
                    self.is_unreachable = false;
                    Access::set(&self.access.is_writer_away, false);
                    // Nothing of an earlier connection can be written any more.
                    self.in_doubt.store(false, Ordering::Release);
                    return Ok(());
                }
                Ok(Err(error)) => error,
                Err(_) => PostgresError::Database("it gives no answer".to_owned()),
            };
            if matches!(error, PostgresError::Fenced) {
                self.note_fenced();
                return Err(error);
            }
            if self.is_unreachable || Instant::now() + RETRY >= end {
                self.is_unreachable = true;
                return Err(error);
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// The outcomes of the writes of a lost connection; none for a write that has to be executed again.
    async fn resolve(&mut self, batch: &[QueuedWrite], end: Instant) -> Result<Vec<Option<Outcome>>, Failure> {
        let Some(session) = &self.session else { return Err(Failure::Lost) };
        let writes: Vec<&Write> = batch.iter().map(|request| &request.write).collect();
        match timeout_at(end, batch::resolve(session, self.fence, &writes)).await {
            Ok(Ok(outcomes)) => Ok(outcomes),
            Ok(Err(BatchError::Fence(FenceError::NodeDead))) => Err(Failure::Fenced),
            _ => {
                self.session = None;
                Err(Failure::Lost)
            }
        }
    }

    async fn write(&mut self, batch: &[QueuedWrite], end: Instant) -> Result<Vec<Outcome>, Failure> {
        let Some(session) = &self.session else { return Err(Failure::Lost) };
        let writes: Vec<&Write> = batch.iter().map(|request| &request.write).collect();
        let is_due = self.folds.len() >= MAX_FOLDS || writes.iter().any(|write| write.append().is_none());
        let folds: &[i64] = if is_due { &self.folds } else { &[] };
        match timeout_at(end, batch::execute(session, self.fence, &self.damaged, &writes, folds)).await {
            Ok(Ok((outcomes, long))) => {
                if is_due {
                    self.folds.clear();
                }
                let new: Vec<i64> = long.into_iter().filter(|room| !self.folds.contains(room)).collect();
                self.folds.extend(new);
                Ok(outcomes)
            }
            Ok(Err(BatchError::Fence(FenceError::NodeDead))) => Err(Failure::Fenced),
            Ok(Err(BatchError::Database(error))) if is_refusal(&error) && session.batch("ROLLBACK").await.is_ok() => {
                Err(Failure::Refused(describe(&error)))
            }
            Ok(Err(BatchError::Repeated)) if session.batch("ROLLBACK").await.is_ok() => Err(Failure::Repeated),
            lost => {
                let error = match lost {
                    Ok(Err(BatchError::Database(error))) => describe(&error),
                    Ok(Err(BatchError::Fence(_))) => "a later one has replaced it".to_owned(),
                    _ => "it gives no answer".to_owned(),
                };
                tracing::warn!(error, "the connection to the database is lost");
                self.session = None;
                Err(Failure::Lost)
            }
        }
    }

    /// Refuses writes, as the node was declared dead. An earlier try may have written them if they were `sent`.
    fn lose(&mut self, batch: Vec<QueuedWrite>, sent: bool) {
        self.note_fenced();
        self.refuse(batch, sent, &PostgresError::Fenced);
    }

    fn note_fenced(&mut self) {
        if !std::mem::replace(&mut self.is_fenced, true) {
            tracing::error!("another server has taken over the rooms: they are not written here any more");
        }
    }

    /// Refuses writes. If they were `sent`, it is unknown whether they are written.
    fn refuse(&mut self, batch: Vec<QueuedWrite>, sent: bool, error: &PostgresError) {
        if matches!(error, PostgresError::Fenced) {
            let appends = batch.iter().filter(|request| request.write.subject().is_some()).count();
            metrics::counter!(FENCED_APPENDS).increment(appends as u64);
        }
        // Reads may show rooms that another node has now, or that may still change.
        if sent || self.is_fenced {
            self.in_doubt.store(true, Ordering::Release);
        }
        for request in batch {
            let refusal = match error {
                PostgresError::Fenced if !sent => AppendError::Fenced,
                error if sent => AppendError::Unknown(error.to_string()),
                error => AppendError::Unavailable(error.to_string()),
            };
            request.done.send(Err(refusal));
        }
    }
}

/// Connects, after which writes still under way over earlier connections are refused. The database ends a transaction
/// that is idle for 1 s: its lock of the fence would keep other nodes from declaring this one dead.
async fn open(config: &Config, node: i64) -> Result<(Session, Fence), PostgresError> {
    let session = Session::open(config).await?;
    session.batch("SET idle_in_transaction_session_timeout = '1s'").await?;
    let fence = Fence::raise(&session, node).await?;
    Ok((session, fence))
}

/// Why a batch was not executed.
enum Failure {
    /// Nothing was written.
    Refused(String),
    /// Nothing was written: a request was done before.
    Repeated,
    /// Another node has taken over: nothing is written any more. An earlier try may have written all.
    Fenced,
    /// The connection is lost: all or nothing was written.
    Lost,
}

/// Answers the writes whose outcome is known, and returns the others.
fn answer(batch: Vec<QueuedWrite>, outcomes: Vec<Option<Outcome>>) -> Vec<QueuedWrite> {
    let mut left = Vec::new();
    for (request, outcome) in batch.into_iter().zip(outcomes) {
        match outcome {
            Some(outcome) => request.done.send(outcome),
            None => left.push(request),
        }
    }
    left
}

async fn next(waiting: &mut VecDeque<QueuedWrite>, queue: &mut mpsc::Receiver<QueuedWrite>) -> Option<QueuedWrite> {
    match waiting.pop_front() {
        Some(request) => Some(request),
        None => queue.recv().await,
    }
}

/// Takes the requests of a batch, in their order: at most one for each room and tournament.
fn batch_of(waiting: &mut VecDeque<QueuedWrite>) -> Vec<QueuedWrite> {
    let mut subjects = HashSet::new();
    let fits = |request: &QueuedWrite| request.write.subject().is_none_or(|subject| subjects.insert(subject));
    let end = waiting.iter().map(fits).position(|fits| !fits);
    waiting.drain(..end.unwrap_or(waiting.len()).min(MAX_BATCH)).collect()
}
