//! How a request is made: once, repeated, twice at the same time, or without waiting for the answer.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use crate::sim::dice::Dice;

pub(crate) enum Manner {
    Once,
    /// Repeated after its answer.
    Again,
    /// Twice at the same time.
    Twice,
    /// Dropped after this many more polls.
    Abandoned(usize),
    /// Dropped after this time.
    Cut(Duration),
}

impl Manner {
    pub(crate) fn any(dice: &mut Dice) -> Self {
        match dice.below(100) {
            0..6 => Self::Again,
            6..14 => Self::Twice,
            14..20 => Self::Abandoned(dice.below(5)),
            20..24 => Self::Cut(dice.millis(0..20)),
            _ => Self::Once,
        }
    }
}

/// The result of `work` if it is ready within `steps` polls after the first; otherwise drops it and returns none.
pub(crate) async fn abandoned<T>(mut steps: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if steps == 0 => Poll::Ready(None),
        Poll::Pending => {
            steps -= 1;
            Poll::Pending
        }
    })
    .await
}
