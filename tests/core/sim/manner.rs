//! How somebody asks: once, twice, again, or without waiting for the answer.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use crate::sim::dice::Dice;

pub(crate) enum Manner {
    Once,
    /// Once more when it is answered.
    Again,
    /// Both at a time.
    Twice,
    /// Given up after so many steps.
    Abandoned(usize),
    /// Given up after so long.
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

/// What comes of `work` within so many steps behind the first; it is dropped when that is nothing.
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
