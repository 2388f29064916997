//! A state that tasks wait for. A `watch` channel would wake them in a random order.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Gate<T> {
    state: Mutex<T>,
    changes: Notify,
}

impl<T: Copy> Gate<T> {
    pub(super) fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes.notify_waiters();
    }

    /// The first state that is no reason to wait.
    pub(super) async fn pass(&self, waits: impl Fn(T) -> bool) -> T {
        loop {
            let changed = self.changes.notified();
            let state = *self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if !waits(state) {
                return state;
            }
            changed.await;
        }
    }
}
