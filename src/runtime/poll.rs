//! Waits that are begun anew at every step of a task that does much else, and cost next to nothing there: what was asked
//! once is asked again only when it has called.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker, ready},
};

use tokio::{
    task::coop::unconstrained,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Stands before something that is waited for, and lets nobody in until it has called. Tasks are woken for much else.
pub struct Bell {
    wire: Arc<Wire>,
    /// Rings it.
    waker: Waker,
    /// The task that hears it.
    hearer: Waker,
}

struct Wire {
    state: AtomicU8,
    hearer: Mutex<Waker>,
}

/// Nothing has called since it was asked last.
const SILENT: u8 = 0;
/// What is behind the bell is asked at this moment, and once more if it calls meanwhile: the task is not woken for it.
const ASKING: u8 = 1;
/// It is to be asked. The task knows that, or has been woken.
const RUNG: u8 = 2;

impl Bell {
    /// Asks what is behind it, if that has called, or was not asked yet.
    pub fn poll<T>(&mut self, context: &mut Context<'_>, mut ask: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        if !self.hearer.will_wake(context.waker()) {
            self.hearer.clone_from(context.waker());
            *self.wire.hearer() = self.hearer.clone();
        }
        if self.wire.state.load(SeqCst) == SILENT {
            return Poll::Pending;
        }
        for _ in 0..2 {
            self.wire.state.store(ASKING, SeqCst);
            let answer = ask(&mut Context::from_waker(&self.waker));
            if answer.is_ready() {
                // There may be more.
                self.ring();
                return answer;
            }
            if self.wire.state.compare_exchange(ASKING, SILENT, SeqCst, SeqCst).is_ok() {
                return Poll::Pending;
            }
        }
        // It calls whenever it is asked: perhaps it wants others to have their turn first.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn ring(&self) {
        self.wire.state.store(RUNG, SeqCst);
    }
}

impl Default for Bell {
    fn default() -> Self {
        let (state, nobody) = (AtomicU8::new(RUNG), Waker::noop());
        let wire = Arc::new(Wire { state, hearer: Mutex::new(nobody.clone()) });
        Self { waker: Arc::clone(&wire).into(), wire, hearer: nobody.clone() }
    }
}

impl Wire {
    fn hearer(&self) -> std::sync::MutexGuard<'_, Waker> {
        self.hearer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Wire {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(RUNG, SeqCst) == SILENT {
            self.hearer().wake_by_ref();
        }
    }
}

/// A timer that is put off more often than it rings. That costs nothing: it is set anew when it has gone off too early, or
/// would too late.
pub struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// What the timer is set to.
    set: Option<Instant>,
    /// Whom it wakes.
    hearer: Waker,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { timer: None, set: None, hearer: Waker::noop().clone() }
    }
}

impl Alarm {
    /// Waits until then; for ever without a time. May be dropped and asked again.
    pub(crate) async fn ring(&mut self, wake: Option<Instant>) {
        match wake {
            Some(wake) => poll_fn(|context| self.poll_ring(context, wake)).await,
            None => std::future::pending().await,
        }
    }

    /// The same, for one who waits for more than this.
    pub fn poll_ring(&mut self, context: &mut Context<'_>, wake: Instant) -> Poll<()> {
        loop {
            if self.set.is_none_or(|set| set > wake) {
                self.set(wake);
            }
            let Self { timer: Some(timer), set, hearer } = self else { return Poll::Pending };
            // The clock tells as much as the timer, which lies elsewhere.
            if hearer.will_wake(context.waker()) && *set > Some(Instant::now()) {
                return Poll::Pending;
            }
            hearer.clone_from(context.waker());
            // It is asked but once, and must not be kept from hearing whom it wakes because others have asked for much.
            ready!(pin!(unconstrained(timer.as_mut())).poll(context));
            // It has gone off, and does not by itself once more.
            if set.take() >= Some(wake) {
                return Poll::Ready(());
            }
        }
    }

    fn set(&mut self, wake: Instant) {
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(wake),
            None => self.timer = Some(Box::pin(sleep_until(wake))),
        }
        self.set = Some(wake);
        // One that has gone off wakes nobody any more.
        self.hearer = Waker::noop().clone();
    }
}

/// An end that comes once.
pub(crate) struct Stop {
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    bell: Bell,
}

impl Stop {
    pub(crate) fn of(token: CancellationToken) -> Self {
        Self { end: Box::pin(token.cancelled_owned()), bell: Bell::default() }
    }

