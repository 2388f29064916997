//! Threads on which AI seats think, beside the threads that serve players.
//!
//! ```text
//!   room ──submit──▶ queue (quick ones first, then the nearest deadline) ──▶ worker ──▶ answer
//!                                                             │
//!                                             timekeeper ──stop┘  when its share of the time is used
//! ```
//!
//! A search gets its fair share of the time to its deadline: the more wait, the sooner each is stopped, so that all
//! of them answer in time with what they have found.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio::sync::oneshot;

use super::entropy::instant;
use crate::{
    ai::{AiKind, AiPlayer, Choice},
    rules::Position,
    search::Stop,
};

/// How an AI's choice is made; a seam for tests, which make one fail.
pub type Think = dyn Fn(&AiPlayer, Position, u64, &Stop) -> Option<Choice> + Send + Sync;

/// A move to be found.
pub(super) struct Job {
    pub(super) player: AiPlayer,
    pub(super) position: Position,
    pub(super) seed: u64,
    pub(super) deadline: Instant,
}

/// A submitted job. Dropping it stops the search.
pub(super) struct Ticket {
    pub(super) answer: oneshot::Receiver<Option<Choice>>,
    stop: Stop,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The AI threads. Without any, whoever asks for a move makes it: one seed is then one course of events.
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
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
    ended: Condvar,
    think: Arc<Think>,
    capacity: usize,
    moves: AtomicU64,
    cheaper: AtomicU64,
}

struct State {
    queue: BinaryHeap<Queued>,
    /// What each worker is at, and when it is to stop.
    running: Vec<Option<(Instant, Stop)>>,
    arrivals: u64,
    closed: bool,
    /// Threads that have not ended.
    alive: usize,
}

struct Queued {
    quick: bool,
    arrival: u64,
    job: Job,
    stop: Stop,
    answer: oneshot::Sender<Option<Choice>>,
}

