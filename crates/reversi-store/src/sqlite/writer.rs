//! The writer thread: the only one that writes to the file. It commits together all writes queued during the previous
//! commit (group commit).
//!
//! Without it each move would be a transaction that waits for the lock of the file and for the disk; here the moves of
//! a commit wait once for the disk. Before a commit the thread yields while that brings more writes ([`MAX_YIELDS`]),
//! which earns 0.67 of the ephemeral rate instead of 0.58 and 0.62 with sleeping (`benches/README.md`).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::JoinHandle,
};

use reversi_room::RoomId;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, ffi};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    damage::{self, DamagedRows, ReadError},
    done_requests, games,
    log::{
        LogEntry,
        write_behind::{Change, WriteBehind},
    },
    rooms,
    schema::{self, OpenedFile},
    wal,
};
use crate::journal::{AppendError, AppendFuture, COMMIT_WRITES, FaultHook, StoreError, StoreFuture};

/// Capacity of the queue. Beyond it callers wait, at the speed of the disk.
const QUEUE: usize = 4_096;

/// Maximum number of writes in one commit, which bounds the wait of its first.
const MAX_COMMIT: usize = 1_024;

/// Maximum yields before a commit, as long as each brings more writes: the cost hardly depends on their number. Earns
/// 0.67 of ephemeral; sleeping for more writes, 0.58. Free when no other thread has work.
const MAX_YIELDS: usize = 16;

/// An operation within a transaction.
enum Write {
    Append(LogEntry),
    Other(OtherWrite),
}

/// Fails the transaction, or returns the outcome of a write that has changed nothing unless it is `Ok`.
type OtherWrite = Box<dyn Fn(&Connection) -> rusqlite::Result<Result<(), AppendError>> + Send>;

/// A write and the receiver of its outcome.
struct QueuedWrite {
    write: Write,
    done: oneshot::Sender<Result<(), AppendError>>,
}

/// A read of the write-behind table, or of the error that makes it unavailable.
type PendingQuery = Box<dyn FnOnce(Result<&WriteBehind, StoreError>) + Send>;

enum WriterMessage {
    Write(QueuedWrite),
    Read(PendingQuery),
    /// Replaces a damaged room by what can be used of it. Answers what that means, or why it failed.
    Mend(RoomId, oneshot::Sender<Result<String, String>>),
}

/// A handle of the writer thread, which completes all queued writes and ends when it is dropped.
pub(super) struct Writer {
    requests: Option<mpsc::Sender<WriterMessage>>,
    thread: Option<JoinHandle<()>>,
    fault: FaultHook,
}

