//! The one thread that writes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    backlog::{Backlog, Change},
    games,
    log::Entry,
    rooms, schema,
};
use crate::store::journal::{AppendError, AppendFuture, BoxFuture, FaultHook, Unavailable};

/// Writes that may wait. Beyond it those who write wait for a place: they are then slowed down to what the disk can do.
const QUEUE: usize = 4_096;

/// The most writes of one commit, so that the first of them is not held up for long by the others.
const TOGETHER: usize = 1_024;

/// How often a commit lets others that can run on its processor go first, while that brings it more: each commit costs
/// the disk and the processors as much, whatever is in it. Where nothing else can run, it begins at once.
const TURNS: usize = 16;

/// The metric of how many writes one commit makes durable.
pub const COMMIT_WRITES: &str = "reversi_journal_commit_writes";

/// A write, as it is carried out within a transaction.
enum Write {
    /// To a room.
    Append(Entry),
    /// To anything else.
    Other(Other),
}

type Other = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

/// A write, and who waits for it.
struct Task {
    write: Write,
    done: oneshot::Sender<Result<(), AppendError>>,
}

/// A question about what is not in the tables yet, or what keeps it from being known.
type Question = Box<dyn FnOnce(Result<&Backlog, Unavailable>) + Send>;

enum Job {
    Write(Task),
    Look(Question),
}

pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    fault: FaultHook,
}

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, fault: FaultHook, log: usize) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let backlog = Backlog::read(&connection, log).map_err(std::io::Error::other)?;
        let desk = Desk { path: path.to_owned(), connection: Some(connection), backlog, certain: true };
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || desk.work(queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), fault })
    }

    /// Writes to a room. The write is on its way already where the writer has a place for it.
    pub(super) fn append(&self, entry: Entry) -> AppendFuture<'_> {
        let fault = (self.fault)(entry.room, entry.expected);
        if let Some(error @ (AppendError::Unavailable(_) | AppendError::Conflict(_))) = fault {
            return Err(error).into();
        }
        let written = self.submit(Write::Append(entry));
        match fault {
            None => written,
            // A write whose outcome nobody hears of has happened here: the harder case for the caller.
            Some(unknown) => AppendFuture::Slow(Box::pin(async move { written.await.and(Err(unknown)) })),
        }
    }

    /// Writes something for which nothing is expected.
    pub(super) fn write(
        &self,
        write: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            let done = self.submit(Write::Other(Box::new(write))).await;
            done.map_err(|error| Unavailable(error.to_string()))
        })
    }

    /// Asks for something that is not in the tables yet, after all that was written. It costs no access to the file.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Backlog) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (reply, answer) = oneshot::channel();
        let question: Question = Box::new(move |backlog| {
            // Nobody may wait for it any more.
            let _ = reply.send(backlog.map(question));
        });
        let gone = || Unavailable("the writer has ended".to_owned());
        self.jobs.as_ref().ok_or_else(gone)?.send(Job::Look(question)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn submit(&self, write: Write) -> AppendFuture<'_> {
        let gone = || AppendError::Unavailable("the writer has ended".to_owned());
        let Some(jobs) = &self.jobs else { return Err(gone()).into() };
        let (done, outcome) = oneshot::channel();
        let outcome = AppendFuture::Queued(outcome);
        match jobs.try_send(Job::Write(Task { write, done })) {
            Ok(()) => outcome,
            Err(TrySendError::Full(job)) => AppendFuture::Slow(Box::pin(async move {
                jobs.send(job).await.map_err(|_| gone())?;
                outcome.await
            })),
            Err(TrySendError::Closed(_)) => Err(gone()).into(),
        }
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
    backlog: Backlog,
    /// Whether that is what the file holds. It is read again where a commit's outcome is unknown.
    certain: bool,
}

