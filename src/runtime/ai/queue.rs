//! The queue of AI moves that wait for a thread.
//!
//! Quick jobs and searches have separate queues, so that neither starves the other: the first of several threads
//! prefers quick jobs, the others searches; a single thread does [`QUICK_IN_A_ROW`] quick jobs before each search.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use tracing::Span;

use crate::{
    ai::{AiKind, AiPlayer, Choice},
    rules::Position,
    search::Stop,
};

/// Quick jobs that a single thread does while a search waits: a millisecond of work.
const QUICK_IN_A_ROW: u32 = 64;

/// A search for a move.
pub(crate) struct Job {
    pub(crate) player: AiPlayer,
    pub(crate) position: Position,
    pub(crate) seed: u64,
    /// After this no new iteration is started.
    pub(crate) enough: Option<Instant>,
    pub(crate) deadline: Instant,
}

/// A submitted job. Dropping it stops the search.
pub(crate) struct Ticket {
    pub(crate) answer: oneshot::Receiver<Option<Choice>>,
    pub(crate) stop: Stop,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The error of a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// A job with the sending end of its ticket.
pub(crate) struct Queued {
    pub(crate) job: Job,
    pub(crate) stop: Stop,
    pub(crate) answer: oneshot::Sender<Option<Choice>>,
    /// The caller's span.
    pub(crate) span: Span,
    arrival: u64,
}

impl Queued {
    pub(crate) fn new(job: Job) -> (Self, Ticket) {
        let (sender, answer) = oneshot::channel();
        let stop = Stop::new();
        let ticket = Ticket { answer, stop: stop.clone() };
        (Self { job, stop, answer: sender, span: Span::current(), arrival: 0 }, ticket)
    }

    /// Whether its ticket was dropped.
    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}

pub(crate) struct JobQueue {
    quick: BinaryHeap<Queued>,
    searches: BinaryHeap<Queued>,
    /// The bound of each queue.
    capacity: usize,
    arrivals: u64,
    /// Quick jobs taken since the last search.
    quick_in_a_row: u32,
}

impl JobQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { quick: BinaryHeap::new(), searches: BinaryHeap::new(), capacity, arrivals: 0, quick_in_a_row: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.quick.len() + self.searches.len()
    }

    pub(crate) fn clear(&mut self) {
        self.quick.clear();
        self.searches.clear();
    }

    pub(crate) fn push(&mut self, mut queued: Queued) -> Result<(), QueueFull> {
        let sort = if is_quick(queued.job.player.kind()) { &mut self.quick } else { &mut self.searches };
        if sort.len() >= self.capacity {
            sort.retain(|queued| !queued.is_abandoned());
            if sort.len() >= self.capacity {
                return Err(QueueFull);
            }
        }
        self.arrivals += 1;
        queued.arrival = self.arrivals;
        sort.push(queued);
        Ok(())
    }

    /// The next job of a thread, counted from 0, and its deadline.
    pub(crate) fn pop(&mut self, thread: usize, threads: usize, now: Instant) -> Option<(Queued, Instant)> {
        let quick_first = if threads > 1 { thread == 0 } else { self.quick_in_a_row < QUICK_IN_A_ROW };
        if quick_first {
            self.pop_quick().or_else(|| self.pop_search(threads, now))
        } else {
            self.pop_search(threads, now).or_else(|| self.pop_quick())
        }
    }

    fn pop_quick(&mut self) -> Option<(Queued, Instant)> {
        let queued = self.quick.pop()?;
        self.quick_in_a_row = self.quick_in_a_row.saturating_add(1);
        let deadline = queued.job.deadline;
        Some((queued, deadline))
    }

    /// A search gets its share of the time to its deadline, as if all waiting searches took equally long.
    fn pop_search(&mut self, threads: usize, now: Instant) -> Option<(Queued, Instant)> {
        self.searches.retain(|queued| !queued.is_abandoned());
        let waiting = parts(self.searches.len());
        let queued = self.searches.pop()?;
        self.quick_in_a_row = 0;
        // The first thread does quick jobs.
        let threads = threads - usize::from(threads > 1 && !self.quick.is_empty());
        let left: Duration = queued.job.deadline.saturating_duration_since(now);
        let share = left * parts(threads).min(waiting) / waiting;
        Some((queued, now + share))
    }
}

