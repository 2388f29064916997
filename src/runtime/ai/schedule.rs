//! The jobs of a pool of threads: waiting, pondered and running ones.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    job::{Job, Queued},
    job_queue::JobQueue,
};
use crate::{
    runtime::limit::search_use::{SearchTimer, SearchUse},
    search::Stop,
};

/// Maximum time for which a restarted search cannot be interrupted again. A new player may wait this long for a thread.
const LONGEST_SAFE: Duration = Duration::from_secs(1);

/// Once the interrupted searches for a move took this long in total, the next one is not restarted: it answers with the
/// best move found.
const MOST_LOST: Duration = Duration::from_secs(8);

/// A search is interrupted because its user used more search time only if the difference is greater than this.
const SIMILAR_USE: Duration = Duration::from_secs(1);

pub(crate) struct Schedule {
    pub(crate) queue: JobQueue,
    /// Jobs to ponder, at most one for each thread.
    pub(crate) pondered: Vec<Queued>,
    /// The job of each thread.
    pub(crate) running: Vec<Option<RunningJob>>,
    pub(crate) closed: bool,
}

pub(crate) struct RunningJob {
    /// No new iteration starts after this time.
    pub(crate) enough: Option<Instant>,
    /// When the search is stopped.
    pub(crate) until: Instant,
    pub(crate) stop: Stop,
    deadline: Instant,
    yields: bool,
    /// Total time of earlier searches for the same move that were interrupted.
    lost: Duration,
    /// [`Job::length`].
    length: Duration,
    /// None while it is pondered: not requested yet.
    timer: Option<SearchTimer>,
    interrupted: bool,
}

impl Schedule {
    pub(crate) fn new(threads: usize, capacity: usize) -> Self {
        Self {
            queue: JobQueue::new(capacity),
            pondered: Vec::new(),
            running: (0..threads).map(|_| None).collect(),
            closed: false,
        }
    }

    /// True if a thread is free and no requested job waits or runs.
    pub(crate) fn is_idle(&self) -> bool {
        let busy = self.running.iter().flatten().count();
        let requested = self.running.iter().flatten().any(|running| !running.is_pondered()) || self.queue.len() > 0;
        !requested && busy + self.pondered.len() < self.running.len()
    }

    pub(crate) fn end_pondering(&mut self) {
        self.pondered.clear();
        for running in self.running.iter().flatten().filter(|running| running.is_pondered()) {
            running.stop.stop();
        }
    }

    /// Starts the next job of a free thread.
    pub(crate) fn start_next(&mut self, thread: usize, now: Instant) -> Option<Queued> {
        let requested = self.queue.pop(thread, self.running.len(), now);
        let pondered = || {
            let queued = self.pondered.pop()?;
            let until = queued.job.deadline;
            Some((queued, until))
        };
        let (mut queued, until) = requested.or_else(pondered)?;
        self.running[thread] = Some(RunningJob {
            enough: queued.job.enough,
            until,
            stop: queued.stop.clone(),
            deadline: queued.job.deadline,
            yields: queued.job.yields,
            lost: queued.job.lost,
            length: queued.job.length(),
            timer: queued.request.take().map(|request| request.start(now)),
            interrupted: false,
        });
        self.interrupt_for_next(now);
        Some(queued)
    }

    /// Interrupts a running search if the next job takes precedence over it.
    pub(crate) fn interrupt_for_next(&mut self, now: Instant) {
        let is_free = |slot: &Option<RunningJob>| slot.as_ref().is_none_or(|running| running.stop.is_stopped());
        if self.running.iter().any(is_free) {
            // That thread takes the next job now, or very soon.
            return;
        }
        // Only the first thread is interrupted for quick jobs.
        let quick = self.queue.peek_quick();
        if !quick.is_some_and(|next| interrupt(&mut self.running[..1], &next.job, now))
            && let Some(next) = self.queue.peek_search(now)
        {
            interrupt(&mut self.running, &next.job, now);
        }
    }

    /// The next time at which a search loses its protection from interruption. `None` if no job waits or no search is
    /// protected.
    pub(crate) fn next_interruption(&self, now: Instant) -> Option<Instant> {
        let running = self.running.iter().flatten().filter(|_| self.queue.len() > 0);
        running.filter_map(RunningJob::safe_until).filter(|&until| until > now).min()
    }
}

/// Interrupts the last started of these searches that are below a job, preferably one that yields. False if none is
/// below it.
fn interrupt(running: &mut [Option<RunningJob>], next: &Job, now: Instant) -> bool {
    let below = running.iter_mut().flatten().filter(|running| running.is_below(next, now));
    let last = below.max_by_key(|running| (running.yields, running.timer.as_ref().map(|timer| timer.started)));
    let Some(running) = last else { return false };
    running.interrupted = true;
    running.stop.stop();
    true
}

impl RunningJob {
    /// Turns a pondered job into a requested one.
    pub(crate) fn claim(&mut self, job: &Job, now: Instant) {
        (self.enough, self.until, self.deadline) = (job.enough, job.deadline, job.deadline);
        (self.yields, self.lost) = (job.yields, job.lost);
        self.timer = Some(job.user.request().start(now));
    }

