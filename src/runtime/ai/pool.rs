//! Threads on which AI seats think, beside the threads that serve players.
//!
//! ```text
//!   room ──submit──▶ queue (searches and quick ones apart) ──▶ worker ──▶ answer
//!                                                                │
//!                                                timekeeper ──stop┘  when its share of the time is used
//! ```
//!
//! A search gets its fair share of the time to its deadline: the more wait, the sooner each is stopped, so that all
//! of them answer in time with what they have found.
//!
//! Threads that nobody needs may ponder: search what will probably be asked next. Whatever is asked for meanwhile ends
//! that at once, but for the very question, which has its answer the sooner.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio::{
    sync::{Notify, oneshot::error::TryRecvError, watch},
    time::timeout,
};

use super::queue::{Full, Job, Queue, Queued, Ticket};
use crate::{
    ai::{AiPlayer, Choice},
    rules::Position,
    runtime::clock::instant,
    search::Stop,
};

/// How an AI's choice is made; a seam for tests, which make one fail.
pub type Think = dyn Fn(&AiPlayer, Position, u64, &Stop) -> Option<Choice> + Send + Sync;

/// The AI threads. Without any, whoever asks for a move makes it: one seed is then one course of events.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    ponders: bool,
}

/// What pondering is good for.
pub(crate) enum Pondered {
    /// The answer, complete.
    Found(Choice),
    /// A search that goes on as one that was asked for.
    Searching(Ticket),
}

/// How busy the AI threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AiLoad {
    /// Threads that search.
    pub threads: usize,
    /// Moves that wait.
    pub waiting: usize,
    /// Moves made since the start.
    pub moves: u64,
    /// Moves that were cheaper than asked for, because the time did not suffice.
    pub cheaper_moves: u64,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    time: Condvar,
    /// Threads that have not ended.
    alive: watch::Sender<usize>,
    /// Nothing waits for a thread any more.
    quiet: Notify,
    think: Arc<Think>,
    moves: AtomicU64,
    cheaper: AtomicU64,
}

struct State {
    queue: Queue,
    /// Those to ponder, as many as there are threads at most.
    ahead: Vec<Queued>,
    /// What each worker is at, and when it is to stop.
    running: Vec<Option<Running>>,
    closed: bool,
}

#[derive(Clone)]
struct Running {
    /// When it is to wind down.
    enough: Option<Instant>,
    until: Instant,
    stop: Stop,
    /// Nobody has asked for it yet.
    pondering: bool,
}

impl State {
    /// Whether no thread does what was asked for, and one does nothing at all.
    fn is_idle(&self) -> bool {
        let busy = self.running.iter().flatten().count();
        let asked = self.running.iter().flatten().any(|running| !running.pondering) || self.queue.len() > 0;
        !asked && busy + self.ahead.len() < self.running.len()
    }

    fn end_pondering(&mut self) {
        self.ahead.clear();
        for running in self.running.iter().flatten().filter(|running| running.pondering) {
            running.stop.stop();
        }
    }
}

impl Running {
    /// When something is to be done next.
    fn due(&self) -> Instant {
        self.enough.map_or(self.until, |enough| enough.min(self.until))
    }
}