fn parts(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// Whether a kind looks at one position only, and so takes microseconds.
fn is_quick(kind: AiKind) -> bool {
    matches!(kind, AiKind::Random | AiKind::Greedy | AiKind::Roxanne)
}

/// The greatest is served first: the nearest deadline, then the first to arrive.
impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        other.job.deadline.cmp(&self.job.deadline).then_with(|| other.arrival.cmp(&self.arrival))
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
    use crate::runtime::server_clock::instant;

    const SECOND: Duration = Duration::from_secs(1);

    /// Pushes `count` jobs of a kind, all due ten seconds after `now`.
    fn fill(queue: &mut JobQueue, kind: AiKind, count: usize, now: Instant) -> Vec<Ticket> {
        let mut submit = |_: usize| {
            let player = AiPlayer::new(kind, 1).unwrap();
            let job = Job { player, position: Position::START, seed: 1, enough: None, deadline: now + 10 * SECOND };
            let (queued, ticket) = Queued::new(job);
            queue.push(queued).map(|()| ticket)
        };
        (0..count).map_while(|at| submit(at).ok()).collect()
    }

    fn kind(taken: Option<(Queued, Instant)>) -> AiKind {
        taken.unwrap().0.job.player.kind()
    }

    #[test]
    fn a_single_thread_starves_neither_kind() {
        let (mut queue, now) = (JobQueue::new(1_000), instant());
        let _tickets = [fill(&mut queue, AiKind::Random, 500, now), fill(&mut queue, AiKind::Mcts, 2, now)];
        for _ in 0..2 {
            for _ in 0..QUICK_IN_A_ROW {
                assert_eq!(kind(queue.pop(0, 1, now)), AiKind::Random);
            }
            assert_eq!(kind(queue.pop(0, 1, now)), AiKind::Mcts);
        }
        assert_eq!(kind(queue.pop(0, 1, now)), AiKind::Random);
    }

    #[test]
    fn of_several_threads_the_first_prefers_quick_jobs() {
        let (mut queue, now) = (JobQueue::new(1_000), instant());
        let _tickets = [fill(&mut queue, AiKind::Greedy, 500, now), fill(&mut queue, AiKind::AlphaBeta, 4, now)];
        for thread in [1, 2] {
            assert_eq!(kind(queue.pop(0, 3, now)), AiKind::Greedy);
            assert_eq!(kind(queue.pop(thread, 3, now)), AiKind::AlphaBeta);
        }
        // Any job, when there is none of its own kind.
        queue.quick.clear();
        assert_eq!(kind(queue.pop(0, 3, now)), AiKind::AlphaBeta);
        let _more = fill(&mut queue, AiKind::Greedy, 1, now);
        queue.searches.clear();
        assert_eq!(kind(queue.pop(2, 3, now)), AiKind::Greedy);
        assert!(queue.pop(0, 3, now).is_none());
    }

    #[test]
    fn searches_share_the_time_with_those_still_wanted() {
        let (mut queue, now) = (JobQueue::new(1_000), instant());
        let mut tickets = fill(&mut queue, AiKind::Mcts, 10, now);
        let share = |queue: &mut JobQueue, threads| queue.pop(1, threads, now).unwrap().1 - now;
        assert_eq!(share(&mut queue, 1), SECOND);
        tickets.truncate(5);
        // The first ticket's job is done; four more are wanted.
        assert_eq!(share(&mut queue, 2), 5 * SECOND);
        let _quick = fill(&mut queue, AiKind::Random, 100, now);
        assert_eq!(share(&mut queue, 2), 10 * SECOND / 3);
        assert_eq!(queue.len(), 102);
    }

    #[test]
    fn each_kind_has_its_own_capacity() {
        let (mut queue, now) = (JobQueue::new(3), instant());
        let _quick = fill(&mut queue, AiKind::Random, 10, now);
        let mut searches = fill(&mut queue, AiKind::Mcts, 10, now);
        assert_eq!((queue.len(), searches.len()), (6, 3));
        searches.pop();
        assert_eq!(fill(&mut queue, AiKind::Mcts, 10, now).len(), 1);
    }
}
