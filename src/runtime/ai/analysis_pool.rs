//! The threads that search for analyses: few at a time, and of the lowest priority, as those of AI seats are.

use std::{pin::pin, sync::Arc, time::Duration};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio::{
    sync::{Semaphore, oneshot},
    time::sleep,
};
use tracing::Span;

use crate::{
    ai::engine::Engines,
    runtime::limit::{concurrency_limit::Tally, limits::Limits},
    search::Stop,
};

/// Who searches for analyses.
pub(crate) struct Analysts {
    /// Analyses under way.
    pub(crate) analyses: Tally,
    threads: Semaphore,
    engines: Arc<Engines>,
}

/// Why there is nothing found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfound {
    /// Nobody wants it any more.
    Gone,
    /// The search panicked, or the system gave no thread.
    Broken,
}

/// Raises a flag when it is dropped, so that no search outlives the wait for it.
struct Raised(Stop);

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Analysts {
    /// They search with these engines, of which there is one for each of their threads.
    pub(crate) fn new(limits: &Limits, engines: Arc<Engines>) -> Self {
        let threads = Semaphore::new(limits.analysis_threads.max(1));
        Self { analyses: Tally::new(limits.analyses), threads, engines }
    }

    /// Searches on a thread of its own as soon as there may be one more, the first to come first. The flag is raised `time` after that,
    /// or when the search is `gone`: wanted by nobody any more.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        time: Duration,
        gone: impl Future<Output = ()>,
        work: impl FnOnce(&Engines, &Stop) -> T + Send + 'static,
    ) -> Result<T, Unfound> {
        let mut gone = pin!(gone);
        let _turn = tokio::select! {
            biased;
            () = &mut gone => return Err(Unfound::Gone),
            turn = self.threads.acquire() => turn.map_err(|_| Unfound::Gone)?,
        };
        let (sender, mut answer) = oneshot::channel();
        let stop = Stop::new();
        let (flag, span, engines) = (Raised(stop.clone()), Span::current(), Arc::clone(&self.engines));
        let thread = std::thread::Builder::new().name("analysis".to_owned()).spawn(move || {
            let _caller = span.enter();
            if let Err(error) = set_current_thread_priority(ThreadPriority::Min) {
                tracing::warn!(%error, "analyses run at the same priority as what serves players");
            }
            // Whoever asked may have gone.
            let _ = sender.send(work(&engines, &stop));
        });
        if let Err(error) = thread {
            tracing::error!(%error, "no thread for an analysis");
            return Err(Unfound::Broken);
        }
        let found = tokio::select! {
            biased;
            found = &mut answer => found,
            () = sleep(time) => {
                drop(flag);
                answer.await
            }
            () = gone => {
                drop(flag);
                // The next one begins when the thread is free.
                let _ = answer.await;
                return Err(Unfound::Gone);
            }
        };
        found.map_err(|_| {
            tracing::error!("an analysis panicked");
            Unfound::Broken
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::JoinSet;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn analysts() -> Arc<Analysts> {
        let engines = Arc::new(Engines::new(1, 1 << 12));
        Arc::new(Analysts::new(&Limits { analysis_threads: 1, ..Limits::default() }, engines))
    }

    /// Searches until the flag is raised.
    fn endless(_: &Engines, stop: &Stop) -> u8 {
        while !stop.is_stopped() {
            std::thread::yield_now();
        }
        1
    }

    #[tokio::test]
    async fn a_search_is_stopped_when_its_time_is_over() {
        assert_eq!(analysts().search(Duration::ZERO, pending(), endless).await, Ok(1));
    }

    #[tokio::test]
    async fn a_search_that_nobody_waits_for_stops_and_lets_the_next_begin() {
        let (analysts, mut tasks) = (analysts(), JoinSet::new());
        let (begun, begins) = oneshot::channel();
        let first = Arc::clone(&analysts);
        tasks.spawn(async move {
            let work = move |engines: &Engines, stop: &Stop| {
                begun.send(()).unwrap();
                endless(engines, stop)
            };
            first.search(LONG, pending(), work).await
        });
        begins.await.unwrap();
        // One that waits can be given up, too.
        assert_eq!(analysts.search(LONG, async {}, |_, _| 2).await, Err(Unfound::Gone));
        tasks.abort_all();
        assert_eq!(analysts.search(LONG, pending(), |_, _| 3).await, Ok(3));
    }

    #[tokio::test]
    async fn a_search_that_is_gone_is_waited_for() {
        let (analysts, (gone, goes)) = (analysts(), oneshot::channel::<()>());
        let work = move |engines: &Engines, stop: &Stop| {
            gone.send(()).unwrap();
            endless(engines, stop)
        };
        let ended = analysts.search(LONG, async { goes.await.unwrap() }, work).await;
        assert_eq!((ended, analysts.threads.available_permits()), (Err(Unfound::Gone), 1));
    }

    #[tokio::test]
    async fn a_panic_is_an_end_and_the_thread_is_free_again() {
        let analysts = analysts();
        let ended: Result<u8, _> = analysts.search(LONG, pending(), |_, _| panic!("a bug")).await;
        assert_eq!((ended, analysts.threads.available_permits()), (Err(Unfound::Broken), 1));
    }
}
