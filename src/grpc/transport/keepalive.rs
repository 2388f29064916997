//! Pings to an HTTP/2 client, to notice when the client is gone.
//!
//! The transport has pings too, but all connections that were opened at one moment would send them at one moment.

use std::{
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    frames::{CONTINUATION, FrameHead, PING},
    period_offset::PeriodOffset,
};
use crate::runtime::{LazyTimer, Limits};

/// A ping, with a payload that the transport does not use.
pub(super) const PING_FRAME: [u8; 17] = [0, 0, 8, PING, 0, 0, 0, 0, 0, b'r', b'e', b'v', b'e', b'r', b's', b'i', 0];

/// Decides when a ping is sent, and when its answer is late. Any received frame but CONTINUATION is an answer.
pub(super) struct Keepalive {
    interval: Duration,
    answer: Duration,
    pub(super) offset: PeriodOffset,
    timer: LazyTimer,
    /// When the next ping is due, or the answer to the last one.
    deadline: Instant,
    awaits_answer: bool,
    /// True if a ping is due and not sent yet.
    pub(super) is_due: bool,
}

impl Keepalive {
    pub(super) fn new(limits: &Limits, offset: PeriodOffset) -> Self {
        let (interval, answer, timer) = (limits.keepalive, limits.keepalive_answer, LazyTimer::default());
        let deadline = offset.next(interval, Instant::now());
        Self { interval, answer, offset, timer, deadline, awaits_answer: false, is_due: false }
    }

    /// Ready when the client has not answered a ping in time. Sets `is_due` when a ping is due.
    pub(super) fn poll_dead(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.poll_until(cx, self.deadline));
            if self.awaits_answer {
                return Poll::Ready(());
            }
            (self.awaits_answer, self.is_due) = (true, true);
            // From now: if the process was stopped meanwhile, the old deadline is long past.
            self.deadline = Instant::now() + self.answer;
        }
    }

    /// Counts a received frame as an answer, except CONTINUATION: a client could send these for ever.
    pub(super) fn received(&mut self, frame: FrameHead) {
        if self.awaits_answer && frame.kind != CONTINUATION {
            (self.awaits_answer, self.is_due) = (false, false);
            self.deadline = self.offset.next(self.interval, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::timeout;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(20);
    const ANSWER: Duration = Duration::from_secs(10);

    fn keepalive() -> Keepalive {
        let limits = Limits { keepalive: INTERVAL, keepalive_answer: ANSWER, ..Limits::default() };
        Keepalive::new(&limits, PeriodOffset::starting_now())
    }

    fn frame(kind: u8) -> FrameHead {
        FrameHead { length: 8, kind, flags: 0, stream: 0 }
    }

    /// Waits for this time, at most until the client is considered gone. Returns whether it is.
    async fn is_dead_within(keepalive: &mut Keepalive, time: Duration) -> bool {
        timeout(time, poll_fn(|cx| keepalive.poll_dead(cx))).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_answers_stays() {
        let (mut keepalive, second) = (keepalive(), Duration::from_secs(1));
        for _ in 0..3 {
            assert!(!is_dead_within(&mut keepalive, INTERVAL - second).await && !keepalive.is_due, "no ping yet");
            assert!(!is_dead_within(&mut keepalive, second).await && keepalive.is_due, "a ping");
            keepalive.received(frame(PING));
            assert!(!keepalive.is_due);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_stopped_pings_before_it_takes_a_client_for_gone() {
        let mut keepalive = keepalive();
        tokio::time::advance(10 * INTERVAL).await;
        assert!(!is_dead_within(&mut keepalive, ANSWER / 2).await && keepalive.is_due);
        assert!(is_dead_within(&mut keepalive, ANSWER).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_without_an_answer_is_gone() {
        let (mut keepalive, began) = (keepalive(), Instant::now());
        keepalive.received(frame(PING));
        assert!(!is_dead_within(&mut keepalive, INTERVAL).await);
        keepalive.received(frame(CONTINUATION));
        assert!(is_dead_within(&mut keepalive, 2 * ANSWER).await);
        assert_eq!(began.elapsed().as_secs(), (INTERVAL + ANSWER).as_secs());
    }
}