impl Pool {
    /// Starts `threads` workers and their timekeeper; nothing when there are to be none.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(threads: usize, capacity: usize, think: Arc<Think>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: Queue::new(capacity),
                ahead: Vec::new(),
                running: vec![None; threads],
                closed: false,
            }),
            work: Condvar::new(),
            time: Condvar::new(),
            alive: watch::Sender::new(if threads == 0 { 0 } else { threads + 1 }),
            quiet: Notify::new(),
            think,
            moves: AtomicU64::new(0),
            cheaper: AtomicU64::new(0),
        });
        let spawn = |name: String, body: Box<dyn FnOnce(&Shared) + Send>| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name).spawn(move || {
                body(&shared);
                shared.alive.send_modify(|alive| *alive -= 1);
            })
        };
        if threads > 0 {
            spawn("ai-timekeeper".into(), Box::new(Shared::keep_time))?;
        }
        for index in 0..threads {
            spawn(format!("ai-{index}"), Box::new(move |shared| shared.work(index)))?;
        }
        Ok(Self { shared, ponders: false })
    }

    /// The same pool, whose idle threads ponder or not.
    pub(crate) fn pondering(self, ponders: bool) -> Self {
        Self { ponders, ..self }
    }

    /// Queues a job; without threads it is answered when this returns, however long it takes.
    pub(crate) fn submit(&self, job: Job) -> Result<Ticket, Full> {
        let (queued, ticket) = Queued::new(job);
        let mut state = self.shared.state();
        if state.closed {
            return Err(Full);
        }
        if state.running.is_empty() {
            drop(state);
            self.shared.answer(queued, None);
        } else {
            state.queue.push(queued)?;
            state.end_pondering();
            drop(state);
            self.shared.work.notify_one();
        }
        Ok(ticket)
    }

    /// Begins a job that will probably be asked for, when there is nothing else to do.
    pub(crate) fn ponder(&self, job: Job) -> Option<Ticket> {
        let mut state = self.shared.state();
        if !self.ponders || state.closed || !state.is_idle() {
            return None;
        }
        let (queued, ticket) = Queued::new(job);
        state.ahead.push(queued);
        drop(state);
        self.shared.work.notify_one();
        Some(ticket)
    }

    /// Stops all pondering, for whoever else needs the processor.
    pub(crate) fn end_pondering(&self) {
        self.shared.state().end_pondering();
    }

    /// Asks for what was pondered, with its times from now on. `None` when it was ended before.
    pub(crate) fn claim(&self, mut ticket: Ticket, enough: Option<Instant>, deadline: Instant) -> Option<Pondered> {
        let mut state = self.shared.state();
        let searching = |running: &&mut Running| running.pondering && running.stop.is(&ticket.stop);
        let running = state.running.iter_mut().flatten().find(searching);
        let pondered = match (ticket.answer.try_recv(), running) {
            (Ok(Some(choice)), _) if choice.complete => Pondered::Found(choice),
            (Err(TryRecvError::Empty), Some(running)) if !running.stop.is_stopped() => {
                (running.enough, running.until, running.pondering) = (enough, deadline, false);
                Pondered::Searching(ticket)
            }
            _ => return None,
        };
        drop(state);
        match pondered {
            Pondered::Found(_) => drop(self.shared.moves.fetch_add(1, Relaxed)),
            Pondered::Searching(_) => self.shared.time.notify_one(),
        }
        Some(pondered)
    }

    /// Notes a move that was cheaper than asked for.
    pub(crate) fn count_cheaper(&self) {
        self.shared.cheaper.fetch_add(1, Relaxed);
    }

    /// Waits until no move waits for a thread.
    pub(crate) async fn is_quiet(&self) {
        loop {
            let quiet = self.shared.quiet.notified();
            if self.shared.state().queue.len() == 0 {
                return;
            }
            quiet.await;
        }
    }

    pub(crate) fn load(&self) -> AiLoad {
        let state = self.shared.state();
        AiLoad {
            threads: state.running.len(),
            waiting: state.queue.len(),
            moves: self.shared.moves.load(Relaxed),
            cheaper_moves: self.shared.cheaper.load(Relaxed),
        }
    }

    /// Stops every search and waits for the threads to end: a few milliseconds, unless an AI does not listen. Such a one
    /// is left behind after `patience`, and the answer is false.
    pub(crate) async fn shut_down(&self, patience: Duration) -> bool {
        self.close();
        let mut alive = self.shared.alive.subscribe();
        let ended = timeout(patience, alive.wait_for(|&alive| alive == 0)).await.is_ok();
        if !ended {
            tracing::error!("an AI thread did not end in time");
        }
        ended
    }

    fn close(&self) {
        let mut state = self.shared.state();
        state.closed = true;
        state.queue.clear();
        state.ahead.clear();
        for running in state.running.iter().flatten() {
            running.stop.stop();
        }
        self.shared.work.notify_all();
        self.shared.time.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, index: usize) {
        if let Err(error) = set_current_thread_priority(ThreadPriority::Min) {
            tracing::warn!(%error, "AI threads run at the same priority as those that serve players");
        }
        while let Some(queued) = self.next(index) {
            self.answer(queued, Some(index));
        }
    }

    /// Waits for a job and sets its share of the time; none when the pool is closed.
    fn next(&self, index: usize) -> Option<Queued> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            let threads = state.running.len();
            let asked = state.queue.take(index, threads, instant());
            let pondering = asked.is_none();
            let ahead = |queued: Queued| {
                let until = queued.job.deadline;
                (queued, until)
            };
            if let Some((queued, until)) = asked.or_else(|| state.ahead.pop().map(ahead)) {
                let (enough, stop) = (queued.job.enough, queued.stop.clone());
                state.running[index] = Some(Running { enough, until, stop, pondering });
                if state.queue.len() == 0 {
                    self.quiet.notify_waiters();
                }
                drop(state);
                self.time.notify_one();
                return Some(queued);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes a job's choice, on the worker of this number if it is one.
    fn answer(&self, queued: Queued, worker: Option<usize>) {
        let Queued { job, stop, answer, span, .. } = queued;
        let _room = span.enter();
        let think = || (self.think)(&job.player, job.position, job.seed, &stop);
        // The room may have gone on without it, now or when it is found.
        let is_wanted = !answer.is_closed();
        let found = if is_wanted { catch_unwind(AssertUnwindSafe(think)) } else { Ok(None) };
        let choice = found.unwrap_or_else(|_| {
            tracing::error!(kind = %job.player.kind(), position = %job.position, "an AI panicked");
            None
        });
        // The worker is free before its answer is known, so that whoever has it may ask for more at once; and both at
        // once, so that what was pondered can be claimed at any time.
        let mut state = self.state();
        let running = worker.and_then(|index| state.running[index].take());
        // What was pondered at first may have been asked for meanwhile.
        if is_wanted && !running.is_some_and(|running| running.pondering) {
            let is_cheaper = choice.as_ref().is_some_and(|choice| !choice.complete) && !answer.is_closed();
            self.moves.fetch_add(1, Relaxed);
            self.cheaper.fetch_add(is_cheaper.into(), Relaxed);
        }
        let _ = answer.send(choice);
    }

    /// Stops each search when its time is used.
    fn keep_time(&self) {
        let mut state = self.state();
        while !state.closed {
            let now = instant();
            for slot in &mut state.running {
                if let Some(running) = slot.take_if(|running| running.until <= now) {
                    running.stop.stop();
                }
            }
            for running in state.running.iter_mut().flatten() {
                if running.enough.take_if(|enough| *enough <= now).is_some() {
                    running.stop.wind_down();
                }
            }
            let next = state.running.iter().flatten().map(Running::due).min();
            state = match next {
                Some(next) => self.time.wait_timeout(state, next - now).unwrap_or_else(PoisonError::into_inner).0,
                None => self.time.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ai::AiKind;

    #[tokio::test]
    async fn it_is_quiet_when_nothing_waits() {
        let (goes_on, waits) = std::sync::mpsc::sync_channel(2);
        let waits = Mutex::new(waits);
        let think = move |_: &AiPlayer, _, _, _: &Stop| {
            waits.lock().unwrap().recv().unwrap();
            None
        };
        let pool = Pool::start(1, 10, Arc::new(think)).unwrap();
        pool.is_quiet().await;
        let player = AiPlayer::new(AiKind::Random, 1).unwrap();
        let job = || Job {
            player,
            position: Position::START,
            seed: 7,
            deadline: instant() + Duration::from_secs(9),
            enough: None,
        };
        let _tickets = [pool.submit(job()).unwrap(), pool.submit(job()).unwrap()];
        let mut quiet = std::pin::pin!(pool.is_quiet());
        // The second is behind the first.
        assert!(tokio::time::timeout(Duration::ZERO, &mut quiet).await.is_err());
        goes_on.send(()).unwrap();
        quiet.await;
        goes_on.send(()).unwrap();
        assert!(pool.shut_down(Duration::from_secs(9)).await);
    }

    #[tokio::test]
    async fn without_threads_a_job_is_done_where_it_is_asked_for() {
        let here = std::thread::current().id();
        let think = move |player: &AiPlayer, position, seed, stop: &Stop| {
            assert_eq!(std::thread::current().id(), here);
            player.choose(position, seed, stop)
        };
        let pool = Pool::start(0, 1, Arc::new(think)).unwrap();
        let player = AiPlayer::new(AiKind::AlphaBeta, 1).unwrap();
        for moves in 1..=3 {
            // Nobody stops it, even when its time is over.
            let job = Job { player, position: Position::START, seed: 7, enough: None, deadline: instant() };
            let mut ticket = pool.submit(job).unwrap();
            let choice = ticket.answer.try_recv().unwrap().unwrap();
            assert_eq!(Some(choice), player.choose(Position::START, 7, &Stop::new()));
            assert_eq!(pool.load(), AiLoad { threads: 0, waiting: 0, moves, cheaper_moves: 0 });
        }
        assert!(pool.shut_down(Duration::ZERO).await);
    }

    #[tokio::test]
    async fn a_search_is_told_when_it_has_thought_enough() {
        // Patient enough for any machine: the flag goes up half at once.
        let think = |player: &AiPlayer, position, seed, stop: &Stop| {
            while !stop.is_winding_down() {
                std::thread::yield_now();
            }
            assert!(!stop.is_stopped());
            player.choose(position, seed, stop)
        };
        let pool = Pool::start(1, 1, Arc::new(think)).unwrap();
        let player = AiPlayer::new(AiKind::Greedy, 1).unwrap();
        let (enough, deadline) = (Some(instant()), instant() + Duration::from_secs(60));
        let job = Job { player, position: Position::START, seed: 7, enough, deadline };
        assert!(answer(pool.submit(job).unwrap()).await.complete);
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    /// A pool of one thread in which a search lasts until its flag is raised, and tells when it begins.
    fn pondering(ponders: bool) -> (Pool, std::sync::mpsc::Receiver<Position>) {
        let (begun, begins) = std::sync::mpsc::sync_channel(9);
        let think = move |player: &AiPlayer, position, seed, stop: &Stop| {
            begun.send(position).unwrap();
            while player.kind() != AiKind::Greedy && !stop.is_winding_down() {
                std::thread::yield_now();
            }
            player.choose(position, seed, stop).map(|choice| Choice { complete: !stop.is_stopped(), ..choice })
        };
        (Pool::start(1, 9, Arc::new(think)).unwrap().pondering(ponders), begins)
    }

    fn job(kind: AiKind) -> Job {
        let player = AiPlayer::new(kind, 1).unwrap();
        let deadline = instant() + Duration::from_secs(60);
        Job { player, position: Position::START, seed: 7, enough: None, deadline }
    }

    async fn answer(mut ticket: Ticket) -> Choice {
        (&mut ticket.answer).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn what_was_pondered_goes_on_when_it_is_asked_for() {
        let (pool, begins) = pondering(true);
        let ticket = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        assert!(pool.ponder(job(AiKind::Expert)).is_none(), "no thread is idle");
        let deadline = instant() + Duration::from_secs(60);
        let Some(Pondered::Searching(ticket)) = pool.claim(ticket, Some(instant()), deadline) else {
            panic!("it was still searched")
        };
        assert!(answer(ticket).await.complete);
        // What has been found is there at once.
        let ticket = pool.ponder(job(AiKind::Greedy)).unwrap();
        begins.recv().unwrap();
        while pool.shared.state().running[0].is_some() {
            std::thread::yield_now();
        }
        assert!(matches!(pool.claim(ticket, None, deadline), Some(Pondered::Found(choice)) if choice.complete));
        assert_eq!(pool.load().moves, 2);
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn what_was_pondered_and_is_stopped_when_it_is_asked_for_is_cheaper() {
        let (pool, begins) = pondering(true);
        let ticket = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        let Some(Pondered::Searching(ticket)) = pool.claim(ticket, None, instant()) else {
            panic!("it was still searched")
        };
        assert!(!answer(ticket).await.complete);
        assert_eq!((pool.load().moves, pool.load().cheaper_moves), (1, 1));
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn pondering_ends_when_anything_is_asked_for() {
        let (pool, begins) = pondering(true);
        let ahead = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        let asked = pool.submit(job(AiKind::Greedy)).unwrap();
        assert!(answer(asked).await.complete);
        assert!(pool.claim(ahead, None, instant()).is_none());
        assert_eq!((pool.load().moves, pool.load().cheaper_moves), (1, 0));
        let ahead = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        pool.end_pondering();
        assert!(pool.claim(ahead, None, instant()).is_none());
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn nothing_is_pondered_unless_it_is_wanted() {
        let (pool, _begins) = pondering(false);
        assert!(pool.ponder(job(AiKind::Greedy)).is_none());
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }
}
