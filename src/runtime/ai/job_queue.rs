//! The queue of AI moves that wait for a thread.
//!
//! Quick jobs and searches have separate queues, so that neither starves the other. Of several threads, the first
//! prefers quick jobs and the others prefer searches. A single thread does at most [`QUICK_IN_A_ROW`] quick jobs before
//! each search.

use std::{
    collections::BinaryHeap,
    time::{Duration, Instant},
};

use super::{fair_queue::FairQueue, job::Queued};

/// Maximum number of quick jobs that a single thread does while a search waits: about a millisecond of work.
const QUICK_IN_A_ROW: u32 = 64;

pub(crate) struct JobQueue {
    /// Ordered by deadline only, because all of them together take milliseconds.
    quick: BinaryHeap<Queued>,
    searches: FairQueue,
    /// Searches that run only while no other search waits.
    yielding: FairQueue,
    /// Maximum number of quick jobs, and separately of searches.
    capacity: usize,
    arrivals: u64,
    /// Quick jobs taken since the last search.
    quick_in_a_row: u32,
}

impl JobQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            quick: BinaryHeap::new(),
            searches: FairQueue::default(),
            yielding: FairQueue::default(),
            capacity,
            arrivals: 0,
            quick_in_a_row: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.quick.len() + self.waiting_searches()
    }

    pub(crate) fn clear(&mut self) {
        self.quick.clear();
        (self.searches, self.yielding) = (FairQueue::default(), FairQueue::default());
    }

    /// Adds a job. If the queue is full, drops a job without an answer: this one if it is quick, otherwise a search,
    /// preferably one that yields. See [`FairQueue::drop_one`].
    pub(crate) fn push(&mut self, mut queued: Queued) {
        self.arrivals += 1;
        queued.arrival = self.arrivals;
        queued.request = Some(queued.job.user.request());
        if queued.job.is_quick() {
            return self.push_quick(queued);
        }
        if queued.job.yields { &mut self.yielding } else { &mut self.searches }.push(queued);
        if self.waiting_searches() > self.capacity {
            self.retain_wanted();
        }
        if self.waiting_searches() > self.capacity {
            if self.yielding.len() > 0 { &mut self.yielding } else { &mut self.searches }.drop_one();
        }
    }

    /// The quick job that is next.
    pub(crate) fn peek_quick(&mut self) -> Option<&Queued> {
        while self.quick.peek().is_some_and(|queued| !queued.is_wanted()) {
            self.quick.pop();
        }
        self.quick.peek()
    }

    /// The search that is next.
    pub(crate) fn peek_search(&mut self, now: Instant) -> Option<&Queued> {
        let peek = |queue: &Self| queue.searches.peek(now).or_else(|| queue.yielding.peek(now)).map(Queued::is_wanted);
        if peek(self) == Some(false) {
            self.retain_wanted();
        }
        self.searches.peek(now).or_else(|| self.yielding.peek(now))
    }

    /// Takes the next job of a thread, and the time at which to stop it. `thread` counts from 0.
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

    /// A search gets its share of the time until its deadline, as if all searches of its player took equally long and
    /// all other players and addresses used their shares.
    fn pop_search(&mut self, threads: usize, now: Instant) -> Option<(Queued, Instant)> {
        self.retain_wanted();
        let (queued, parts) = self.searches.pop(now).or_else(|| self.yielding.pop(now))?;
        self.quick_in_a_row = 0;
        // The first thread does quick jobs.
        let threads = threads - usize::from(threads > 1 && !self.quick.is_empty());
        let left: Duration = queued.job.deadline.saturating_duration_since(now);
        let share = left * at_least_one(threads.min(parts)) / at_least_one(parts);
        Some((queued, now + share))
    }

    fn push_quick(&mut self, queued: Queued) {
        if self.quick.len() >= self.capacity {
            self.quick.retain(Queued::is_wanted);
        }
        if self.quick.len() < self.capacity {
            self.quick.push(queued);
        }
    }

    fn waiting_searches(&self) -> usize {
        self.searches.len() + self.yielding.len()
    }

    /// Removes searches whose tickets were dropped.
    fn retain_wanted(&mut self) {
        self.searches.retain_wanted();
        self.yielding.retain_wanted();
    }
}

