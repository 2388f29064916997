//! Threads that answer questions, beside the one that writes.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::schema;
use crate::store::journal::{Pending, Unavailable};

/// One for rooms that are waited for while another goes through the archive.
const THREADS: usize = 2;

/// Questions that may wait. Beyond it those who ask wait for a place.
const QUEUE: usize = 256;

/// Why a question has no answer.
pub(super) type ReadError = Box<dyn std::error::Error + Send + Sync>;

type Question = Box<dyn FnOnce(&Connection) + Send>;

pub(super) struct Readers {
    questions: Option<mpsc::Sender<Question>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(path: &Path) -> Result<Self, schema::OpenError> {
        let (questions, queue) = mpsc::channel::<Question>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let (connection, queue) = (schema::read(path)?, Arc::clone(&queue));
            let answer = move || {
                while let Some(question) = next(&queue) {
                    question(&connection);
                }
            };
            threads.push(std::thread::Builder::new().name(format!("store-reader-{number}")).spawn(answer)?);
        }
        Ok(Self { questions: Some(questions), threads })
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Pending<'_, Result<T, Unavailable>> {
        let (reply, answer) = oneshot::channel();
        let question: Question = Box::new(move |connection| {
            // Nobody may wait for it any more.
            let _ = reply.send(question(connection));
        });
        Box::pin(async move {
            let gone = || Unavailable("the reader has ended".to_owned());
            self.questions.as_ref().ok_or_else(gone)?.send(question).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?.map_err(|error| Unavailable(error.to_string()))
        })
    }
}

fn next(queue: &Mutex<mpsc::Receiver<Question>>) -> Option<Question> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.questions = None;
        for thread in self.threads.drain(..) {
            // A question that panicked has told so.
            let _ = thread.join();
        }
    }
}
