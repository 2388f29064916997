//! How an actor runs: as a task of its own, and for a moment within the task of whoever has a command for it.
//!
//! Most rooms rest when a move comes. Then nobody is in the way of the one who brings it, and neither the room's task need
//! be woken for it, nor the mover's to hear of it.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::message::Message;
use crate::runtime::poll::Bell;

/// An actor, which takes a step when its task is woken or somebody visits it, one at a time.
#[derive(Default)]
pub(crate) struct Den {
    /// None before it begins and when it has ended.
    actor: Mutex<Option<Running>>,
    /// What a visitor hands over, past the mailbox.
    hand: Arc<Hand>,
}

type Hand = Mutex<Option<Box<Message>>>;

struct Running {
    course: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Wakes its task; none until that has run. Whatever the actor waits for calls this, even when a visitor began the wait.
    task: Option<Waker>,
}

impl Den {
    /// The end at which the actor takes messages in, until the stop.
    pub(crate) fn mail(&self, messages: mpsc::Receiver<Box<Message>>, stop: CancellationToken) -> Mail {
        let stop = Some(Box::pin(stop.cancelled_owned()));
        Mail { hand: Arc::clone(&self.hand), handed: false, messages, stop, bell: Bell::default() }
    }

    /// Lets an actor run to its end. This is its task.
    pub(crate) async fn run(self: Arc<Self>, course: impl Future<Output = ()> + Send + 'static) {
        *lock(&self.actor) = Some(Running { course: Box::pin(course), task: None });
        poll_fn(|context| {
            // A visit takes as long as one message does, so it is waited for.
            let mut actor = lock(&self.actor);
            let Some(Running { course, task }) = &mut *actor else { return Poll::Ready(()) };
            match task {
                Some(known) => known.clone_from(context.waker()),
                None => *task = Some(context.waker().clone()),
            }
            ready!(step(course, context));
            self.end(&mut actor);
            Poll::Ready(())
        })
        .await;
    }

    /// Hands a message to an actor that nobody runs at this moment, and lets it run. One that waits for its journal takes
    /// the message afterwards. Gives it back where there is no such actor, or its hand is full. Whoever calls this holds
    /// nothing that an actor may want.
    pub(crate) fn visit(&self, message: Box<Message>) -> Result<(), Box<Message>> {
        let Ok(mut actor) = self.actor.try_lock() else { return Err(message) };
        let Some(Running { course, task: Some(task) }) = &mut *actor else { return Err(message) };
        let mut hand = lock(&self.hand);
        if hand.is_some() {
            return Err(message);
        }
        *hand = Some(message);
        drop(hand);
        if step(course, &mut Context::from_waker(task)).is_ready() {
            let task = task.clone();
            self.end(&mut actor);
            drop(actor);
            task.wake();
        }
        Ok(())
    }

    fn end(&self, actor: &mut Option<Running>) {
        *actor = None;
        let unanswered = lock(&self.hand).take();
        // Whoever waits for an answer hears that there is none.
        drop(unanswered);
    }
}

