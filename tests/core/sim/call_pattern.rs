//! How a request is made: once, repeated, twice at the same time, or without waiting for the answer.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use crate::sim::rng::Rng;

pub(crate) enum CallPattern {
    Once,
    /// Repeated after its answer, at another server if there is one.
    Repeated,
    /// Twice at the same time, at two servers if there are.
    Concurrent,
    /// Dropped after this many more polls.
    DroppedAfterPolls(usize),
    /// Dropped after this time.
    DroppedAfterTime(Duration),
}

impl CallPattern {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        match rng.below(100) {
            0..6 => Self::Repeated,
            6..14 => Self::Concurrent,
            14..20 => Self::DroppedAfterPolls(rng.below(5)),
            20..24 => Self::DroppedAfterTime(rng.millis(0..20)),
            _ => Self::Once,
        }
    }
}

/// The result of `work` if it is ready within `polls` polls after the first; otherwise drops it and returns none.
pub(crate) async fn poll_at_most<T>(mut polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if polls == 0 => Poll::Ready(None),
        Poll::Pending => {
            polls -= 1;
            Poll::Pending
        }
    })
    .await
}