impl Writer {
    pub(super) fn start(
        path: &Path,
        OpenedFile { connection, unwritable, is_source, marks }: OpenedFile,
        fault: FaultHook,
        log_limit: usize,
        damaged: Arc<DamagedRows>,
    ) -> std::io::Result<Self> {
        let (requests, queue) = mpsc::channel(QUEUE);
        let write_behind = WriteBehind::read(&connection, log_limit, &damaged).map_err(std::io::Error::other)?;
        let mut writer = WriterThread {
            path: path.to_owned(),
            connection: None,
            is_source,
            write_behind,
            in_sync: true,
            mark_is_due: Arc::default(),
            marks,
            damaged,
        };
        if unwritable.is_none() && !is_source {
            writer.connection = Some(writer.marking(connection).map_err(std::io::Error::other)?);
        }
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || writer.run(queue))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), fault })
    }

    /// Queues an append, at once unless the queue is full.
    pub(super) fn append(&self, entry: LogEntry) -> AppendFuture<'_> {
        let fault = (self.fault)(entry.room, entry.expected);
        if let Some(error) = fault.as_ref().filter(|error| !matches!(error, AppendError::Unknown(_))) {
            return Err(error.clone()).into();
        }
        let written = self.submit(Write::Append(entry));
        match fault {
            None => written,
            // It is written despite its unknown outcome: the harder case for the caller.
            Some(unknown) => AppendFuture::Slow(Box::pin(async move { written.await.and(Err(unknown)) })),
        }
    }

    pub(super) fn write(
        &self,
        write: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let done = self.append_by(move |connection| write(connection).map(Ok)).await;
            done.map_err(|error| match error {
                AppendError::Damaged(reason) => StoreError::Damaged(reason),
                error => StoreError::Unavailable(error.to_string()),
            })
        })
    }

    /// Queues a write that may refuse itself, as an append does; at once unless the queue is full.
    pub(super) fn append_by(
        &self,
        write: impl Fn(&Connection) -> rusqlite::Result<Result<(), AppendError>> + Send + 'static,
    ) -> AppendFuture<'_> {
        self.submit(Write::Other(Box::new(write)))
    }

    /// Reads the write-behind table, after all writes queued before. Does not access the file.
    pub(super) async fn read_pending<T: Send + 'static>(
        &self,
        query: impl FnOnce(&WriteBehind) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let query: PendingQuery = Box::new(move |write_behind| {
            // The caller may have stopped waiting.
            let _ = reply.send(write_behind.map(query));
        });
        let gone = || StoreError::Unavailable("the writer has ended".to_owned());
        self.requests.as_ref().ok_or_else(gone)?.send(WriterMessage::Read(query)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Replaces a damaged room, which nothing may be writing to, by what can be used of it. Returns what that means.
    pub(super) async fn mend(&self, room: RoomId) -> Result<String, String> {
        let (reply, answer) = oneshot::channel();
        let gone = || "the writer has ended".to_owned();
        self.requests.as_ref().ok_or_else(gone)?.send(WriterMessage::Mend(room, reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn submit(&self, write: Write) -> AppendFuture<'_> {
        let gone = || AppendError::Unavailable("the writer has ended".to_owned());
        let Some(requests) = &self.requests else { return Err(gone()).into() };
        let (done, outcome) = oneshot::channel();
        let outcome = AppendFuture::Queued(outcome);
        match requests.try_send(WriterMessage::Write(QueuedWrite { write, done })) {
            Ok(()) => outcome,
            Err(TrySendError::Full(request)) => AppendFuture::Slow(Box::pin(async move {
                requests.send(request).await.map_err(|_| gone())?;
                outcome.await
            })),
            Err(TrySendError::Closed(_)) => Err(gone()).into(),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has logged a panic.
            let _ = thread.join();
        }
    }
}

/// Why a commit failed.
enum Failure {
    /// One of the writes failed, or all of them together; nothing was written.
    Write(AppendError),
    /// The file cannot be written, or may contain the commit: nothing is retried.
    Final(AppendError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Write(error.into())
    }
}

/// The state of the thread.
struct WriterThread {
    path: PathBuf,
    /// None after a failure; opening the file again may help.
    connection: Option<Connection>,
    /// True if the file must not be changed.
    is_source: bool,
    write_behind: WriteBehind,
    /// True if the table agrees with the file. After a commit of unknown outcome the table is read again.
    in_sync: bool,
    /// True if the next commit has to renew the mark of the write-ahead log.
    mark_is_due: Arc<AtomicBool>,
    /// True if the mark can be renewed.
    marks: bool,
    damaged: Arc<DamagedRows>,
}

impl WriterThread {
    fn run(mut self, mut queue: mpsc::Receiver<WriterMessage>) {
        while let Some(first) = queue.blocking_recv() {
            let mut writes = Vec::new();
            self.handle(first, &mut writes);
            for _ in 0..MAX_YIELDS {
                std::thread::yield_now();
                if self.gather(&mut queue, &mut writes) == 0 {
                    break;
                }
            }
            if !writes.is_empty() {
                metrics::histogram!(COMMIT_WRITES).record(f64::from(u32::try_from(writes.len()).unwrap_or(u32::MAX)));
                self.execute(writes);
            }
        }
        self.finish();
    }

    /// Takes queued requests, up to the bound of a commit. Returns the number of writes.
    fn gather(&mut self, queue: &mut mpsc::Receiver<WriterMessage>, writes: &mut Vec<QueuedWrite>) -> usize {
        let before = writes.len();
        while writes.len() < MAX_COMMIT
            && let Ok(request) = queue.try_recv()
        {
            self.handle(request, writes);
        }
        writes.len() - before
    }

    fn handle(&mut self, request: WriterMessage, writes: &mut Vec<QueuedWrite>) {
        match request {
            WriterMessage::Write(write) => writes.push(write),
            // The writes before it are not committed, and not answered.
            WriterMessage::Read(query) => self.answer(query),
            WriterMessage::Mend(room, reply) => {
                // A panic fails this room, not all later writes. The panic hook logs it.
                let mended = catch_unwind(AssertUnwindSafe(|| self.mend(room).map_err(|error| error.to_string())));
                let _ = reply.send(mended.unwrap_or_else(|_| Err("a bug".to_owned())));
            }
        }
    }

    /// Replaces a damaged room. Flushes the log first, so that it has no events of the room.
    fn mend(&mut self, room: RoomId) -> Result<String, ReadError> {
        let mut connection = self.open()?;
        self.in_sync = false;
        WriteBehind::read(&connection, self.write_behind.limit, &self.damaged)?.flush_all(&mut connection)?;
        let transaction = connection.transaction()?;
        let mended = rooms::mend(&transaction, room)?;
        transaction.commit()?;
        self.connection = Some(connection);
        Ok(mended)
    }

    fn answer(&mut self, query: PendingQuery) {
        let mut known = Ok(());
        if !self.in_sync {
            known = self.open().map(|connection| self.connection = Some(connection));
        }
        query(known.map(|()| &self.write_behind).map_err(|error| StoreError::Unavailable(error.to_string())));
    }

    /// Flushes the log. What fails is flushed when the file is next opened.
    fn finish(mut self) {
        if self.is_source {
            return;
        }
        let flushed = self.open().and_then(|mut connection| self.write_behind.flush_all(&mut connection));
        if let Err(error) = flushed {
            tracing::warn!(%error, "the log could not be flushed into the tables");
        }
    }

    /// Opens the file and reads the log again, if necessary.
    fn open(&mut self) -> rusqlite::Result<Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None if self.is_source => return Err(read_only()),
            None => {
                let connection = schema::reopen(&self.path)?;
                self.marking(connection)?
            }
        };
        if !self.in_sync {
            // The log may still end with the failed commit, and a crash would bring it back. A commit of the mark
            // overwrites it. If that fails too, the next commit does.
            let _ = wal::mark::renew(&connection);
            self.write_behind = WriteBehind::read(&connection, self.write_behind.limit, &self.damaged)?;
            self.in_sync = true;
        }
        Ok(connection)
    }

    /// Makes the connection set `mark_is_due`, now and after each complete checkpoint.
    fn marking(&self, mut connection: Connection) -> rusqlite::Result<Connection> {
        self.mark_is_due.store(self.marks, Relaxed);
        wal::mark::note_checkpoints(&mut connection, &self.mark_is_due)?;
        Ok(connection)
    }

    /// Executes writes and sends their outcomes.
    fn execute(&mut self, mut writes: Vec<QueuedWrite>) {
        // A panic fails the current writes, not all later ones. The panic hook logs it.
        let committed = catch_unwind(AssertUnwindSafe(|| self.commit(&writes)));
        let panicked = |_| match self.in_sync {
            true => Err(Failure::Write(AppendError::Unavailable("a bug".to_owned()))),
            false => Err(Failure::Final(AppendError::Unknown("a bug".to_owned()))),
        };
        match committed.unwrap_or_else(panicked) {
            Ok(outcomes) => {
                for (write, outcome) in writes.into_iter().zip(outcomes) {
                    // The caller may have stopped waiting.
                    let _ = write.done.send(outcome);
                }
            }
            Err(Failure::Write(error)) => {
                let flushed = self.write_behind.postpone_flush();
                if flushed {
                    // No write fails because of a flush.
                    self.execute(writes);
                } else if writes.len() > 1 {
                    // One of them may have failed the others.
                    writes.into_iter().for_each(|write| self.execute(vec![write]));
                } else if writes.iter_mut().any(|write| self.leave_out_archive(&mut write.write, &error)) {
                    self.execute(writes);
                } else {
                    refuse(writes, &error);
                }
            }
            Err(Failure::Final(error)) => refuse(writes, &error),
        }
    }

    /// Leaves the results of ended games out of a write that damage made impossible, and at the next call the games: a
    /// game must end even if the archive is damaged. Returns true if there was something to leave out.
    ///
    /// SQLite commits no transaction that has met damage, so the write is repeated.
    fn leave_out_archive(&self, write: &mut Write, error: &AppendError) -> bool {
        let (Write::Append(entry), AppendError::Damaged(reason)) = (write, error) else { return false };
        let (table, meaning) = match entry.counts {
            true => ("standings", "the results of a game that has ended are not counted"),
            false => ("games", "a game that has ended is not stored"),
        };
        for game in &entry.games {
            self.damaged.note(table, &game.record.id.to_string(), reason, meaning);
        }
        let is_less = !entry.games.is_empty();
        if !entry.counts {
            entry.games.clear();
        }
        entry.counts = false;
        is_less
    }

    /// Commits all of the writes, or nothing.
    fn commit(&mut self, writes: &[QueuedWrite]) -> Result<Vec<Result<(), AppendError>>, Failure> {
        let closed = |error: rusqlite::Error| Failure::Final(error.into());
        let mut connection = self.open().map_err(closed)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(closed)?;
        if self.mark_is_due.swap(false, Relaxed)
            && let Err(error) = wal::mark::renew(&transaction)
        {
            let failure = self.write_failure(&error);
            if !matches!(failure, AppendError::Damaged(_)) {
                return Err(Failure::Write(failure));
            }
            tracing::error!(%error, "the log is not marked any more: a log of another file may not be recognised");
            drop(transaction);
            self.marks = false;
            return self.commit(writes);
        }
        let mut change = self.write_behind.begin_commit(&transaction, writes.len())?;
        let mut outcomes = Vec::with_capacity(writes.len());
        for write in writes {
            let outcome = match &write.write {
                Write::Append(entry) => self.append(&transaction, entry, &mut change),
                Write::Other(write) => write(&transaction),
            };
            outcomes.push(outcome.map_err(|error| Failure::Write(self.write_failure(&error)))?);
            if transaction.is_autocommit() {
                // Some errors end the transaction; later writes would be outside of it.
                return Err(Failure::Write(AppendError::Unavailable("the transaction was rolled back".to_owned())));
            }
        }
        self.write_behind.write(&transaction, &mut change)?;
        self.in_sync = false;
        if let Err(error) = transaction.commit() {
            self.damaged.note_malformed_file(&error);
            let failure = commit_failure(error);
            self.in_sync = matches!(failure, Failure::Write(_));
            return Err(failure);
        }
        self.write_behind.apply(change, written(writes, &outcomes));
        self.in_sync = true;
        self.connection = Some(connection);
        Ok(outcomes)
    }

    /// Classifies the error of a single write. Damage found here affects only this write; damage found by a commit, as
    /// in the log, affects all writes.
    fn write_failure(&self, error: &rusqlite::Error) -> AppendError {
        self.damaged.note_malformed_file(error);
        match damage::is_damage_of_file(error) {
            true => AppendError::Damaged(error.to_string()),
            false => AppendError::Unavailable(error.to_string()),
        }
    }

    /// Executes an append. A conflict or a repeated request writes nothing.
    fn append(
        &self,
        connection: &Connection,
        entry: &LogEntry,
        change: &mut Change,
    ) -> rusqlite::Result<Result<(), AppendError>> {
        let at = self.write_behind.last(connection, change, entry.room)?;
        if at != entry.expected {
            return Ok(Err(AppendError::Conflict(at)));
        }
        if let Some((request, done)) = entry.request.as_deref() {
            if done_requests::get(connection, request.key, done.at)?.is_some() {
                return Ok(Err(AppendError::Repeated));
            }
            done_requests::insert(connection, request.key, done)?;
        }
        for game in &entry.games {
            games::keep(connection, game, entry.counts)?;
        }
        if entry.closes() {
            rooms::remove(connection, entry.room)?;
        }
        change.add(entry);
        Ok(Ok(()))
    }
}

