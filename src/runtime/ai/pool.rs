//! The threads on which AI seats search for moves.
//!
//! ```text
//!   room ──submit──▶ JobQueue ──▶ worker ──▶ answer
//!                                              │
//!                              timekeeper ──stop┘  when its share of the time is used
//! ```
//!
//! Addresses get equal shares of the threads, and so do the players of each address. A search may use its share of the
//! time until its deadline: the more searches of its player wait, the earlier each is stopped, so that all answer in
//! time with the best move found. When a player without a running search needs a thread, a search of a player with
//! several is interrupted and restarted later. Searches that yield run only while no other search waits.
//!
//! Idle threads may ponder: they search the position that will probably be requested next. Any other request stops
//! this.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio::{
    sync::{Notify, oneshot::error::TryRecvError, watch},
    time::timeout,
};

use super::{
    job::{Job, JobResult, Queued, Ticket},
    schedule::{RunningJob, Schedule},
};
use crate::{
    ai::{AiPlayer, Choice},
    rules::Position,
    runtime::{limit::concurrency_limit::ConcurrencyLimit, server_clock::instant},
    search::Stop,
};

/// The function that chooses an AI's move, from the player, the position, a seed and the stop signal. `None` if it
/// found no move. Tests replace it.
pub type Think = dyn Fn(&AiPlayer, Position, u64, &Stop) -> Option<Choice> + Send + Sync;

/// The AI threads. With 0 threads a job runs on the caller's thread, so that simulations are deterministic.
pub(crate) struct MovePool {
    shared: Arc<PoolState>,
    ponders: bool,
    /// Analyses in progress. Threads ponder only while there are none.
    analyses: Arc<ConcurrencyLimit>,
}

/// The outcome of pondering.
pub(crate) enum Pondered {
    /// The complete answer.
    Found(Choice),
    /// The search is still running, now as a requested one.
    Searching(Ticket),
}

/// The load of the AI threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AiLoad {
    /// The number of threads.
    pub threads: usize,
    /// Moves that wait for a thread.
    pub waiting: usize,
    /// Moves chosen since the start.
    pub moves: u64,
    /// Moves since the start with a smaller search than requested, for lack of time.
    pub cheaper_moves: u64,
}

struct PoolState {
    jobs: Mutex<Schedule>,
    work: Condvar,
    time: Condvar,
    /// Threads that have not ended.
    alive: watch::Sender<usize>,
    /// Notified when no job waits for a thread.
    quiet: Notify,
    think: Arc<Think>,
    moves: AtomicU64,
    cheaper: AtomicU64,
}

