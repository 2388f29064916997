//! Waits that are begun anew at every step of a task that does much else, and cost next to nothing there: what was asked once
//! is asked again only when it may have come, or by another task.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use tokio::{
    task::coop::has_budget_remaining,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A timer that is put off more often than it rings. That costs nothing: it is set anew when it has gone off too early, or
/// would too late.
#[derive(Default)]
pub struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    asker: Asker,
}

impl Alarm {
    /// Waits until then; for ever without a time. May be dropped and asked again.
    pub(super) async fn ring(&mut self, wake: Option<Instant>) {
        match wake {
            Some(wake) => poll_fn(|context| self.poll_ring(context, wake)).await,
            None => std::future::pending().await,
        }
    }

    /// The same, for one who waits for more than this.
    pub fn poll_ring(&mut self, context: &mut Context<'_>, wake: Instant) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(wake)));
        loop {
            if timer.deadline() > wake || timer.is_elapsed() {
                timer.as_mut().reset(wake);
            } else if self.asker.is_known(context) {
                return Poll::Pending;
            }
            ready!(self.asker.ask(context, |context| timer.as_mut().poll(context)));
            if timer.deadline() >= wake {
                return Poll::Ready(());
            }
        }
    }
}

/// An end that comes once.
pub(super) struct Stop {
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    asker: Asker,
}

impl Stop {
    pub(super) fn of(token: CancellationToken) -> Self {
        Self { end: Box::pin(token.cancelled_owned()), asker: Asker::default() }
    }

    /// Waits for it. It is `near` from some moment before it on.
    pub(super) async fn come(&mut self, near: impl Fn() -> bool) {
        poll_fn(|context| {
            if !near() && self.asker.is_known(context) {
                return Poll::Pending;
            }
            self.asker.ask(context, |context| self.end.as_mut().poll(context))
        })
        .await;
    }
}

/// The task that will be woken by what it has asked.
#[derive(Default)]
struct Asker(Option<Waker>);

impl Asker {
    fn is_known(&self, context: &Context<'_>) -> bool {
        self.0.as_ref().is_some_and(|known| known.will_wake(context.waker()))
    }

    fn ask(&mut self, context: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<()>) -> Poll<()> {
        // A task that has done enough for this time is put off without having been heard.
        let is_heard = has_budget_remaining();
        let came = poll(context);
        self.0 = (is_heard && came.is_pending()).then(|| context.waker().clone());
        came
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        task::{coop::consume_budget, yield_now},
        time::timeout,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_at_the_time_that_was_named_last() {
        let mut alarm = Alarm::default();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        // Put off, brought forward, and then waited for.
        for seconds in [5, 9, 4] {
            assert!(timeout(Duration::from_secs(1), alarm.ring(Some(after(seconds)))).await.is_err(), "{seconds}");
        }
        for (named, rang) in [(4, 4), (8, 8), (8, 8), (7, 8)] {
            alarm.ring(Some(after(named))).await;
            assert_eq!(began.elapsed().as_secs(), rang);
        }
        assert!(timeout(Duration::from_secs(99), alarm.ring(None)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_for_whoever_asked_last() {
        let mut alarm = Alarm::default();
        let wake = Instant::now() + Duration::from_secs(5);
        assert_eq!(alarm.poll_ring(&mut Context::from_waker(Waker::noop()), wake), Poll::Pending);
        let asked = tokio::spawn(async move { timeout(Duration::from_secs(9), alarm.ring(Some(wake))).await.is_ok() });
        assert!(asked.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn one_whose_budget_was_spent_is_heard_the_next_time() {
        let (mut alarm, token) = (Alarm::default(), CancellationToken::new());
        let mut stop = Stop::of(token.clone());
        let wake = Instant::now() + Duration::from_secs(5);
        let waits = tokio::spawn(async move {
            let spent = poll_fn(|context| {
                while has_budget_remaining() {
                    let _ = std::pin::pin!(consume_budget()).poll(context);
                }
                let rings = alarm.poll_ring(context, wake).is_ready();
                Poll::Ready(rings || std::pin::pin!(stop.come(|| false)).poll(context).is_ready())
            });
            assert!(!spent.await);
            yield_now().await;
            let rung = timeout(Duration::from_secs(9), alarm.ring(Some(wake))).await.is_ok();
            token.cancel();
            rung && timeout(Duration::from_secs(9), stop.come(|| true)).await.is_ok()
        });
        assert!(waits.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_comes_when_it_is_near_and_wakes_who_waits() {
        let token = CancellationToken::new();
        let mut stop = Stop::of(token.clone());
        assert!(timeout(Duration::from_secs(1), stop.come(|| false)).await.is_err());
        assert!(timeout(Duration::from_secs(1), stop.come(|| true)).await.is_err());
        let end = token.clone();
        let ended = tokio::spawn(async move { stop.come(|| end.is_cancelled()).await });
        yield_now().await;
        token.cancel();
        assert!(timeout(Duration::from_secs(1), ended).await.is_ok());
    }
}
