//! Threads that answer questions, beside the one that writes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::schema;
use crate::store::journal::{BoxFuture, Unavailable};

/// Questions that may wait. Beyond it those who ask wait for a place.
const QUEUE: usize = 256;

/// Why a question has no answer.
pub(super) type ReadError = Box<dyn std::error::Error + Send + Sync>;

type Question = Box<dyn FnOnce(&Connection) + Send>;

/// One thread that reads.
pub(super) struct Reader {
    questions: Option<mpsc::Sender<Question>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    pub(super) fn start(path: &Path, name: &str) -> Result<Self, schema::OpenError> {
        let (questions, mut queue) = mpsc::channel::<Question>(QUEUE);
        let connection = schema::read(path)?;
        let answer = move || {
            while let Some(question) = queue.blocking_recv() {
                // A bug costs one answer, not all that come after it; the panic itself is told by its hook.
                let _ = catch_unwind(AssertUnwindSafe(|| question(&connection)));
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(answer)?;
        Ok(Self { questions: Some(questions), thread: Some(thread) })
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, Unavailable>> {
        let (reply, answer) = oneshot::channel();
        let question: Question = Box::new(move |connection| {
            // What it reads is of one moment, between two commits.
            let answer =
                connection.unchecked_transaction().map_err(Into::into).and_then(|_moment| question(connection));
            // Nobody may wait for it any more.
            let _ = reply.send(answer);
        });
        Box::pin(async move {
            let gone = || Unavailable("the reader gave no answer".to_owned());
            self.questions.as_ref().ok_or_else(gone)?.send(question).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?.map_err(|error| Unavailable(error.to_string()))
        })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}
