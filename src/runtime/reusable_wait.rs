//! Waits that a task restarts at every step. A [`WakeGate`] remembers whether its source has called its waker, and
//! polls it again only then; a [`LazyTimer`] keeps its timer when the deadline is postponed, and [`Cancelled`] its
//! future.
//!
//! A `select!` over new futures would poll each source, register the waker and set the timer at every step. This saves
//! these polls, their locks, and a boxed future for each wait: a source where nothing has happened costs one atomic
//! load.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker, ready},
};

use tokio::{
    task::coop::unconstrained,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Skips polls of a source that has not called its waker since it was last polled.
pub struct WakeGate {
    signal: Arc<WakeSignal>,
    /// Opens the gate. Passed to the source.
    waker: Waker,
    /// The waker of the task, as in `signal`.
    task: Waker,
}

/// The state of a [`WakeGate`], shared with its source.
pub(crate) struct WakeSignal {
    state: AtomicU8,
    task: Mutex<Waker>,
}

/// The source has not called its waker since it was last polled.
const CLOSED: u8 = 0;
/// The source is being polled. If it calls its waker meanwhile it is polled once more, and the task is not woken.
const POLLING: u8 = 1;
/// The source is to be polled. The task is polling, or has been woken.
const OPEN: u8 = 2;

impl WakeGate {
    /// Polls the source if it has called its waker, or was not polled yet.
    pub fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut source: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if !self.task.will_wake(context.waker()) {
            self.task.clone_from(context.waker());
            *self.signal.task() = self.task.clone();
        }
        if self.signal.is_closed() {
            return Poll::Pending;
        }
        for _ in 0..2 {
            self.signal.state.store(POLLING, SeqCst);
            let answer = source(&mut Context::from_waker(&self.waker));
            if answer.is_ready() {
                // The source may have more.
                self.signal.open();
                return answer;
            }
            if self.signal.state.compare_exchange(POLLING, CLOSED, SeqCst, SeqCst).is_ok() {
                return Poll::Pending;
            }
        }
        // The source calls its waker at every poll: it may want to yield to other tasks.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    pub(crate) fn signal(&self) -> &Arc<WakeSignal> {
        &self.signal
    }
}

impl Default for WakeGate {
    fn default() -> Self {
        let signal = Arc::new(WakeSignal { state: AtomicU8::new(OPEN), task: Mutex::new(Waker::noop().clone()) });
        Self { waker: Arc::clone(&signal).into(), signal, task: Waker::noop().clone() }
    }
}

impl WakeSignal {
    /// True if the source was pending when last polled, and has not called its waker since.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.load(SeqCst) == CLOSED
    }

    /// Allows the next poll, without waking the task.
    pub(crate) fn open(&self) {
        self.state.store(OPEN, SeqCst);
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for WakeSignal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(OPEN, SeqCst) == CLOSED {
            self.task().wake_by_ref();
        }
    }
}

/// A timer for which postponing is free: it is reset only when it fires too early or would fire too late.
pub struct LazyTimer {
    timer: Option<Pin<Box<Sleep>>>,
    /// The time the timer is set to; none when it has fired.
    set: Option<Instant>,
    /// The task that it wakes.
    task: Waker,
}

impl Default for LazyTimer {
    fn default() -> Self {
        Self { timer: None, set: None, task: Waker::noop().clone() }
    }
}

impl LazyTimer {
    /// Waits until `deadline`, for ever without one. Cancel safe.
    pub(super) async fn until(&mut self, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => poll_fn(|context| self.poll_until(context, deadline)).await,
            None => std::future::pending().await,
        }
    }

    /// As `LazyTimer::until`, for a future that also polls other sources.
    pub fn poll_until(&mut self, context: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        loop {
            if self.set.is_none_or(|set| set > deadline) {
                self.set(deadline);
            }
            let Self { timer: Some(timer), set, task } = self else { return Poll::Pending };
            // Compares times without touching the timer's memory.
            if task.will_wake(context.waker()) && *set > Some(Instant::now()) {
                return Poll::Pending;
            }
            task.clone_from(context.waker());
            // Unconstrained, because it must register the waker even if the task's budget is used up.
            ready!(pin!(unconstrained(timer.as_mut())).poll(context));
            if set.take() >= Some(deadline) {
                return Poll::Ready(());
            }
        }
    }

    fn set(&mut self, deadline: Instant) {
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(deadline),
            None => self.timer = Some(Box::pin(sleep_until(deadline))),
        }
        self.set = Some(deadline);
        // A timer that has fired has dropped its waker.
        self.task = Waker::noop().clone();
    }
}

/// Waits for a cancellation token, any number of times. Polls it only after it has called its waker.
pub(super) struct Cancelled {
    token: Pin<Box<WaitForCancellationFutureOwned>>,
    gate: WakeGate,
}