fn refuse(writes: Vec<QueuedWrite>, error: &AppendError) {
    for write in writes {
        let _ = write.done.send(Err(error.clone()));
    }
}

/// The appends of a commit that were written.
fn written<'a>(
    writes: &'a [QueuedWrite],
    outcomes: &'a [Result<(), AppendError>],
) -> impl Iterator<Item = &'a LogEntry> {
    writes.iter().zip(outcomes).filter_map(|(write, outcome)| match &write.write {
        Write::Append(entry) if outcome.is_ok() => Some(entry),
        _ => None,
    })
}

/// Classifies the error of a commit. After a disk error its data may have been written.
fn commit_failure(error: rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        // A transaction that has met damage, in a flush of the log, is rolled back.
        Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseCorrupt) => {
            Failure::Write(error.into())
        }
        _ => Failure::Final(AppendError::Unknown(error.to_string())),
    }
}

/// The error of a write to a file that must not be changed.
fn read_only() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None)
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
    async fn a_write_waits_while_the_queue_is_full() {
        let path = Path::new(":memory:");
        let connection = schema::create(path).unwrap();
        let writer = Writer::start(path, connection, Box::new(|_, _| None), 1 << 20, Arc::default()).unwrap();
        let (open, gate) = sync_channel::<()>(1);
        // Sends nothing: waits until the other end is dropped.
        let closed = move |_: &Connection| {
            let _ = gate.recv();
            Ok(Ok(()))
        };
        let mut written = vec![writer.append_by(closed)];
        let waits = |written: &[AppendFuture<'_>]| matches!(written.last(), Some(AppendFuture::Slow(_)));
        while !waits(&written) && written.len() <= QUEUE + MAX_COMMIT {
            written.push(writer.append_by(|_| Ok(Ok(()))));
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