impl Desk {
    fn work(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut tasks = Vec::new();
            self.take(first, &mut tasks);
            for _ in 0..TURNS {
                std::thread::yield_now();
                if self.gather(&mut queue, &mut tasks) == 0 {
                    break;
                }
            }
            if !tasks.is_empty() {
                metrics::histogram!(COMMIT_WRITES).record(f64::from(u32::try_from(tasks.len()).unwrap_or(u32::MAX)));
                self.carry_out(tasks);
            }
        }
        self.end();
    }

    /// Takes all that waits, as far as it goes into one commit: how many writes.
    fn gather(&mut self, queue: &mut mpsc::Receiver<Job>, tasks: &mut Vec<Task>) -> usize {
        let before = tasks.len();
        while tasks.len() < TOGETHER
            && let Ok(job) = queue.try_recv()
        {
            self.take(job, tasks);
        }
        tasks.len() - before
    }

    fn take(&mut self, job: Job, tasks: &mut Vec<Task>) {
        match job {
            Job::Write(task) => tasks.push(task),
            // What comes before it in the queue is not true yet, and nobody says that it is.
            Job::Look(question) => self.answer(question),
        }
    }

    fn answer(&mut self, question: Question) {
        let known = self.know().map(|connection| self.connection = Some(connection));
        let known = known.map_err(|error| Unavailable(error.to_string()));
        question(known.map(|()| &self.backlog));
    }

    /// Leaves the log empty. What cannot be moved now is when the file is opened again.
    fn end(mut self) {
        let settled = self.know().and_then(|mut connection| self.backlog.settle(&mut connection));
        if let Err(error) = settled {
            tracing::warn!(%error, "the log could not be moved into the tables, and is left as it is");
        }
    }

    /// A connection to the file, with a backlog that is true.
    fn know(&mut self) -> rusqlite::Result<Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => schema::reopen(&self.path)?,
        };
        if !self.certain {
            self.backlog = Backlog::read(&connection, self.backlog.most)?;
            self.certain = true;
        }
        Ok(connection)
    }

    /// Carries writes out, and tells those who wait for them.
    fn carry_out(&mut self, tasks: Vec<Task>) {
        // A bug costs the writes at hand, not all that come after them; the panic itself is told by its hook.
        let committed = catch_unwind(AssertUnwindSafe(|| self.commit(&tasks)));
        let panicked = |_| match self.certain {
            true => Err(Failure::Write(AppendError::Unavailable("a bug".to_owned()))),
            false => Err(Failure::Unknown(AppendError::Unknown("a bug".to_owned()))),
        };
        match committed.unwrap_or_else(panicked) {
            Ok(outcomes) => {
                for (task, outcome) in tasks.into_iter().zip(outcomes) {
                    // Nobody may wait for it any more.
                    let _ = task.done.send(outcome);
                }
            }
            Err(Failure::Write(error)) => {
                let moved = self.backlog.pause();
                if moved {
                    // No write fails for what is moved besides.
                    self.carry_out(tasks);
                } else if tasks.len() > 1 {
                    // One of them can have spoilt it for the others.
                    tasks.into_iter().for_each(|task| self.carry_out(vec![task]));
                } else {
                    refuse(tasks, &error);
                }
            }
            Err(Failure::Closed(error) | Failure::Unknown(error)) => refuse(tasks, &error),
        }
    }

    /// Carries out all of it, or nothing.
    fn commit(&mut self, tasks: &[Task]) -> Result<Vec<Result<(), AppendError>>, Failure> {
        let closed = |error: rusqlite::Error| Failure::Closed(error.into());
        let mut connection = self.know().map_err(closed)?;
        // Everything is on the disk when a commit returns, so there is no other moment to begin one than now.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(closed)?;
        let mut change = self.backlog.begin(&transaction, tasks.len())?;
        let mut outcomes = Vec::with_capacity(tasks.len());
        for task in tasks {
            let outcome = match &task.write {
                Write::Append(entry) => self.append(&transaction, entry, &mut change),
                Write::Other(write) => write(&transaction).map_err(AppendError::from),
            };
            outcomes.push(match outcome {
                // Found before anything was written.
                Err(conflict @ AppendError::Conflict(_)) => Err(conflict),
                outcome => Ok(outcome.map_err(Failure::Write)?),
            });
            if transaction.is_autocommit() {
                // Some errors end a transaction by themselves, and what follows would be written without one.
                return Err(Failure::Write(AppendError::Unavailable("the transaction was rolled back".to_owned())));
            }
        }
        self.backlog.write(&transaction, &mut change)?;
        self.certain = false;
        if let Err(error) = transaction.commit() {
            let failure = unfinished(error);
            self.certain = !matches!(failure, Failure::Unknown(_));
            return Err(failure);
        }
        self.backlog.apply(change, written(tasks, &outcomes));
        self.certain = true;
        self.connection = Some(connection);
        Ok(outcomes)
    }

    fn append(&self, connection: &Connection, entry: &Entry, change: &mut Change) -> Result<(), AppendError> {
        let at = self.backlog.last(connection, change, entry.room)?;
        if at != entry.expected {
            return Err(AppendError::Conflict(at));
        }
        for game in &entry.games {
            games::keep(connection, game)?;
        }
        if entry.closes() {
            rooms::remove(connection, entry.room)?;
        }
        change.add(entry);
        Ok(())
    }
}

fn refuse(tasks: Vec<Task>, error: &AppendError) {
    for task in tasks {
        let _ = task.done.send(Err(error.clone()));
    }
}

/// The appends of a commit that are true now.
fn written<'a>(tasks: &'a [Task], outcomes: &'a [Result<(), AppendError>]) -> impl Iterator<Item = &'a Entry> {
    tasks.iter().zip(outcomes).filter_map(|(task, outcome)| match &task.write {
        Write::Append(entry) if outcome.is_ok() => Some(entry),
        _ => None,
    })
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

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, sync::mpsc::sync_channel, task::Poll};

    use super::*;

    #[tokio::test]
    async fn who_finds_the_queue_full_waits_for_a_place() {
        let path = Path::new(":memory:");
        let connection = schema::create(path).unwrap();
        let writer = Writer::start(path, connection, Box::new(|_, _| None), 1 << 20).unwrap();
        let (open, gate) = sync_channel::<()>(1);
        // Nothing is ever sent: it waits until the other end is gone.
        let closed = move |_: &Connection| {
            let _ = gate.recv();
            Ok(())
        };
        let mut written = vec![writer.submit(Write::Other(Box::new(closed)))];
        let waits = |written: &[AppendFuture<'_>]| matches!(written.last(), Some(AppendFuture::Slow(_)));
        while !waits(&written) && written.len() <= QUEUE + TOGETHER {
            written.push(writer.submit(Write::Other(Box::new(|_| Ok(())))));
        }
        assert!(waits(&written) && written.len() > QUEUE);
        let mut last = pin!(written.pop().unwrap());
        assert!(poll_fn(|context| Poll::Ready(last.as_mut().poll(context).is_pending())).await);
        drop(open);
        assert_eq!(last.await, Ok(()));
        for outcome in written {
            assert_eq!(outcome.await, Ok(()));
        }
    }
}
