//! A connection besides the writer's, opened again when it is lost: for queries, or for transactions on the archive.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    sync::Mutex,
    time::{Instant, timeout, timeout_at},
};
use tokio_postgres::Error;

use super::{
    cluster::access::Access,
    error::{describe, is_refusal},
    session::{Config, Session},
};
use crate::{
    damage::ReadError,
    journal::{StoreError, StoreFuture},
};

/// The interval of tries to connect again.
const RETRY: Duration = Duration::from_millis(100);

/// The row is locked until the transaction ends: one node at a time changes the archive. It gives up after a second,
/// and the database ends a transaction whose client is silent for as long.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL idle_in_transaction_session_timeout = '1s'; \
    SELECT FROM archive FOR UPDATE";

pub(super) struct LastingSession {
    config: Config,
    pub(super) patience: Duration,
    /// The runtime that drives the connection.
    runtime: Handle,
    access: Arc<Access>,
    session: Mutex<Option<Arc<Session>>>,
}

impl LastingSession {
    pub(super) fn new(config: Config, patience: Duration, runtime: Handle, access: Arc<Access>) -> Self {
        Self { config, patience, runtime, access, session: Mutex::default() }
    }

    /// Executes a query, and connects first if necessary. A query without an answer within the patience fails.
    pub(super) fn ask<'a, T, F>(&'a self, question: impl FnOnce(Arc<Session>) -> F + Send + 'a) -> StoreFuture<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, ReadError>> + Send,
    {
        Box::pin(async move {
            let end = Instant::now() + self.patience;
            let session = {
                let mut place = self.session.lock().await;
                let known = place.take();
                Arc::clone(place.insert(self.open(known, end).await?))
            };
            match timeout_at(end, question(session)).await {
                Ok(answer) => answer.map_err(store_error),
                Err(_) => {
                    *self.session.lock().await = None;
                    Err(no_answer())
                }
            }
        })
    }

    /// Connects in a task of its own, unless a question does so, so that the caller does not wait for a database far
    /// away.
    pub(super) fn connect_soon(this: &Arc<Self>) {
        if this.session.try_lock().is_err() {
            return;
        }
        let place = Arc::clone(this);
        this.runtime.spawn(async move {
            // The next question connects again, and returns the error if that fails.
            let _ = place.ask(|session| async move { Ok(session.batch("").await?) }).await;
        });
    }

    /// Executes a transaction that changes the archive, after those before, unless these take longer than `turn`. If
    /// its connection is lost, it is executed again, so it must change nothing twice.
    pub(super) fn transact<'a, T, F>(
        &'a self,
        turn: Duration,
        work: impl Fn(Arc<Session>) -> F + Send + Sync + 'a,
    ) -> StoreFuture<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, Error>> + Send,
    {
        Box::pin(async move {
            let busy = |_| StoreError::Unavailable("other changes of the archive take long".to_owned());
            let mut place = timeout(turn, self.session.lock()).await.map_err(busy)?;
            let end = Instant::now() + self.patience;
            loop {
                // Taken out: a transaction that fails or is given up ends with its connection.
                let session = self.open(place.take(), end).await?;
                let transaction = async {
                    session.batch(BEGIN).await?;
                    let done = work(Arc::clone(&session)).await?;
                    session.batch("COMMIT").await.map(|()| done)
                };
                match timeout_at(end, transaction).await {
                    Ok(Ok(done)) => {
                        *place = Some(session);
                        return Ok(done);
                    }
                    Ok(Err(error)) if is_refusal(&error) || Instant::now() + RETRY >= end => {
                        return Err(StoreError::Unavailable(describe(&error)));
                    }
                    Ok(Err(_)) => tokio::time::sleep(RETRY).await,
                    Err(_) => return Err(no_answer()),
                }
            }
        })
    }

    /// The session if it is open, or else a new one.
    async fn open(&self, known: Option<Arc<Session>>, end: Instant) -> Result<Arc<Session>, StoreError> {
        if let Some(open) = known.filter(|open| !open.is_closed()) {
            return Ok(open);
        }
        Access::set(&self.access.is_reader_away, true);
        loop {
            let config = self.config.clone();
            let opened = self.runtime.spawn(async move { Session::open(&config).await });
            let error = match timeout_at(end, opened).await {
                Ok(Ok(Ok(open))) => {
                    Access::set(&self.access.is_reader_away, false);
                    return Ok(Arc::new(open));
                }
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(ended)) => ended.to_string(),
                Err(_) => "the database gives no answer".to_owned(),
            };
            if Instant::now() + RETRY >= end {
                return Err(StoreError::Unavailable(error));
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

fn no_answer() -> StoreError {
    StoreError::Unavailable("the database gives no answer".to_owned())
}

fn store_error(error: ReadError) -> StoreError {
    match error.downcast_ref::<Error>() {
        Some(error) => StoreError::Unavailable(describe(error)),
        None => StoreError::Damaged(error.to_string()),
    }
}
