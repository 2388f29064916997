//! Acknowledgements of moves that wait for the next message of their stream, so that both are one write to the socket.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use crate::runtime::LazyTimer;

/// The longest wait of an acknowledgement.
pub(crate) const LONGEST: Duration = Duration::from_secs(1);

/// The most acknowledgements that wait. A bot that plays more games at a time gets other messages anyway.
const MOST: usize = 64;

/// The messages of a stream that wait, in their order.
pub(crate) struct LateAcknowledgements<T> {
    waiting: VecDeque<T>,
    /// Whether they are sent now.
    released: bool,
    /// When they are sent at the latest.
    due: Instant,
    timer: LazyTimer,
}

impl<T> LateAcknowledgements<T> {
    pub(crate) fn new() -> Self {
        Self { waiting: VecDeque::new(), released: false, due: Instant::now(), timer: LazyTimer::default() }
    }

    /// Adds an acknowledgement, which waits.
    pub(crate) fn hold(&mut self, acknowledgement: T) {
        if self.waiting.is_empty() {
            (self.released, self.due) = (false, Instant::now() + LONGEST);
        }
        self.waiting.push_back(acknowledgement);
        self.released |= self.waiting.len() == MOST;
    }

    /// Releases all that wait, with `message` after them. Returns the first to send.
    pub(crate) fn send(&mut self, message: T) -> T {
        let Some(first) = self.waiting.pop_front() else { return message };
        self.waiting.push_back(message);
        self.released = true;
        first
    }

    /// The next message to send now, if there is one.
    pub(crate) fn released(&mut self) -> Option<T> {
        if self.released { self.waiting.pop_front() } else { None }
    }

    /// As [`LateAcknowledgements::released`], once the wait is over.
    pub(crate) fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<T> {
        if !self.waiting.is_empty() && self.timer.poll_until(context, self.due).is_ready() {
            self.released = true;
        }
        self.released().map_or(Poll::Pending, Poll::Ready)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn acknowledgements_come_with_the_next_message_and_in_order() {
        let mut late = LateAcknowledgements::new();
        assert_eq!(late.send(0), 0, "nothing waits");
        late.hold(1);
        late.hold(2);
        assert_eq!(late.released(), None);
        assert_eq!((late.send(3), late.released(), late.released(), late.released()), (1, Some(2), Some(3), None));
        late.hold(4);
        assert_eq!(late.released(), None, "the next one waits again");
    }

    #[tokio::test(start_paused = true)]
    async fn without_another_message_they_come_after_a_second() {
        let mut late = LateAcknowledgements::new();
        assert!(timeout(9 * LONGEST, poll_fn(|context| late.poll_due(context))).await.is_err());
        for number in 1..=2 {
            let began = Instant::now();
            late.hold(number);
            assert_eq!(poll_fn(|context| late.poll_due(context)).await, number);
            assert_eq!(began.elapsed().as_secs(), LONGEST.as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn their_number_is_bounded() {
        let mut late = LateAcknowledgements::new();
        (1..MOST).for_each(|number| late.hold(number));
        assert_eq!(late.released(), None);
        late.hold(MOST);
        assert!((1..=MOST).all(|number| late.released() == Some(number)));
        assert_eq!(late.released(), None);
    }
}