impl Cancelled {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self { token: Box::pin(token.cancelled_owned()), gate: WakeGate::default() }
    }

    /// Cancel safe.
    pub(super) async fn wait(&mut self) {
        poll_fn(|context| self.poll(context)).await;
    }

    /// As [`Cancelled::wait`], for a future that also polls other sources.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { token, gate } = self;
        gate.poll(context, |context| token.as_mut().poll(context))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicUsize, time::Duration};

    use tokio_util::task::TaskTracker;

    use tokio::{
        task::{
            coop::{consume_budget, has_budget_remaining},
            yield_now,
        },
        time::timeout,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_fires_at_the_last_deadline_given() {
        let mut timer = LazyTimer::default();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        // Postponed, moved earlier, then awaited.
        for seconds in [5, 9, 4] {
            assert!(timeout(Duration::from_secs(1), timer.until(Some(after(seconds)))).await.is_err(), "{seconds}");
        }
        for (deadline, fires) in [(4, 4), (8, 8), (8, 8), (7, 8)] {
            timer.until(Some(after(deadline))).await;
            assert_eq!(began.elapsed().as_secs(), fires);
        }
        assert!(timeout(Duration::from_secs(99), timer.until(None)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_wakes_the_task_that_polled_last() {
        let mut timer = LazyTimer::default();
        let wake = Instant::now() + Duration::from_secs(5);
        assert_eq!(timer.poll_until(&mut Context::from_waker(Waker::noop()), wake), Poll::Pending);
        let fired = TaskTracker::new()
            .spawn(async move { timeout(Duration::from_secs(9), timer.until(Some(wake))).await.is_ok() });
        assert!(fired.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_without_budget_is_still_woken() {
        let (mut timer, token) = (LazyTimer::default(), CancellationToken::new());
        let mut stop = Cancelled::new(token.clone());
        let began = Instant::now();
        let wake = began + Duration::from_secs(5);
        let waits = TaskTracker::new().spawn(async move {
            let spent = poll_fn(|context| {
                while has_budget_remaining() {
                    let _ = pin!(consume_budget()).poll(context);
                }
                let fires = timer.poll_until(context, wake).is_ready();
                Poll::Ready(fires || pin!(stop.wait()).poll(context).is_ready())
            });
            assert!(!spent.await);
            yield_now().await;
            let fired = timeout(Duration::from_secs(9), timer.until(Some(wake))).await.is_ok();
            // Without the timer's wake it would fire only at the end of the timeout.
            let fired = fired && began.elapsed().as_secs() == 5;
            token.cancel();
            fired && timeout(Duration::from_secs(9), stop.wait()).await.is_ok()
        });
        assert!(waits.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_wakes_the_task_that_polled_last_and_stays() {
        let token = CancellationToken::new();
        let mut stop = Cancelled::new(token.clone());
        assert!(timeout(Duration::from_secs(1), stop.wait()).await.is_err());
        let ended = TaskTracker::new().spawn(async move {
            stop.wait().await;
            stop
        });
        yield_now().await;
        token.cancel();
        let mut stop = timeout(Duration::from_secs(1), ended).await.unwrap().unwrap();
        let again = pin!(stop.wait()).poll(&mut Context::from_waker(Waker::noop()));
        assert!(again.is_ready());
    }

    #[test]
    fn a_source_that_has_not_called_is_not_polled() {
        let (mut gate, mut polls, mut caller) = (WakeGate::default(), 0, None);
        let mut poll = |answer: Poll<()>| {
            let _ = gate.poll(&mut Context::from_waker(Waker::noop()), |context| {
                (polls, caller) = (polls + 1, Some(context.waker().clone()));
                answer
            });
            (polls, caller.clone())
        };
        assert_eq!(poll(Poll::Ready(())).0, 1);
        assert_eq!(poll(Poll::Pending).0, 2, "a ready source is polled again");
        let (count, caller) = poll(Poll::Pending);
        assert_eq!(count, 2);
        caller.unwrap().wake();
        assert_eq!(poll(Poll::Pending).0, 3);
        assert_eq!(poll(Poll::Pending).0, 3);
    }

    /// Counts how often it wakes.
    #[derive(Default)]
    struct WakeCounter(AtomicUsize);

    impl Wake for WakeCounter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_source_that_calls_while_polled_is_polled_again_without_a_wake() {
        let (mut gate, wakes) = (WakeGate::default(), Arc::new(WakeCounter::default()));
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        let mut polls = 0;
        let answer = gate.poll(&mut context, |context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!((answer, wakes.0.load(SeqCst)), (Poll::Ready(()), 0));
        // A source that calls its waker at every poll would be polled for ever.
        let mut polls = 0;
        let answer = gate.poll(&mut context, |context| {
            polls += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!((answer, polls, wakes.0.load(SeqCst)), (Poll::Pending, 2, 1));
    }

    #[test]
    fn a_task_is_woken_once_until_it_polls() {
        let (mut gate, wakes, mut caller) = (WakeGate::default(), Arc::new(WakeCounter::default()), None);
        let waker = Waker::from(Arc::clone(&wakes));
        let mut ask = || {
            let _ = gate.poll(&mut Context::from_waker(&waker), |context| {
                caller = Some(context.waker().clone());
                Poll::<()>::Pending
            });
            caller.clone().unwrap()
        };
        let caller = ask();
        (0..3).for_each(|_| caller.wake_by_ref());
        assert_eq!(wakes.0.load(SeqCst), 1);
        ask();
        caller.wake_by_ref();
        assert_eq!(wakes.0.load(SeqCst), 2);
    }
}
