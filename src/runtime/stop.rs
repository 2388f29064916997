//! The end of all rooms, as one of them waits for it.

use std::{future::poll_fn, pin::Pin, sync::atomic::Ordering::SeqCst, task::Poll};

use tokio_util::sync::WaitForCancellationFutureOwned;

use super::shared::Shared;

/// A wait that is begun anew at each step of a room, and costs next to nothing there.
pub(super) struct Stop {
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    is_known: bool,
}

impl Stop {
    pub(super) fn new(shared: &Shared) -> Self {
        // Of its own, so that rooms do not wait for each other when they ask.
        Self { end: Box::pin(shared.rooms_end.child_token().cancelled_owned()), is_known: false }
    }

    /// Waits until rooms must end. Only one task may ask: it is known from the first time on who is to be woken.
    pub(super) async fn wait(&mut self, shared: &Shared) {
        poll_fn(|context| {
            // The server drains before its rooms end.
            if self.is_known && !shared.draining.load(SeqCst) {
                return Poll::Pending;
            }
            self.is_known = true;
            self.end.as_mut().poll(context)
        })
        .await;
    }
}
