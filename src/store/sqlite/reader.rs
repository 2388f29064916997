//! Reader threads, each with its own connection.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    damage::{self, ReadError},
    schema,
};
use crate::store::journal::{StoreError, StoreFuture};

/// Capacity of the queue. Beyond it callers wait.
const QUEUE: usize = 256;

type Query = Box<dyn FnOnce(&Connection) + Send>;

/// A handle of a reader thread, which ends when it is dropped.
pub(super) struct Reader {
    queries: Option<mpsc::Sender<Query>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    pub(super) fn start(path: &Path, name: &str) -> Result<Self, schema::OpenError> {
        let (queries, mut queue) = mpsc::channel::<Query>(QUEUE);
        let (mut file, path) = (schema::read(path)?, path.to_owned());
        let answer = move || {
            while let Some(query) = queue.blocking_recv() {
                if !file.is_live
                    && let Ok(again) = schema::read(&path)
                {
                    file = again;
                }
                // A panic fails one query, not all later ones. The panic hook logs it.
                let _ = catch_unwind(AssertUnwindSafe(|| query(&file.connection)));
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(answer)?;
        Ok(Self { queries: Some(queries), thread: Some(thread) })
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let (reply, answer) = oneshot::channel();
        let query: Query = Box::new(move |connection| {
            // A transaction, so that it reads a single state.
            let answer = connection.unchecked_transaction().map_err(Into::into).and_then(|_moment| query(connection));
            // The caller may have stopped waiting.
            let _ = reply.send(answer);
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
