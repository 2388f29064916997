//! The one thread that writes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{
    rooms::{self, Entry},
    schema,
};
use crate::store::journal::{AppendError, FaultHook, Pending, Unavailable};

/// Writes that may wait. Beyond it those who write wait for a place: they are then slowed down to what the disk can do.
const QUEUE: usize = 4_096;

/// The most writes of one commit, so that the first of them is not held up for long by the others.
const TOGETHER: usize = 1_024;

/// The metric of how many writes one commit makes durable.
pub const COMMIT_WRITES: &str = "reversi_journal_commit_writes";

/// A write, as it is carried out within a transaction.
type Write = Box<dyn Fn(&Connection) -> Result<(), AppendError> + Send>;

struct Job {
    write: Write,
    done: oneshot::Sender<Result<(), AppendError>>,
}

pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    fault: FaultHook,
}

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, fault: FaultHook) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let desk = Desk { path: path.to_owned(), connection: Some(connection) };
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || desk.work(queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), fault })
    }

    pub(super) async fn append(&self, entry: Entry) -> Result<(), AppendError> {
        let fault = (self.fault)(entry.room, entry.expected);
        if let Some(error @ (AppendError::Unavailable(_) | AppendError::Conflict(_))) = fault {
            return Err(error);
        }
        self.submit(Box::new(move |connection| rooms::append(connection, &entry))).await?;
        // A write whose outcome nobody hears of has happened here: the harder case for the caller.
        fault.map_or(Ok(()), Err)
    }

    /// Writes something for which nothing is expected.
    pub(super) fn write(
        &self,
        write: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Pending<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            let done = self.submit(Box::new(move |connection| Ok(write(connection)?))).await;
            done.map_err(|error| Unavailable(error.to_string()))
        })
    }

    async fn submit(&self, write: Write) -> Result<(), AppendError> {
        let (done, outcome) = oneshot::channel();
        let gone = || AppendError::Unavailable("the writer has ended".to_owned());
        self.jobs.as_ref().ok_or_else(gone)?.send(Job { write, done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| AppendError::Unknown("the writer has ended".to_owned()))?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has told so.
            let _ = thread.join();
        }
    }
}

/// Why nothing of a commit was done.
enum Failure {
    /// The file cannot be written to, whatever it is.
    Closed(AppendError),
    /// One of the writes, or all of them together.
    Write(AppendError),
    /// Perhaps something was done after all.
    Unknown(AppendError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Write(error.into())
    }
}

/// The writer's own.
struct Desk {
    path: PathBuf,
    /// None after a failure: what is wrong with a file may be mended by opening it once more.
    connection: Option<Connection>,
}

impl Desk {
    fn work(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut jobs = vec![first];
            while jobs.len() < TOGETHER
                && let Ok(job) = queue.try_recv()
            {
                jobs.push(job);
            }
            metrics::histogram!(COMMIT_WRITES).record(f64::from(u32::try_from(jobs.len()).unwrap_or(u32::MAX)));
            self.carry_out(jobs);
        }
    }

    fn carry_out(&mut self, jobs: Vec<Job>) {
        // A bug costs the writes at hand, not all that come after them; the panic itself is told by its hook.
        let committed = catch_unwind(AssertUnwindSafe(|| self.commit(&jobs)));
        let panicked = |_| Err(Failure::Write(AppendError::Unavailable("a bug".to_owned())));
        match committed.unwrap_or_else(panicked) {
            Ok(outcomes) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    // Nobody may wait for it any more.
                    let _ = job.done.send(outcome);
                }
            }
            // One of them can have spoilt it for the others.
            Err(Failure::Write(_)) if jobs.len() > 1 => jobs.into_iter().for_each(|job| self.carry_out(vec![job])),
            Err(Failure::Closed(error) | Failure::Write(error) | Failure::Unknown(error)) => {
                for job in jobs {
                    let _ = job.done.send(Err(error.clone()));
                }
            }
        }
    }

    /// Carries out all of it, or nothing.
    fn commit(&mut self, jobs: &[Job]) -> Result<Vec<Result<(), AppendError>>, Failure> {
        let closed = |error: rusqlite::Error| Failure::Closed(error.into());
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => schema::reopen(&self.path).map_err(closed)?,
        };
        // Everything is on the disk when a commit returns, so there is no other moment to begin one than now.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(closed)?;
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            outcomes.push(match (job.write)(&transaction) {
                // Found before anything was written.
                Err(conflict @ AppendError::Conflict(_)) => Err(conflict),
                outcome => Ok(outcome.map_err(Failure::Write)?),
            });
            if transaction.is_autocommit() {
                // Some errors end a transaction by themselves, and what follows would be written without one.
                return Err(Failure::Write(AppendError::Unavailable("the transaction was rolled back".to_owned())));
            }
        }
        transaction.commit().map_err(unfinished)?;
        self.connection = Some(connection);
        Ok(outcomes)
    }
}

/// Why a commit failed. Where the disk did, its last words may have got there.
fn unfinished(error: rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy) => Failure::Write(error.into()),
        _ => Failure::Unknown(AppendError::Unknown(error.to_string())),
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