    pub(crate) fn is_pondered(&self) -> bool {
        self.timer.is_none()
    }

    /// The next time at which to wind it down or to stop it. `None` if it has been stopped.
    pub(crate) fn due(&self) -> Option<Instant> {
        let due = self.enough.map_or(self.until, |enough| enough.min(self.until));
        (!self.stop.is_stopped()).then_some(due)
    }

    /// Its time so far, if it was interrupted and should be restarted: there is time for another search as long, and
    /// not too much time was lost already. `None` if it should answer with the best move found.
    pub(crate) fn time_to_restart(&self, now: Instant) -> Option<Duration> {
        let searched = now - self.timer.as_ref()?.started;
        let is_to_restart = searched < self.deadline.saturating_duration_since(now) && self.lost < MOST_LOST;
        (self.interrupted && is_to_restart).then_some(searched)
    }

    /// When a job of the same class may interrupt it. `None` if it is pondered or has been stopped. A restarted search
    /// runs at least as long as its earlier searches together, up to [`LONGEST_SAFE`], so that it finds a good move in
    /// spite of many short jobs of another player.
    fn safe_until(&self) -> Option<Instant> {
        let timer = self.timer.as_ref().filter(|_| !self.stop.is_stopped())?;
        Some(timer.started + self.lost.min(LONGEST_SAFE))
    }

    /// True if it should be interrupted for a job: if only this search yields; or if the job's user has no running
    /// search, and this search's user has more searches or will have used much more search time. Two users with
    /// several jobs each, or with similar use, do not interrupt each other in turn: the job then waits for a thread.
    fn is_below(&self, next: &Job, now: Instant) -> bool {
        let Some(own) = self.timer.as_ref().map(SearchTimer::user) else { return false };
        if self.yields != next.yields {
            return self.yields;
        }
        if self.safe_until().is_none_or(|until| until > now) {
            return false;
        }
        let length = next.length();
        let has_more = |own: &SearchUse, next: &SearchUse| {
            let has_others = own.running() > 1 || (own.under_way() > 1 && next.under_way() == 1);
            let has_used_more = || own.used_at(now) + self.length > 2 * (next.used_at(now) + length) + SIMILAR_USE;
            next.running() == 0 && (has_others || has_used_more())
        };
        has_more(own.shared(), next.user.shared())
            || (Arc::ptr_eq(own.shared(), next.user.shared()) && has_more(&own.player, &next.user.player))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        ai::AiKind,
        runtime::{ai::job::Ticket, limit::search_use::SearchUser, server_clock::instant},
    };

    const SECOND: Duration = Duration::from_secs(1);

    struct TestSchedule {
        schedule: Schedule,
        now: Instant,
        tickets: Vec<Ticket>,
    }

    impl TestSchedule {
        /// With these jobs, of which the first run, one on each thread.
        fn new<const N: usize>(threads: usize, jobs: [Job; N]) -> Self {
            let mut this = Self { schedule: Schedule::new(threads, 100), now: instant(), tickets: Vec::new() };
            jobs.into_iter().for_each(|job| this.push(job));
            for thread in 0..threads {
                this.now += SECOND / 1_000;
                assert!(this.schedule.start_next(thread, this.now).is_some());
            }
            this
        }

        fn push(&mut self, job: Job) {
            let (queued, ticket) = Queued::new(job);
            self.schedule.queue.push(queued);
            self.tickets.push(ticket);
        }

        /// Adds a job. Returns which threads' jobs are now interrupted.
        fn interrupted_by(&mut self, job: Job) -> Vec<bool> {
            self.push(job);
            self.schedule.interrupt_for_next(self.now);
            let stopped = |slot: &Option<RunningJob>| slot.as_ref().unwrap().stop.is_stopped();
            self.schedule.running.iter().map(stopped).collect()
        }
    }

    fn search(user: &SearchUser) -> Job {
        Job::sample(AiKind::Expert, user, instant() + 60 * SECOND)
    }

    fn quick(user: &SearchUser) -> Job {
        Job::sample(AiKind::Greedy, user, instant() + 60 * SECOND)
    }

    fn yielding(user: &SearchUser) -> Job {
        Job { yields: true, ..search(user) }
    }

    /// Players without an address.
    fn strangers<const N: usize>() -> [SearchUser; N] {
        [(); N].map(|()| SearchUser::unknown())
    }

    /// Players of one address.
    fn neighbours<const N: usize>() -> [SearchUser; N] {
        let address = Some(SearchUser::unknown().player);
        [(); N].map(|()| SearchUser { address: address.clone(), ..SearchUser::unknown() })
    }

    #[test]
    fn a_player_with_several_running_searches_gives_a_thread_to_one_without() {
        for [ada, bea, cyd] in [strangers(), neighbours()] {
            let mut threads = TestSchedule::new(3, [search(&ada), search(&bea), search(&ada)]);
            // The one that has done the least work.
            assert_eq!(threads.interrupted_by(search(&cyd)), [false, false, true]);
            assert_eq!(threads.interrupted_by(search(&cyd)), [false, false, true], "one thread will soon be free");
        }
        for [ada, bea, cyd] in [strangers(), neighbours()] {
            let mut threads = TestSchedule::new(2, [search(&ada), search(&bea)]);
            assert_eq!(threads.interrupted_by(search(&cyd)), [false, false], "each has one only");
        }
    }