/// Lets an actor run as far as it goes. A panic ends it, and not who visits it; the panic's hook tells of it.
fn step(course: &mut Pin<Box<dyn Future<Output = ()> + Send>>, context: &mut Context<'_>) -> Poll<()> {
    catch_unwind(AssertUnwindSafe(|| course.as_mut().poll(context))).unwrap_or(Poll::Ready(()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an actor is asked.
pub(crate) struct Mail {
    hand: Arc<Hand>,
    /// The last message came from a visitor.
    handed: bool,
    messages: mpsc::Receiver<Box<Message>>,
    /// None once it is closed.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Rings for the mailbox and the stop. For each of their calls there are many visits.
    bell: Bell,
}

impl Mail {
    /// The next message; none when there will be no more: because of the stop, or since it is closed and all were taken.
    /// Nothing is lost when the wait is dropped.
    pub(crate) async fn next(&mut self) -> Option<Box<Message>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Box<Message>>> {
        let Self { hand, handed, messages, stop, bell } = self;
        // In turn, so that visitors who come during each wait for the journal keep nobody else waiting.
        if !std::mem::take(handed)
            && let Some(message) = lock(hand).take()
        {
            *handed = true;
            return Poll::Ready(Some(message));
        }
        let is_closed = stop.is_none();
        let called = bell.poll(context, |context| {
            if stop.as_mut().is_some_and(|stop| stop.as_mut().poll(context).is_ready()) {
                return Poll::Ready(None);
            }
            messages.poll_recv(context)
        });
        match called {
            Poll::Ready(Some(_)) => return called,
            Poll::Ready(None) if !is_closed => return called,
            Poll::Ready(None) | Poll::Pending => {}
        }
        let message = lock(hand).take();
        *handed = message.is_some();
        if *handed { Poll::Ready(message) } else { called }
    }

    /// Takes in no more than what has come, and what visitors bring.
    pub(crate) fn close(&mut self) {
        self.messages.close();
        self.stop = None;
        // What it was asked before it was closed says nothing any more.
        self.bell = Bell::default();
    }

    /// Whether nobody but the registry can reach the actor, and nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.messages.sender_strong_count() == 1 && self.messages.is_empty() && lock(&self.hand).is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use tokio::{
        sync::{
            Notify,
            oneshot::{Receiver, channel, error::TryRecvError},
        },
        task::{
            JoinHandle,
            coop::{consume_budget, has_budget_remaining},
            yield_now,
        },
        time::timeout,
    };
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::room::PlayerId;

    const QUICK: PlayerId = PlayerId::from_random(1);
    const SLOW: PlayerId = PlayerId::from_random(2);
    const FATAL: PlayerId = PlayerId::from_random(3);

    /// An actor that answers: the quick at once, the slow when its journal has written, and one that is the end of it.
    struct House {
        den: Arc<Den>,
        mailbox: mpsc::Sender<Box<Message>>,
        journal: Arc<Notify>,
        end: CancellationToken,
        task: JoinHandle<()>,
    }

    impl House {
        /// One whose task has not run yet.
        fn new() -> Self {
            let (mailbox, messages) = mpsc::channel(4);
            let (den, journal) = (Arc::new(Den::default()), Arc::new(Notify::new()));
            let end = CancellationToken::new();
            let (mut mail, written) = (den.mail(messages, end.clone()), Arc::clone(&journal));
            let course = async move {
                while let Some(message) = mail.next().await {
                    let Message::Remind(player, told) = *message else { continue };
                    assert_ne!(player, FATAL, "as the test wants it");
                    if player == SLOW {
                        written.notified().await;
                    }
                    told.send(()).unwrap();
                }
            };
            let task = TaskTracker::new().spawn(Arc::clone(&den).run(course));
            Self { den, mailbox, journal, end, task }
        }

        async fn at_rest() -> Self {
            let house = Self::new();
            yield_now().await;
            house
        }

        /// The answer, where the message was taken in.
        fn visit(&self, player: PlayerId) -> Option<Receiver<()>> {
            let (told, answer) = channel();
            self.den.visit(Box::new(Message::Remind(player, told))).ok().map(|()| answer)
        }

        fn write(&self, player: PlayerId) -> Receiver<()> {
            let (told, answer) = channel();
            self.mailbox.try_send(Box::new(Message::Remind(player, told))).map_err(drop).unwrap();
            answer
        }
    }

    #[tokio::test]
    async fn one_at_rest_answers_its_visitor_at_once() {
        let house = House::at_rest().await;
        for _ in 0..3 {
            assert_eq!(house.visit(QUICK).unwrap().try_recv(), Ok(()), "no task had to run");
        }
    }

    #[tokio::test]
    async fn its_task_still_hears_of_the_mailbox_and_of_what_visitors_began() {
        let house = House::at_rest().await;
        house.visit(QUICK).unwrap();
        house.write(QUICK).await.unwrap();
        let slow = house.visit(SLOW).unwrap();
        let behind = house.write(QUICK);
        house.journal.notify_one();
        slow.await.unwrap();
        behind.await.unwrap();
    }

    #[tokio::test]
    async fn one_that_waits_for_its_journal_takes_one_more_message_and_no_third() {
        let house = House::at_rest().await;
        let mut slow = house.visit(SLOW).unwrap();
        let mut second = house.visit(QUICK).unwrap();
        assert!(house.visit(QUICK).is_none());
        assert_eq!((slow.try_recv(), second.try_recv()), (Err(TryRecvError::Empty), Err(TryRecvError::Empty)));
        house.journal.notify_one();
        assert_eq!((slow.await, second.await), (Ok(()), Ok(())));
    }

    #[tokio::test]
    async fn visitors_who_come_during_every_wait_keep_nobody_else_waiting() {
        let house = House::at_rest().await;
        let slow = house.visit(SLOW).unwrap();
        let mut second = house.visit(SLOW).unwrap();
        let mut behind = house.write(QUICK);
        house.journal.notify_one();
        slow.await.unwrap();
        assert_eq!((behind.try_recv(), second.try_recv()), (Ok(()), Err(TryRecvError::Empty)));
        house.journal.notify_one();
        second.await.unwrap();
    }

    #[tokio::test]
    async fn the_stop_leaves_no_visitor_waiting() {
        let house = House::at_rest().await;
        let (slow, mut second) = (house.visit(SLOW).unwrap(), house.visit(QUICK).unwrap());
        house.end.cancel();
        house.journal.notify_one();
        slow.await.unwrap();
        house.task.await.unwrap();
        assert_eq!(second.try_recv(), Err(TryRecvError::Closed), "it hears that there is no answer");
    }

    #[tokio::test]
    async fn a_visitor_with_no_budget_left_keeps_the_mailbox_from_nobody() {
        let house = Arc::new(House::at_rest().await);
        let guest = Arc::clone(&house);
        let visited = TaskTracker::new().spawn(poll_fn(move |context| {
            while has_budget_remaining() {
                let _ = pin!(consume_budget()).poll(context);
            }
            // The mailbox is asked within the visit, and has no answer for one without budget.
            let behind = guest.write(QUICK);
            Poll::Ready((guest.visit(QUICK).unwrap().try_recv(), behind))
        }));
        let (visited, behind) = visited.await.unwrap();
        assert_eq!(visited, Ok(()));
        timeout(Duration::from_secs(60), behind).await.unwrap().unwrap();
    }

    #[test]
    fn one_with_a_message_in_hand_is_not_idle() {
        let den = Den::default();
        let (_mailbox, messages) = mpsc::channel(1);
        let mail = den.mail(messages, CancellationToken::new());
        assert!(mail.is_idle());
        *lock(&den.hand) = Some(Box::new(Message::Unwatched));
        assert!(!mail.is_idle());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn all_are_answered_however_they_meet() {
        let house = Arc::new(House::at_rest().await);
        let (tracker, done) = (TaskTracker::new(), CancellationToken::new());
        let (journal, over) = (Arc::clone(&house.journal), done.clone());
        let disk = tracker.spawn(async move {
            while !over.is_cancelled() {
                journal.notify_one();
                yield_now().await;
            }
        });
        let callers: Vec<_> = (0..4)
            .map(|caller| {
                let house = Arc::clone(&house);
                tracker.spawn(async move {
                    for round in 0..2_000 {
                        let player = if (round + caller) % 8 == 0 { SLOW } else { QUICK };
                        let (told, answer) = channel();
                        let message = Box::new(Message::Remind(player, told));
                        let refused = if round % 3 == 0 { Err(message) } else { house.den.visit(message) };
                        if let Err(message) = refused {
                            house.mailbox.send(message).await.map_err(drop).unwrap();
                        }
                        answer.await.unwrap();
                    }
                })
            })
            .collect();
        for caller in callers {
            timeout(Duration::from_secs(60), caller).await.unwrap().unwrap();
        }
        done.cancel();
        disk.await.unwrap();
    }

    #[tokio::test]
    async fn nobody_visits_one_that_has_not_begun_or_runs() {
        let house = House::new();
        assert!(house.visit(QUICK).is_none(), "nobody knows yet whom it wakes");
        yield_now().await;
        let runs = lock(&house.den.actor);
        assert!(house.visit(QUICK).is_none());
        drop(runs);
        assert!(house.visit(QUICK).is_some());
    }

    #[tokio::test]
    async fn a_panic_ends_the_actor_and_not_its_visitor() {
        let mut house = House::at_rest().await;
        assert!(house.visit(FATAL).unwrap().await.is_err(), "there is no answer");
        (&mut house.task).await.unwrap();
        assert!(house.visit(QUICK).is_none() && house.mailbox.is_closed());
    }

    #[tokio::test]
    async fn it_ends_with_its_mailbox_and_with_the_stop() {
        let House { den, mailbox, task, .. } = House::at_rest().await;
        drop(mailbox);
        task.await.unwrap();
        assert!(den.visit(Box::new(Message::Unwatched)).is_err());
        let house = House::at_rest().await;
        house.end.cancel();
        house.task.await.unwrap();
    }
}