    /// Waits for it. May be dropped and asked again.
    pub(crate) async fn come(&mut self) {
        let Self { end, bell } = self;
        poll_fn(|context| bell.poll(context, |context| end.as_mut().poll(context))).await;
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
        let asked = TaskTracker::new()
            .spawn(async move { timeout(Duration::from_secs(9), alarm.ring(Some(wake))).await.is_ok() });
        assert!(asked.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn one_whose_budget_was_spent_is_heard_the_next_time() {
        let (mut alarm, token) = (Alarm::default(), CancellationToken::new());
        let mut stop = Stop::of(token.clone());
        let began = Instant::now();
        let wake = began + Duration::from_secs(5);
        let waits = TaskTracker::new().spawn(async move {
            let spent = poll_fn(|context| {
                while has_budget_remaining() {
                    let _ = pin!(consume_budget()).poll(context);
                }
                let rings = alarm.poll_ring(context, wake).is_ready();
                Poll::Ready(rings || pin!(stop.come()).poll(context).is_ready())
            });
            assert!(!spent.await);
            yield_now().await;
            let rung = timeout(Duration::from_secs(9), alarm.ring(Some(wake))).await.is_ok();
            // The clock alone would let it ring at the end of the timeout.
            let rung = rung && began.elapsed().as_secs() == 5;
            token.cancel();
            rung && timeout(Duration::from_secs(9), stop.come()).await.is_ok()
        });
        assert!(waits.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_comes_to_whoever_asked_last_and_stays() {
        let token = CancellationToken::new();
        let mut stop = Stop::of(token.clone());
        assert!(timeout(Duration::from_secs(1), stop.come()).await.is_err());
        let ended = TaskTracker::new().spawn(async move {
            stop.come().await;
            stop
        });
        yield_now().await;
        token.cancel();
        let mut stop = timeout(Duration::from_secs(1), ended).await.unwrap().unwrap();
        let again = pin!(stop.come()).poll(&mut Context::from_waker(Waker::noop()));
        assert!(again.is_ready());
    }

    #[test]
    fn what_has_not_called_is_not_asked() {
        let (mut bell, mut asked, mut caller) = (Bell::default(), 0, None);
        let mut poll = |answer: Poll<()>| {
            let _ = bell.poll(&mut Context::from_waker(Waker::noop()), |context| {
                (asked, caller) = (asked + 1, Some(context.waker().clone()));
                answer
            });
            (asked, caller.clone())
        };
        assert_eq!(poll(Poll::Ready(())).0, 1);
        assert_eq!(poll(Poll::Pending).0, 2, "there may be more");
        let (count, caller) = poll(Poll::Pending);
        assert_eq!(count, 2);
        caller.unwrap().wake();
        assert_eq!(poll(Poll::Pending).0, 3);
        assert_eq!(poll(Poll::Pending).0, 3);
    }

    /// Counts how often it wakes.
    #[derive(Default)]
    struct Sleeper(AtomicUsize);

    impl Wake for Sleeper {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn what_calls_while_it_is_asked_is_asked_once_more_and_wakes_nobody() {
        let (mut bell, sleeper) = (Bell::default(), Arc::new(Sleeper::default()));
        let waker = Waker::from(Arc::clone(&sleeper));
        let mut context = Context::from_waker(&waker);
        let mut asked = 0;
        let answer = bell.poll(&mut context, |context| {
            asked += 1;
            context.waker().wake_by_ref();
            if asked == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!((answer, sleeper.0.load(SeqCst)), (Poll::Ready(()), 0));
        // One that calls each time it is asked would be asked for ever.
        let mut asked = 0;
        let answer = bell.poll(&mut context, |context| {
            asked += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!((answer, asked, sleeper.0.load(SeqCst)), (Poll::Pending, 2, 1));
    }

    #[test]
    fn a_task_is_woken_once_until_it_asks() {
        let (mut bell, sleeper, mut caller) = (Bell::default(), Arc::new(Sleeper::default()), None);
        let waker = Waker::from(Arc::clone(&sleeper));
        let mut ask = || {
            let _ = bell.poll(&mut Context::from_waker(&waker), |context| {
                caller = Some(context.waker().clone());
                Poll::<()>::Pending
            });
            caller.clone().unwrap()
        };
        let caller = ask();
        (0..3).for_each(|_| caller.wake_by_ref());
        assert_eq!(sleeper.0.load(SeqCst), 1);
        ask();
        caller.wake_by_ref();
        assert_eq!(sleeper.0.load(SeqCst), 2);
    }
}