    #[test]
    fn a_player_who_has_used_little_does_not_wait_for_one_who_has_used_much() {
        for [ada, bea] in [strangers(), neighbours()] {
            let mut threads = TestSchedule::new(1, [search(&ada)]);
            bea.player.add(19 * SECOND / 2, threads.now);
            ada.player.add(20 * SECOND, threads.now);
            assert_eq!(threads.interrupted_by(search(&bea)), [false], "similar use");
            ada.player.add(2 * SECOND, threads.now);
            threads.schedule.interrupt_for_next(threads.now);
            assert!(threads.schedule.running[0].as_ref().unwrap().stop.is_stopped());
        }
    }

    #[test]
    fn a_new_player_waits_a_second_at_most_for_a_search_that_was_interrupted() {
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(1, [Job { lost: 9 * SECOND, ..search(&ada) }, search(&ada)]);
        assert_eq!(threads.interrupted_by(search(&bea)), [false]);
        assert_eq!(threads.schedule.next_interruption(threads.now), Some(threads.now + SECOND));
        threads.now += SECOND;
        threads.schedule.interrupt_for_next(threads.now);
        assert!(threads.schedule.running[0].as_ref().unwrap().stop.is_stopped());
    }

    #[test]
    fn a_single_search_does_not_wait_for_a_player_with_more() {
        for [ada, bea] in [strangers(), neighbours()] {
            let mut threads = TestSchedule::new(1, [search(&ada), search(&ada)]);
            assert_eq!(threads.interrupted_by(search(&bea)), [true]);
        }
        // Two players with several do not interrupt each other in turn.
        for [ada, bea] in [strangers(), neighbours()] {
            let mut threads = TestSchedule::new(1, [search(&ada), search(&ada)]);
            threads.push(search(&bea));
            assert_eq!(threads.interrupted_by(search(&bea)), [false]);
        }
    }

    #[test]
    fn a_search_that_yields_is_interrupted_by_any_that_does_not() {
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(2, [search(&bea), yielding(&ada)]);
        assert_eq!(threads.interrupted_by(yielding(&ada)), [false, false]);
        assert_eq!(threads.interrupted_by(search(&ada)), [false, true]);
    }

    #[test]
    fn a_quick_job_interrupts_the_first_thread_only() {
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(2, [search(&ada), yielding(&ada)]);
        assert_eq!(threads.interrupted_by(quick(&bea)), [true, false]);
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(2, [search(&bea), yielding(&ada)]);
        assert_eq!(threads.interrupted_by(quick(&bea)), [false, false]);
    }

    #[test]
    fn a_search_runs_at_least_as_long_as_those_before_it_that_were_interrupted() {
        for [ada, bea] in [strangers(), neighbours()] {
            let restarted = Job { lost: SECOND, ..search(&ada) };
            let mut threads = TestSchedule::new(2, [restarted, search(&ada)]);
            threads.schedule.running[1].as_mut().unwrap().lost = 2 * SECOND;
            assert_eq!(threads.interrupted_by(search(&bea)), [false, false]);
            let safe_until = threads.schedule.next_interruption(threads.now).unwrap();
            assert_eq!(safe_until, threads.now + SECOND - SECOND / 1_000, "the first began a millisecond earlier");
            threads.now = safe_until;
            threads.schedule.interrupt_for_next(threads.now);
            let first = threads.schedule.running[0].as_ref().unwrap();
            assert_eq!(first.time_to_restart(threads.now), Some(SECOND));
            assert!(!threads.schedule.running[1].as_ref().unwrap().stop.is_stopped());
        }
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(1, [Job { lost: SECOND, ..yielding(&ada) }]);
        assert_eq!(threads.schedule.next_interruption(threads.now), None, "no job waits");
        assert_eq!(threads.interrupted_by(search(&bea)), [true], "it yields");
    }

    #[test]
    fn an_interrupted_search_begins_again_unless_its_deadline_is_near() {
        let [ada, bea] = strangers();
        let mut threads = TestSchedule::new(1, [yielding(&ada)]);
        let (start, is_to_restart) = (threads.now, |threads: &TestSchedule, now| {
            threads.schedule.running[0].as_ref().unwrap().time_to_restart(now).is_some()
        });
        assert!(!is_to_restart(&threads, start + SECOND), "not interrupted");
        threads.interrupted_by(search(&bea));
        assert!(is_to_restart(&threads, start + SECOND) && is_to_restart(&threads, start + 29 * SECOND));
        assert!(!is_to_restart(&threads, start + 31 * SECOND), "another search would have less time");
        assert!(!is_to_restart(&threads, start + 90 * SECOND));
        threads.schedule.running[0].as_mut().unwrap().lost = MOST_LOST;
        assert!(!is_to_restart(&threads, start + SECOND), "it has lost enough");
    }
}