impl Pool {
    /// Starts `threads` workers and their timekeeper; nothing when there are to be none.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(threads: usize, capacity: usize, think: Arc<Think>) -> std::io::Result<Self> {
        let alive = if threads == 0 { 0 } else { threads + 1 };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: BinaryHeap::new(),
                running: vec![None; threads],
                arrivals: 0,
                closed: false,
                alive,
            }),
            work: Condvar::new(),
            time: Condvar::new(),
            ended: Condvar::new(),
            think,
            capacity,
            moves: AtomicU64::new(0),
            cheaper: AtomicU64::new(0),
        });
        let spawn = |name: String, body: Box<dyn FnOnce(&Shared) + Send>| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name).spawn(move || {
                body(&shared);
                shared.state().alive -= 1;
                shared.ended.notify_all();
            })
        };
        let mut handles = Vec::with_capacity(alive);
        if threads > 0 {
            handles.push(spawn("ai-timekeeper".into(), Box::new(Shared::keep_time))?);
        }
        for index in 0..threads {
            handles.push(spawn(format!("ai-{index}"), Box::new(move |shared| shared.work(index)))?);
        }
        Ok(Self { shared, threads: Mutex::new(handles) })
    }

    /// Queues a job; without threads it is answered when this returns, however long it takes.
    pub(super) fn submit(&self, job: Job) -> Result<Ticket, Full> {
        let (sender, answer) = oneshot::channel();
        let stop = Stop::new();
        let mut state = self.shared.state();
        if state.closed || state.queue.len() >= self.shared.capacity {
            return Err(Full);
        }
        state.arrivals += 1;
        let queued = Queued {
            quick: is_quick(job.player.kind()),
            arrival: state.arrivals,
            job,
            stop: stop.clone(),
            answer: sender,
        };
        if state.running.is_empty() {
            drop(state);
            self.shared.answer(queued);
        } else {
            state.queue.push(queued);
            drop(state);
            self.shared.work.notify_one();
        }
        Ok(Ticket { answer, stop })
    }

    /// Notes a move that was cheaper than asked for.
    pub(super) fn count_cheaper(&self) {
        self.shared.cheaper.fetch_add(1, Relaxed);
    }

    pub(super) fn load(&self) -> AiLoad {
        let state = self.shared.state();
        AiLoad {
            threads: state.running.len(),
            waiting: state.queue.len(),
            moves: self.shared.moves.load(Relaxed),
            cheaper_moves: self.shared.cheaper.load(Relaxed),
        }
    }

    /// Stops every search and joins the threads: a few milliseconds, unless an AI does not listen. Such a one is left
    /// behind after `patience`, and the answer is false.
    pub(super) fn shut_down(&self, patience: Duration) -> bool {
        let mut state = self.shared.state();
        state.closed = true;
        state.queue.clear();
        for (_, stop) in state.running.iter().flatten() {
            stop.stop();
        }
        drop(state);
        self.shared.work.notify_all();
        self.shared.time.notify_all();
        let ended = self.shared.ended.wait_timeout_while(self.shared.state(), patience, |state| state.alive > 0);
        if ended.is_err() || ended.is_ok_and(|(_, waited)| waited.timed_out()) {
            tracing::error!("an AI thread did not end in time");
            return false;
        }
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("an AI thread ended by a panic");
            }
        }
        true
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
            self.answer(queued);
            self.state().running[index] = None;
        }
    }

    /// Waits for a job and sets its share of the time; none when the pool is closed.
    fn next(&self, index: usize) -> Option<Queued> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(queued) = state.queue.pop() {
                let until = instant() + share(&queued.job, &state);
                state.running[index] = Some((until, queued.stop.clone()));
                drop(state);
                self.time.notify_one();
                return Some(queued);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn answer(&self, queued: Queued) {
        let Queued { job, stop, answer, .. } = queued;
        if answer.is_closed() {
            return;
        }
        let found = catch_unwind(AssertUnwindSafe(|| (self.think)(&job.player, job.position, job.seed, &stop)));
        self.moves.fetch_add(1, Relaxed);
        match found {
            Ok(choice) => {
                if choice.is_some_and(|choice| !choice.complete) && !answer.is_closed() {
                    self.cheaper.fetch_add(1, Relaxed);
                }
                // The room may have gone on without it.
                let _ = answer.send(choice);
            }
            Err(_) => {
                tracing::error!(kind = %job.player.kind(), position = %job.position, "an AI panicked");
                let _ = answer.send(None);
            }
        }
    }

    /// Stops each search when its time is used.
    fn keep_time(&self) {
        let mut state = self.state();
        while !state.closed {
            let now = instant();
            for running in &mut state.running {
                if let Some((_, stop)) = running.take_if(|(until, _)| *until <= now) {
                    stop.stop();
                }
            }
            let next = state.running.iter().flatten().map(|&(until, _)| until).min();
            state = match next {
                Some(next) => self.time.wait_timeout(state, next - now).unwrap_or_else(PoisonError::into_inner).0,
                None => self.time.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Whether a kind looks at one position only, and so takes microseconds.
fn is_quick(kind: AiKind) -> bool {
    matches!(kind, AiKind::Random | AiKind::Greedy | AiKind::Roxanne)
}

/// The time a job may use: its part of what is left to its deadline, when all that wait have as much to do.
fn share(job: &Job, state: &State) -> Duration {
    let threads = u32::try_from(state.running.len()).unwrap_or(u32::MAX);
    let waiting = u32::try_from(state.queue.len()).unwrap_or(u32::MAX).saturating_add(1);
    let left = job.deadline.saturating_duration_since(instant());
    left * threads.min(waiting) / waiting
}

/// The greatest is served first: quick players, then the nearest deadline, then the first to come.
impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        self.quick
            .cmp(&other.quick)
            .then_with(|| other.job.deadline.cmp(&self.job.deadline))
            .then_with(|| other.arrival.cmp(&self.arrival))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_threads_a_job_is_done_where_it_is_asked_for() {
        let here = std::thread::current().id();
        let think = move |player: &AiPlayer, position, seed, stop: &Stop| {
            assert_eq!(std::thread::current().id(), here);
            player.choose(position, seed, stop)
        };
        let pool = Pool::start(0, 1, Arc::new(think)).unwrap();
        let player = AiPlayer::new(AiKind::AlphaBeta, 1).unwrap();
        for moves in 1..=3 {
            // Nobody stops it, even when its time is over.
            let job = Job { player, position: Position::START, seed: 7, deadline: instant() };
            let mut ticket = pool.submit(job).unwrap();
            let choice = ticket.answer.try_recv().unwrap().unwrap();
            assert_eq!(Some(choice), player.choose(Position::START, 7, &Stop::new()));
            assert_eq!(pool.load(), AiLoad { threads: 0, waiting: 0, moves, cheaper_moves: 0 });
        }
        assert!(pool.shut_down(Duration::ZERO));
    }
}
