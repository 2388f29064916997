//! A connection that only reads, opened again when it is lost.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    sync::Mutex,
    time::{Instant, timeout_at},
};
use tokio_postgres::{Config, Error};

use super::{error::describe, session::Session};
use crate::{
    damage::ReadError,
    journal::{StoreError, StoreFuture},
};

/// The interval of tries to connect again.
const RETRY: Duration = Duration::from_millis(100);

pub(super) struct ReadSession {
    config: Config,
    patience: Duration,
    /// The runtime that drives the connection.
    runtime: Handle,
    session: Mutex<Option<Arc<Session>>>,
}

impl ReadSession {
    pub(super) fn new(config: Config, patience: Duration, runtime: Handle) -> Self {
        Self { config, patience, runtime, session: Mutex::default() }
    }

    /// Executes a query, and connects first if necessary. A query without an answer within the patience fails.
    pub(super) fn ask<'a, T, F>(&'a self, question: impl FnOnce(Arc<Session>) -> F + Send + 'a) -> StoreFuture<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, ReadError>> + Send,
    {
        Box::pin(async move {
            let end = Instant::now() + self.patience;
            let session = self.session(end).await?;
            match timeout_at(end, question(session)).await {
                Ok(answer) => answer.map_err(store_error),
                Err(_) => {
                    *self.session.lock().await = None;
                    Err(StoreError::Unavailable("the database gives no answer".to_owned()))
                }
            }
        })
    }

    async fn session(&self, end: Instant) -> Result<Arc<Session>, StoreError> {
        let mut session = self.session.lock().await;
        if let Some(open) = session.as_ref().filter(|open| !open.is_closed()) {
            return Ok(Arc::clone(open));
        }
        loop {
            let config = self.config.clone();
            let opened = self.runtime.spawn(async move { Session::open(&config).await });
            let error = match timeout_at(end, opened).await {
                Ok(Ok(Ok(open))) => return Ok(Arc::clone(session.insert(Arc::new(open)))),
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

fn store_error(error: ReadError) -> StoreError {
    match error.downcast_ref::<Error>() {
        Some(error) => StoreError::Unavailable(describe(error)),
        None => StoreError::Damaged(error.to_string()),
    }
}
