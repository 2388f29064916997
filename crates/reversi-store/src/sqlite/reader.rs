//! Reader threads, each with its own connection.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    damage::{self, DamagedRows, ReadError},
    error::OpenError,
    schema::ReadConnection,
};
use crate::journal::{StoreError, StoreFuture};

/// Capacity of the queue. Beyond it callers wait.
const QUEUE: usize = 256;

/// Answers a query from an open file, and returns the file if it may stay open.
type Query = Box<dyn FnOnce(rusqlite::Result<ReadConnection>) -> Option<ReadConnection> + Send>;

/// A handle of a reader thread, which ends when it is dropped.
pub(super) struct Reader {
    queries: Option<mpsc::Sender<Query>>,
    thread: Option<JoinHandle<()>>,
    damaged: Arc<DamagedRows>,
}

/// Opens a file to read.
pub(super) type Open = fn(&Path) -> rusqlite::Result<ReadConnection>;

impl Reader {
    pub(super) fn start(path: &Path, name: &str, open: Open, damaged: Arc<DamagedRows>) -> Result<Self, OpenError> {
        let (queries, mut queue) = mpsc::channel::<Query>(QUEUE);
        let path = path.to_owned();
        // None if the file may not stay open: then each query opens it.
        let mut kept = Some(open(&path)?).filter(|file| file.is_live);
        let answer = move || {
            while let Some(query) = queue.blocking_recv() {
                let file = kept.take().map_or_else(|| open(&path), Ok);
                // A panic fails one query, not all later ones. The panic hook logs it.
                kept = catch_unwind(AssertUnwindSafe(|| query(file))).ok().flatten();
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(answer)?;
        Ok(Self { queries: Some(queries), thread: Some(thread), damaged })
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let (reply, answer) = oneshot::channel();
        let damaged = Arc::clone(&self.damaged);
        let query: Query = Box::new(move |file| {
            let (file, answer) = match file {
                Err(error) => (None, Err(error.into())),
                Ok(file) => {
                    // A transaction, so that it reads a single state.
                    let moment = file.connection.unchecked_transaction().map_err(ReadError::from);
                    let answer = moment.and_then(|_moment| query(&file.connection));
                    (Some(file).filter(|file| file.is_live), answer)
                }
            };
            // The caller may have stopped waiting.
            let _ = reply.send(answer.inspect_err(|error| damaged.note_malformed(error)));
            file
        });
        Box::pin(async move {
            let gone = || StoreError::Unavailable("the reader gave no answer".to_owned());
            self.queries.as_ref().ok_or_else(gone)?.send(query).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?.map_err(store_error)
        })
    }
}

fn store_error(error: ReadError) -> StoreError {
    let message = error.to_string();
    if damage::is_damage(&error) { StoreError::Damaged(message) } else { StoreError::Unavailable(message) }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.queries = None;
        if let Some(thread) = self.thread.take() {
            // Panics are caught.
            let _ = thread.join();
        }
    }
}