fn at_least_one(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;
    use crate::{
        ai::{AiKind, AiPlayer},
        runtime::{
            ai::job::{Job, Ticket},
            limit::search_use::{SearchTimer, SearchUse, SearchUser},
            server_clock::instant,
        },
    };

    const SECOND: Duration = Duration::from_secs(1);

    /// Pushes `count` jobs of a kind, all due ten seconds after `now`.
    fn fill(queue: &mut JobQueue, kind: AiKind, user: &SearchUser, count: usize, now: Instant) -> Vec<Ticket> {
        (0..count).map(|_| push(queue, Job::sample(kind, user, now + 10 * SECOND))).collect()
    }

    fn push(queue: &mut JobQueue, job: Job) -> Ticket {
        let (queued, ticket) = Queued::new(job);
        queue.push(queued);
        ticket
    }

    fn kind(taken: Option<(Queued, Instant)>) -> AiKind {
        taken.unwrap().0.job.player.kind()
    }

    fn is_dropped(ticket: &mut Ticket) -> bool {
        matches!(ticket.answer.try_recv(), Err(TryRecvError::Closed))
    }

    /// Players of an address.
    fn players<const N: usize>() -> [SearchUser; N] {
        let address = Arc::new(SearchUse::new(240));
        [(); N].map(|()| SearchUser { player: Arc::new(SearchUse::new(120)), address: Some(Arc::clone(&address)) })
    }

    /// Starts the next search, and checks whose it is. Returns it with its time.
    fn start(queue: &mut JobQueue, now: Instant, user: &SearchUser) -> (SearchTimer, Duration) {
        let (queued, until) = queue.pop(1, 2, now).unwrap();
        assert!(Arc::ptr_eq(&queued.job.user.player, &user.player));
        (queued.request.unwrap().start(now), until - now)
    }

    #[test]
    fn a_single_thread_starves_neither_kind() {
        let (mut queue, now, ada) = (JobQueue::new(1_000), instant(), SearchUser::unknown());
        let _tickets = [fill(&mut queue, AiKind::Random, &ada, 500, now), fill(&mut queue, AiKind::Mcts, &ada, 2, now)];
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
        let (mut queue, now, ada) = (JobQueue::new(1_000), instant(), SearchUser::unknown());
        let _tickets =
            [fill(&mut queue, AiKind::Greedy, &ada, 500, now), fill(&mut queue, AiKind::AlphaBeta, &ada, 4, now)];
        for thread in [1, 2] {
            assert_eq!(kind(queue.pop(0, 3, now)), AiKind::Greedy);
            assert_eq!(kind(queue.pop(thread, 3, now)), AiKind::AlphaBeta);
        }
        // Any job, when there is none of its own kind.
        queue.quick.clear();
        assert_eq!(kind(queue.pop(0, 3, now)), AiKind::AlphaBeta);
        let _more = fill(&mut queue, AiKind::Greedy, &ada, 1, now);
        queue.searches = FairQueue::default();
        assert_eq!(kind(queue.pop(2, 3, now)), AiKind::Greedy);
        assert!(queue.pop(0, 3, now).is_none());
    }

    #[test]
    fn searches_of_a_player_share_the_time_with_those_still_wanted() {
        let (mut queue, now, ada) = (JobQueue::new(1_000), instant(), SearchUser::unknown());
        let mut tickets = fill(&mut queue, AiKind::Mcts, &ada, 10, now);
        let share = |queue: &mut JobQueue, threads| queue.pop(1, threads, now).unwrap().1 - now;
        assert_eq!(share(&mut queue, 1), SECOND);
        tickets.truncate(5);
        // The first ticket's job is done; four more are wanted.
        assert_eq!(share(&mut queue, 2), 5 * SECOND);
        let _quick = fill(&mut queue, AiKind::Random, &ada, 100, now);
        assert_eq!(share(&mut queue, 2), 10 * SECOND / 3);
        assert_eq!(queue.len(), 102);
    }

    #[test]
    fn addresses_take_turns_and_so_do_the_players_of_each() {
        let (mut queue, now) = (JobQueue::new(1_000), instant());
        let ([ada, bea], [cyd]) = (players(), players());
        let mut tickets = fill(&mut queue, AiKind::Mcts, &ada, 20, now);
        tickets.extend([&bea, &cyd].into_iter().flat_map(|user| fill(&mut queue, AiKind::Mcts, user, 3, now)));
        let running = [&ada, &cyd, &bea, &cyd].map(|user| start(&mut queue, now, user));
        // Two addresses share two threads, and the players of the first its half. The last two are the others' time.
        let parts = [26, 2 * 3, 2 * 2 * 3, 2 * 2];
        for ((_, share), parts) in running.iter().zip(parts) {
            assert_eq!(*share, 10 * SECOND * 2 / parts);
        }
        drop(running);
        // With as many running searches, the less used time counts.
        ada.shared().add(90 * SECOND, now);
        let running = [start(&mut queue, now, &cyd), start(&mut queue, now, &ada)];
        drop((running, tickets));
    }

    #[test]
    fn inside_a_players_queue_the_earliest_deadline_is_first() {
        let (mut queue, now, ada) = (JobQueue::new(9), instant(), SearchUser::unknown());
        let due = [9, 3, 6].map(|seconds| now + seconds * SECOND);
        let _tickets = due.map(|deadline| push(&mut queue, Job::sample(AiKind::Expert, &ada, deadline)));
        let served = due.map(|_| queue.pop(0, 1, now).unwrap().0.job.deadline);
        assert_eq!(served, [due[1], due[2], due[0]]);
    }

    #[test]
    fn who_will_have_used_least_goes_first_so_a_short_search_before_a_long_one() {
        let (mut queue, now, [ada, bea, cyd]) = (JobQueue::new(9), instant(), players());
        let expert = |user, level| {
            let player = AiPlayer::new(AiKind::Expert, level).unwrap();
            Job { player, ..Job::sample(AiKind::Expert, user, now + SECOND) }
        };
        let _tickets = [(&ada, 16), (&bea, 13), (&cyd, 1)].map(|(user, level)| push(&mut queue, expert(user, level)));
        cyd.player.add(2 * SECOND, now);
        let _running = [&bea, &cyd, &ada].map(|user| start(&mut queue, now, user));
    }

    #[test]
    fn jobs_that_yield_come_after_all_others() {
        let (mut queue, now, [ada, bea]) = (JobQueue::new(9), instant(), players());
        let yielding = Job { yields: true, ..Job::sample(AiKind::Mcts, &ada, now + SECOND) };
        let _first = push(&mut queue, yielding);
        let _others = fill(&mut queue, AiKind::Mcts, &bea, 2, now);
        let _running = [&bea, &bea, &ada].map(|user| start(&mut queue, now, user));
    }

    #[test]
    fn a_full_queue_drops_a_search_of_the_player_with_the_most() {
        let (mut queue, now, [ada, bea]) = (JobQueue::new(3), instant(), players());
        let _quick = fill(&mut queue, AiKind::Random, &ada, 10, now);
        let mut searches = fill(&mut queue, AiKind::Mcts, &ada, 10, now);
        assert_eq!(queue.len(), 6, "each kind has its own capacity");
        let dropped: Vec<_> = searches.iter_mut().map(is_dropped).collect();
        assert_eq!(dropped.iter().position(|&dropped| dropped), Some(3));
        let mut others = fill(&mut queue, AiKind::Mcts, &bea, 1, now);
        assert!(!is_dropped(&mut others[0]) && is_dropped(&mut searches[2]) && !is_dropped(&mut searches[1]));
        // Those that yield are dropped before others, and those no longer wanted before both.
        let mut yielding = push(&mut queue, Job { yields: true, ..Job::sample(AiKind::Mcts, &bea, now) });
        assert!(is_dropped(&mut yielding));
        searches.remove(0);
        let mut yielding = push(&mut queue, Job { yields: true, ..Job::sample(AiKind::Mcts, &bea, now) });
        assert!(!is_dropped(&mut yielding));
        others.extend(fill(&mut queue, AiKind::Mcts, &bea, 1, now));
        assert!(is_dropped(&mut yielding) && !others.iter_mut().any(is_dropped));
    }
}