impl MovePool {
    /// Starts `threads` workers and a timekeeper; 0 starts no thread. `capacity` is the maximum number of waiting quick
    /// jobs, and separately of waiting searches. Fails if the system cannot start a thread.
    pub(crate) fn start(threads: usize, capacity: usize, think: Arc<Think>) -> std::io::Result<Self> {
        let shared = Arc::new(PoolState {
            jobs: Mutex::new(Schedule::new(threads, capacity)),
            work: Condvar::new(),
            time: Condvar::new(),
            alive: watch::Sender::new(if threads == 0 { 0 } else { threads + 1 }),
            quiet: Notify::new(),
            think,
            moves: AtomicU64::new(0),
            cheaper: AtomicU64::new(0),
        });
        let spawn = |name: String, body: Box<dyn FnOnce(&PoolState) + Send>| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name).spawn(move || {
                body(&shared);
                shared.alive.send_modify(|alive| *alive -= 1);
            })
        };
        if threads > 0 {
            spawn("ai-timekeeper".into(), Box::new(PoolState::keep_time))?;
        }
        for index in 0..threads {
            spawn(format!("ai-{index}"), Box::new(move |shared| shared.work(index)))?;
        }
        Ok(Self { shared, ponders: false, analyses: Arc::new(ConcurrencyLimit::new(0)) })
    }

    /// Sets whether idle threads ponder while there are no analyses.
    pub(crate) fn pondering(self, ponders: bool, analyses: Arc<ConcurrencyLimit>) -> Self {
        Self { ponders, analyses, ..self }
    }

    /// Queues a job. Without threads, runs it before returning. If the queue is full, one job is dropped without an
    /// answer.
    pub(crate) fn submit(&self, job: Job) -> Ticket {
        let (queued, ticket) = Queued::new(job);
        let mut state = self.shared.jobs();
        if state.closed {
            return ticket;
        }
        if state.running.is_empty() {
            drop(state);
            self.shared.answer(queued, None);
        } else {
            state.queue.push(queued);
            state.end_pondering();
            let now = instant();
            state.interrupt_for_next(now);
            let is_to_interrupt_later = state.next_interruption(now).is_some();
            drop(state);
            self.shared.work.notify_one();
            if is_to_interrupt_later {
                self.shared.time.notify_one();
            }
        }
        ticket
    }

    /// Starts a job that will probably be requested. `None` if no thread is idle or pondering is not allowed now.
    pub(crate) fn ponder(&self, job: Job) -> Option<Ticket> {
        let mut state = self.shared.jobs();
        if !self.ponders || !self.analyses.is_zero() || state.closed || !state.is_idle() {
            return None;
        }
        let (queued, ticket) = Queued::new(job);
        state.pondered.push(queued);
        drop(state);
        self.shared.work.notify_one();
        Some(ticket)
    }

    /// Stops all pondering.
    pub(crate) fn end_pondering(&self) {
        self.shared.jobs().end_pondering();
    }

    /// Turns a pondered job into a requested one with the times of `job`. `None` if it was stopped or ended without a
    /// complete answer.
    pub(crate) fn claim(&self, mut ticket: Ticket, job: &Job) -> Option<Pondered> {
        let mut state = self.shared.jobs();
        let searching = |running: &&mut RunningJob| running.is_pondered() && running.stop.is(&ticket.stop);
        let running = state.running.iter_mut().flatten().find(searching);
        let pondered = match (ticket.answer.try_recv(), running) {
            (Ok(JobResult::Found(choice)), _) if choice.complete => Pondered::Found(choice),
            (Err(TryRecvError::Empty), Some(running)) if !running.stop.is_stopped() => {
                running.claim(job, instant());
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

    pub(crate) fn count_cheaper(&self) {
        self.shared.cheaper.fetch_add(1, Relaxed);
    }

    /// Waits until no job waits for a thread.
    pub(crate) async fn wait_until_quiet(&self) {
        loop {
            let quiet = self.shared.quiet.notified();
            if self.shared.jobs().queue.len() == 0 {
                return;
            }
            quiet.await;
        }
    }

    pub(crate) fn load(&self) -> AiLoad {
        let state = self.shared.jobs();
        AiLoad {
            threads: state.running.len(),
            waiting: state.queue.len(),
            moves: self.shared.moves.load(Relaxed),
            cheaper_moves: self.shared.cheaper.load(Relaxed),
        }
    }

    /// Stops every search and waits for the threads to end, normally some milliseconds. False if one still runs after
    /// `patience`.
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
        let mut state = self.shared.jobs();
        state.closed = true;
        state.queue.clear();
        state.pondered.clear();
        for running in state.running.iter().flatten() {
            running.stop.stop();
        }
        self.shared.work.notify_all();
        self.shared.time.notify_all();
    }
}

impl PoolState {
    fn jobs(&self) -> MutexGuard<'_, Schedule> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, index: usize) {
        if let Err(error) = set_current_thread_priority(ThreadPriority::Min) {
            tracing::warn!(%error, "AI threads run at the same priority as those that serve players");
        }
        while let Some(queued) = self.next(index) {
            self.answer(queued, Some(index));
        }
    }

    /// Waits for a job and starts to measure its time. `None` once the pool is closed.
    fn next(&self, index: usize) -> Option<Queued> {
        let mut state = self.jobs();
        loop {
            if state.closed {
                return None;
            }
            if let Some(queued) = state.start_next(index, instant()) {
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

    /// Runs a job, on the worker with this index or on the caller's thread.
    fn answer(&self, queued: Queued, worker: Option<usize>) {
        let Queued { job, stop, answer, span, .. } = queued;
        let _room = span.enter();
        let think = || (self.think)(&job.player, job.position, job.seed, &stop);
        // The room may have stopped waiting.
        let is_wanted = !answer.is_closed();
        let found = if is_wanted { catch_unwind(AssertUnwindSafe(think)) } else { Ok(None) };
        let choice = found.unwrap_or_else(|_| {
            tracing::error!(kind = %job.player.kind(), position = %job.position, "an AI panicked");
            None
        });
        let is_complete = choice.as_ref().is_some_and(|choice| choice.complete);
        // Under one lock: the worker is free and its time is counted before the answer is received. So the room's next
        // job finds the worker idle, and a pondered job can be claimed at any time.
        let mut state = self.jobs();
        let running = worker.and_then(|index| state.running[index].take());
        let searched = running.as_ref().and_then(|running| running.time_to_restart(instant()));
        if let Some(searched) = searched.filter(|_| !is_complete) {
            drop(running);
            let _ = answer.send(JobResult::Interrupted(searched));
            return;
        }
        // A pondered job may have been requested meanwhile.
        if is_wanted && !running.as_ref().is_some_and(RunningJob::is_pondered) {
            let is_cheaper = choice.is_some() && !is_complete && !answer.is_closed();
            self.moves.fetch_add(1, Relaxed);
            self.cheaper.fetch_add(is_cheaper.into(), Relaxed);
        }
        drop(running);
        let _ = answer.send(choice.map_or(JobResult::NotFound, JobResult::Found));
    }

    /// Stops each search when its time is over, or when another job should get its thread.
    fn keep_time(&self) {
        let mut state = self.jobs();
        while !state.closed {
            let now = instant();
            for running in state.running.iter_mut().flatten() {
                if running.until <= now {
                    running.stop.stop();
                } else if running.enough.take_if(|enough| *enough <= now).is_some() {
                    running.stop.wind_down();
                }
            }
            state.interrupt_for_next(now);
            let due = state.running.iter().flatten().filter_map(RunningJob::due);
            let next = due.chain(state.next_interruption(now)).min();
            state = match next {
                Some(next) => self.time.wait_timeout(state, next - now).unwrap_or_else(PoisonError::into_inner).0,
                None => self.time.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::{ai::AiKind, runtime::limit::search_use::SearchUser};

    #[tokio::test]
    async fn the_pool_is_quiet_when_no_job_waits() {
        let (release, waits) = std::sync::mpsc::sync_channel(2);
        let waits = Mutex::new(waits);
        let think = move |_: &AiPlayer, _, _, _: &Stop| {
            waits.lock().unwrap().recv().unwrap();
            None
        };
        let pool = MovePool::start(1, 10, Arc::new(think)).unwrap();
        pool.wait_until_quiet().await;
        let _tickets = [pool.submit(job(AiKind::Random)), pool.submit(job(AiKind::Random))];
        let mut quiet = std::pin::pin!(pool.wait_until_quiet());
        // The second waits for the first.
        assert!(tokio::time::timeout(Duration::ZERO, &mut quiet).await.is_err());
        release.send(()).unwrap();
        quiet.await;
        release.send(()).unwrap();
        assert!(pool.shut_down(Duration::from_secs(9)).await);
    }

    #[tokio::test]
    async fn without_threads_a_job_runs_on_the_callers_thread() {
        let here = std::thread::current().id();
        let think = move |player: &AiPlayer, position, seed, stop: &Stop| {
            assert_eq!(std::thread::current().id(), here);
            player.choose(position, seed, stop)
        };
        let pool = MovePool::start(0, 1, Arc::new(think)).unwrap();
        let player = AiPlayer::new(AiKind::AlphaBeta, 1).unwrap();
        for moves in 1..=3 {
            // It is not stopped, even after its deadline.
            let job = Job { deadline: instant(), ..job(AiKind::AlphaBeta) };
            let Ok(JobResult::Found(choice)) = pool.submit(job).answer.try_recv() else { panic!("it has run") };
            assert_eq!(Some(choice), player.choose(Position::START, 7, &Stop::new()));
            assert_eq!(pool.load(), AiLoad { threads: 0, waiting: 0, moves, cheaper_moves: 0 });
        }
        assert!(pool.shut_down(Duration::ZERO).await);
    }

    #[tokio::test]
    async fn a_search_winds_down_once_enough_time_has_passed() {
        // Independent of the speed of the machine: `enough` has passed at the start.
        let think = |player: &AiPlayer, position, seed, stop: &Stop| {
            while !stop.is_winding_down() {
                std::thread::yield_now();
            }
            assert!(!stop.is_stopped());
            player.choose(position, seed, stop)
        };
        let pool = MovePool::start(1, 1, Arc::new(think)).unwrap();
        let job = Job { enough: Some(instant()), ..job(AiKind::Greedy) };
        assert!(answer(pool.submit(job)).await.complete);
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    /// A pool of one thread in which a search lasts until its flag is raised, and reports its start.
    fn pondering(ponders: bool) -> (MovePool, std::sync::mpsc::Receiver<Position>) {
        let (begun, begins) = std::sync::mpsc::sync_channel(9);
        let think = move |player: &AiPlayer, position, seed, stop: &Stop| {
            begun.send(position).unwrap();
            while player.kind() != AiKind::Greedy && !stop.is_winding_down() {
                std::thread::yield_now();
            }
            player.choose(position, seed, stop).map(|choice| Choice { complete: !stop.is_stopped(), ..choice })
        };
        (MovePool::start(1, 9, Arc::new(think)).unwrap().pondering(ponders, Arc::new(ConcurrencyLimit::new(1))), begins)
    }

    fn job(kind: AiKind) -> Job {
        due(kind, instant() + Duration::from_secs(60))
    }

    fn due(kind: AiKind, deadline: Instant) -> Job {
        Job::sample(kind, &SearchUser::unknown(), deadline)
    }

    async fn answer(mut ticket: Ticket) -> Choice {
        let Ok(JobResult::Found(choice)) = (&mut ticket.answer).await else { panic!("no move") };
        choice
    }

    #[tokio::test]
    async fn a_pondered_search_continues_when_requested() {
        let (pool, begins) = pondering(true);
        let ticket = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        assert!(pool.ponder(job(AiKind::Expert)).is_none(), "no thread is idle");
        let now_enough = Job { enough: Some(instant()), ..job(AiKind::Expert) };
        let Some(Pondered::Searching(ticket)) = pool.claim(ticket, &now_enough) else { panic!("the search still ran") };
        assert!(answer(ticket).await.complete);
        // A found move is returned at once.
        let ticket = pool.ponder(job(AiKind::Greedy)).unwrap();
        begins.recv().unwrap();
        while pool.shared.jobs().running[0].is_some() {
            std::thread::yield_now();
        }
        assert!(matches!(pool.claim(ticket, &job(AiKind::Greedy)), Some(Pondered::Found(choice)) if choice.complete));
        assert_eq!(pool.load().moves, 2);
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn a_requested_pondered_search_that_is_stopped_counts_as_cheaper() {
        let (pool, begins) = pondering(true);
        let ticket = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        let Some(Pondered::Searching(ticket)) = pool.claim(ticket, &due(AiKind::Expert, instant())) else {
            panic!("the search still ran")
        };
        assert!(!answer(ticket).await.complete);
        assert_eq!((pool.load().moves, pool.load().cheaper_moves), (1, 1));
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn pondering_ends_when_a_job_is_requested() {
        let (pool, begins) = pondering(true);
        let ahead = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        let requested = pool.submit(job(AiKind::Greedy));
        assert!(answer(requested).await.complete);
        assert!(pool.claim(ahead, &job(AiKind::Expert)).is_none());
        assert_eq!((pool.load().moves, pool.load().cheaper_moves), (1, 0));
        let ahead = pool.ponder(job(AiKind::Expert)).unwrap();
        begins.recv().unwrap();
        pool.end_pondering();
        assert!(pool.claim(ahead, &job(AiKind::Expert)).is_none());
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn nothing_is_pondered_when_disabled() {
        let (pool, _begins) = pondering(false);
        assert!(pool.ponder(job(AiKind::Greedy)).is_none());
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }

    #[tokio::test]
    async fn an_interrupted_search_is_no_move_and_its_time_counts() {
        let (pool, begins) = pondering(false);
        let ada = SearchUser::unknown();
        let deadline = instant() + Duration::from_secs(3_600);
        let [mut first, _second] = [(); 2].map(|()| pool.submit(Job::sample(AiKind::Expert, &ada, deadline)));
        begins.recv().unwrap();
        assert!(answer(pool.submit(job(AiKind::Greedy))).await.complete);
        assert!(matches!((&mut first.answer).await, Ok(JobResult::Interrupted(_))));
        assert_eq!((pool.load().moves, pool.load().cheaper_moves), (1, 0));
        assert!(!ada.player.load(instant()).1.is_zero());
        assert!(pool.shut_down(Duration::from_secs(60)).await);
    }
}
