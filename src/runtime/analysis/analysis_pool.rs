//! The threads that search for analyses: few, and of the lowest priority, like those of AI seats.

use std::{pin::pin, sync::Arc, time::Duration};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio::{
    sync::{Semaphore, oneshot},
    time::sleep,
};
use tracing::Span;

use crate::{
    ai::engine::Engines,
    runtime::limit::{concurrency_limit::ConcurrencyLimit, limits::Limits},
    search::Stop,
};

/// Runs the searches of analyses on a bounded number of threads.
pub(crate) struct AnalysisPool {
    /// Analyses in progress.
    pub(crate) analyses: Arc<ConcurrencyLimit>,
    threads: Semaphore,
    engines: Arc<Engines>,
}

/// Why a search has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchError {
    /// The client has gone, or its streams end.
    Cancelled,
    /// The search panicked, or no thread could be started.
    Failed,
}

/// Stops a search when dropped, so that it does not outlive the task that waits for it.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl AnalysisPool {
    /// Each thread uses one of `engines`.
    pub(crate) fn new(limits: &Limits, engines: Arc<Engines>) -> Self {
        let threads = Semaphore::new(limits.analysis_threads.max(1));
        Self { analyses: Arc::new(ConcurrencyLimit::new(limits.analyses)), threads, engines }
    }

    /// Waits for a free thread, in order of arrival, and searches on it, at most for `time`. Fails with
    /// [`SearchError::Cancelled`] if `cancelled` completes first.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        time: Duration,
        cancelled: impl Future<Output = ()>,
        work: impl FnOnce(&Engines, &Stop) -> T + Send + 'static,
    ) -> Result<T, SearchError> {
        let mut cancelled = pin!(cancelled);
        let _turn = tokio::select! {
            biased;
            () = &mut cancelled => return Err(SearchError::Cancelled),
            turn = self.threads.acquire() => turn.map_err(|_| SearchError::Cancelled)?,
        };
        let (sender, mut answer) = oneshot::channel();
        let stop = Stop::new();
        let (flag, span, engines) = (StopOnDrop(stop.clone()), Span::current(), Arc::clone(&self.engines));
        let thread = std::thread::Builder::new().name("analysis".to_owned()).spawn(move || {
            let _caller = span.enter();
            if let Err(error) = set_current_thread_priority(ThreadPriority::Min) {
                tracing::warn!(%error, "analyses run at the same priority as the threads that serve players");
            }
            // The caller may have gone.
            let _ = sender.send(work(&engines, &stop));
        });
        if let Err(error) = thread {
            tracing::error!(%error, "a thread for an analysis could not be started");
            return Err(SearchError::Failed);
        }
        let found = tokio::select! {
            biased;
            found = &mut answer => found,
            () = sleep(time) => {
                drop(flag);
                answer.await
            }
            () = cancelled => {
                drop(flag);
                // The thread is not free before the search answers.
                let _ = answer.await;
                return Err(SearchError::Cancelled);
            }
        };
        found.map_err(|_| {
            tracing::error!("an analysis panicked");
            SearchError::Failed
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::JoinSet;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn pool() -> Arc<AnalysisPool> {
        let engines = Arc::new(Engines::new(1, 1 << 12));
        Arc::new(AnalysisPool::new(&Limits { analysis_threads: 1, ..Limits::default() }, engines))
    }

    /// Searches until it is stopped.
    fn endless(_: &Engines, stop: &Stop) -> u8 {
        while !stop.is_stopped() {
            std::thread::yield_now();
        }
        1
    }

    #[tokio::test]
    async fn a_search_is_stopped_when_its_time_is_up() {
        assert_eq!(pool().search(Duration::ZERO, pending(), endless).await, Ok(1));
    }

    #[tokio::test]
    async fn a_cancelled_search_stops_and_frees_its_thread() {
        let (pool, mut tasks) = (pool(), JoinSet::new());
        let (begun, begins) = oneshot::channel();
        let first = Arc::clone(&pool);
        tasks.spawn(async move {
            let work = move |engines: &Engines, stop: &Stop| {
                begun.send(()).unwrap();
                endless(engines, stop)
            };
            first.search(LONG, pending(), work).await
        });
        begins.await.unwrap();
        // A waiting search can be cancelled, too.
        assert_eq!(pool.search(LONG, async {}, |_, _| 2).await, Err(SearchError::Cancelled));
        tasks.abort_all();
        assert_eq!(pool.search(LONG, pending(), |_, _| 3).await, Ok(3));
    }

    #[tokio::test]
    async fn the_end_of_a_cancelled_search_is_awaited() {
        let (pool, (gone, goes)) = (pool(), oneshot::channel::<()>());
        let work = move |engines: &Engines, stop: &Stop| {
            gone.send(()).unwrap();
            endless(engines, stop)
        };
        let ended = pool.search(LONG, async { goes.await.unwrap() }, work).await;
        assert_eq!((ended, pool.threads.available_permits()), (Err(SearchError::Cancelled), 1));
    }

    #[tokio::test]
    async fn a_panic_fails_the_search_and_frees_its_thread() {
        let pool = pool();
        let ended: Result<u8, _> = pool.search(LONG, pending(), |_, _| panic!("a bug")).await;
        assert_eq!((ended, pool.threads.available_permits()), (Err(SearchError::Failed), 1));
    }
}
