//! Whether the server runs, drains or stops, and its tasks.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::outcome::{RoomError, StreamEnd};

/// The state of the server. Clones are handles to the same server.
#[derive(Clone)]
pub(crate) struct Lifecycle {
    /// Cancelled when clients should connect to another server. This one still serves its clients.
    pub(crate) leaving: CancellationToken,
    draining: CancellationToken,
    /// False while this node serves no clients: without a lease or access to rooms, without links to a
    /// majority, or with a wrong clock.
    in_service: Arc<watch::Sender<bool>>,
    /// Cancelled when rooms and background tasks must end, after all streams. Rooms finish their current command.
    pub(crate) stop: CancellationToken,
    tasks: TaskTracker,
}

impl Lifecycle {
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Fails with [`RoomError::Draining`] once the server drains.
    pub(crate) fn require_running(&self) -> Result<(), RoomError> {
        if self.is_draining() { Err(RoomError::Draining) } else { Ok(()) }
    }

    /// Sets whether this node may serve clients. Returns true if that is new.
    pub(crate) fn set_in_service(&self, in_service: bool) -> bool {
        self.in_service.send_replace(in_service) != in_service
    }

    /// Whether this node may serve clients, and each change.
    pub(crate) fn in_service(&self) -> watch::Receiver<bool> {
        self.in_service.subscribe()
    }

    pub(crate) fn is_in_service(&self) -> bool {
        *self.in_service.borrow()
    }

    /// Why no stream may be open now; none if streams may be.
    pub(crate) fn stream_end(&self) -> Option<StreamEnd> {
        if self.is_draining() {
            Some(StreamEnd::Draining)
        } else if self.is_in_service() {
            None
        } else {
            Some(StreamEnd::OutOfService)
        }
    }

    pub(crate) fn drain(&self) {
        self.leaving.cancel();
        self.draining.cancel();
    }

    /// Starts a task that shutdown waits for.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.tasks.spawn(task)
    }

    /// Runs slow work on a thread that serves no players; shutdown waits for it.
    pub(crate) fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.tasks.spawn_blocking(work)
    }

    /// Runs `work` to its end in a separate task, even if the caller is cancelled. Partial work could leave a
    /// reservation without a request, or a stored room that is not in memory.
    pub(crate) async fn run_to_end<T: Send + 'static, E: From<RoomError> + Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        match self.tasks.spawn(work).await {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(RoomError::Draining.into()),
        }
    }

    /// Waits for the next tick. False when background tasks must end.
    pub(crate) async fn next_tick(&self, ticks: &mut Interval) -> bool {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => false,
            _ = ticks.tick() => true,
        }
    }

    /// Stops the tasks and waits for them.
    pub(crate) async fn shut_down(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Default for Lifecycle {
    fn default() -> Self {
        let in_service = Arc::new(watch::Sender::new(true));
        let (leaving, draining, stop, tasks) = Default::default();
        Self { leaving, draining, in_service, stop, tasks }
    }
}

/// Ticks at least `period` apart.
pub(crate) fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
