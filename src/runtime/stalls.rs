//! Stalls: time in which no player could move, because the process was stopped or the store did not write. Rooms credit
//! their clocks with it.
//!
//! A process can be stopped by a signal or together with its machine, while the clock goes on. So a task notes the time
//! four times a second; a note that is too old shows that the process was stopped. The timers of rooms may fire before
//! that task runs again, so every room checks for lost time before it decides about a deadline or a command.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{
            AtomicI64, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use tokio::sync::watch;

use super::{limit::limits::STORE_RETRY, server_clock::Clock};
use crate::room::Timestamp;

/// The interval of the notes.
pub(crate) const NOTE_INTERVAL: Duration = Duration::from_millis(250);

/// The shortest stall. Shorter delays are normal on a busy server.
pub(crate) const SHORTEST: Duration = Duration::from_secs(1);

/// After this time without an answer, a write shows that the store hangs. Longer than `SHORTEST`, so that a slow disk
/// does not take the server out of a load balancer.
const HANGS: Duration = Duration::from_secs(3);

/// The value of `Stalls::failing` while writes succeed.
const NEVER: i64 = i64::MAX;

/// The stalls of a server since its start. Times are microseconds of the server's clock.
pub(crate) struct Stalls {
    clock: Clock,
    /// When the process was last seen to run.
    noted: AtomicI64,
    /// When writes began to fail. [`NEVER`] while they succeed.
    failing: AtomicI64,
    /// Writes without an answer yet.
    writing: AtomicUsize,
    /// When a write last got an answer, or when the first of those in progress began, if that was later. Writes are
    /// answered in order.
    progress: AtomicI64,
    /// The total time lost.
    lost: AtomicI64,
    /// The part of it that the clocks of all rooms are credited with.
    credited: AtomicI64,
    /// Stalls until this time are part of `lost`, so that those that overlap count once.
    counted: Mutex<i64>,
    is_writable: watch::Sender<bool>,
}

impl Stalls {
    pub(crate) fn new(clock: Clock) -> Self {
        let now = clock.now().0;
        Self {
            clock,
            noted: now.into(),
            failing: NEVER.into(),
            writing: 0.into(),
            progress: now.into(),
            lost: 0.into(),
            credited: 0.into(),
            counted: now.into(),
            is_writable: watch::Sender::new(true),
        }
    }

    /// The time lost until now, in microseconds since the start.
    pub(crate) fn lost(&self, now: Timestamp) -> i64 {
        let noted = self.noted.load(Acquire);
        let stopped = (now.since(Timestamp(noted)) > NOTE_INTERVAL + SHORTEST).then_some(noted);
        if let Some(since) = stopped.into_iter().chain(self.failing_since()).chain(self.hanging(now, SHORTEST)).min() {
            self.count(since, now.0);
            // After the count, so that a task that sees this note also sees the lost time.
            self.noted.fetch_max(now.0, Release);
        }
        self.lost.load(Acquire)
    }

    /// The time without the stalls until then, in microseconds.
    pub(crate) fn unstalled(&self, now: Timestamp) -> i64 {
        now.0.saturating_sub(self.lost(now))
    }

    /// Until when all rooms were served, as far as their clocks are credited: before a stall until then. If the server
    /// ends, the next one credits the time since.
    pub(crate) fn served_until(&self, now: Timestamp) -> Timestamp {
        let lost = self.lost(now);
        let until = *self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = lost - self.credited.load(Acquire);
        let credited = if missing >= micros(SHORTEST) { until - missing } else { now.0 };
        let stalls = self.failing_since().into_iter().chain(self.hanging(now, SHORTEST));
        Timestamp(stalls.fold(credited, i64::min))
    }

    /// Records that the clocks of all rooms are credited with this much of the time lost.
    pub(crate) fn note_credited(&self, lost: i64) {
        self.credited.fetch_max(lost, Release);
    }

    /// Notes that the process runs, and whether the store can be written. A malformed store counts as not writable.
    /// Returns the same as [`Stalls::lost`].
    pub(crate) fn note(&self, now: Timestamp, is_malformed: bool) -> i64 {
        let lost = self.lost(now);
        self.noted.fetch_max(now.0, Release);
        let is_writable = !is_malformed && self.failing_since().is_none() && self.hanging(now, HANGS).is_none();
        self.is_writable.send_if_modified(|known| std::mem::replace(known, is_writable) != is_writable);
        lost
    }

    /// True while writes fail or hang.
    pub(crate) fn is_writing_stalled(&self) -> bool {
        self.failing_since().is_some() || self.hanging(self.clock.now(), SHORTEST).is_some()
    }

    /// True while the store can be written. The receiver is told of each change.
    pub(crate) fn writable(&self) -> watch::Receiver<bool> {
        self.is_writable.subscribe()
    }

    /// Call when a write begins.
    pub(crate) fn begin_write(&self) -> WriteInProgress<'_> {
        let began = self.clock.now().0;
        // Before the count, so that a write in progress never has the progress of an earlier one.
        if self.writing.load(Acquire) == 0 {
            self.progress.fetch_max(began, AcqRel);
        }
        self.writing.fetch_add(1, AcqRel);
        WriteInProgress { stalls: self, began, seen: began }
    }

    fn failing_since(&self) -> Option<i64> {
        Some(self.failing.load(Acquire)).filter(|since| *since != NEVER)
    }

    /// When the writes last made progress, if that is longer ago than `limit`.
    fn hanging(&self, now: Timestamp, limit: Duration) -> Option<i64> {
        if self.writing.load(Acquire) == 0 {
            return None;
        }
        let progress = self.progress.load(Acquire);
        (now.since(Timestamp(progress)) > limit).then_some(progress)
    }

    /// Adds a stall to the lost time, without the part that is already counted.
    fn count(&self, since: i64, until: i64) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let since = since.max(*counted);
        if until > since {
            *counted = until;
            self.lost.fetch_add(until - since, AcqRel);
        }
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// A write without an answer yet.
#[must_use]
pub(crate) struct WriteInProgress<'a> {
    stalls: &'a Stalls,
    began: i64,
    /// The last known time.
    seen: i64,
}

impl WriteInProgress<'_> {
    /// Call with the answer. Returns the time that it took.
    pub(crate) fn end(mut self, succeeded: bool) -> Duration {
        let (stalls, began) = (self.stalls, self.began);
        self.seen = stalls.clock.now().0;
        let took = Timestamp(self.seen).since(Timestamp(began));
        // A slow write is no stall while others get answers; its own room credits its clocks. Otherwise, when thousands
        // of rooms write at once, all of them would be credited with the wait of the last one, and would all write
        // again for that.
        if let Some(since) = stalls.hanging(Timestamp(self.seen), SHORTEST) {
            stalls.count(since, self.seen);
        }
        if !succeeded {
            // Only since another write last got an answer.
            let since = began.max(stalls.progress.load(Acquire));
            let _ = stalls.failing.compare_exchange(NEVER, since, AcqRel, Relaxed);
        } else if let Some(since) = stalls.failing_since() {
            // Includes the pause after which refused clients try again.
            stalls.count(since, Timestamp(self.seen).after(STORE_RETRY).0);
            stalls.failing.store(NEVER, Release);
        }
        took
    }
}

impl Drop for WriteInProgress<'_> {
    fn drop(&mut self) {
        self.stalls.progress.fetch_max(self.seen, AcqRel);
        self.stalls.writing.fetch_sub(1, AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn stalls() -> Stalls {
        Stalls::new(Clock::starting(Timestamp(0)))
    }

    /// The whole seconds lost until now.
    fn lost(stalls: &Stalls) -> u64 {
        Duration::from_micros(stalls.lost(stalls.clock.now()).cast_unsigned()).as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_looks_first_after_a_stop_sees_it_and_it_counts_once() {
        let stalls = stalls();
        for _ in 0..100 {
            advance(SECOND).await;
            assert_eq!(stalls.note(stalls.clock.now(), false), 0);
        }
        advance(SECOND).await;
        assert_eq!(lost(&stalls), 0, "a late note is no stop");
        advance(29 * SECOND).await;
        assert_eq!((lost(&stalls), lost(&stalls)), (30, 30));
        stalls.note(stalls.clock.now(), false);
        assert_eq!(lost(&stalls), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_without_an_answer_is_lost_time_before_it_ends() {
        let stalls = stalls();
        let write = stalls.begin_write();
        let note = || stalls.note(stalls.clock.now(), false);
        advance(SECOND).await;
        note();
        assert_eq!(lost(&stalls), 0, "a slow disk");
        advance(SECOND).await;
        note();
        assert!(lost(&stalls) == 2 && *stalls.writable().borrow() && stalls.is_writing_stalled());
        advance(2 * SECOND).await;
        note();
        assert!(lost(&stalls) == 4 && !*stalls.writable().borrow());
        advance(SECOND).await;
        assert_eq!(write.end(true), 5 * SECOND);
        note();
        assert!(lost(&stalls) == 5 && *stalls.writable().borrow() && !stalls.is_writing_stalled());
        advance(SECOND).await;
        drop(stalls.begin_write());
        assert_eq!(lost(&stalls), 5, "quick writes and pauses between writes are no stall");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_write_among_others_is_no_stall() {
        let stalls = stalls();
        let slow = stalls.begin_write();
        for _ in 0..5 {
            advance(SECOND / 2).await;
            stalls.note(stalls.clock.now(), false);
            stalls.begin_write().end(true);
        }
        assert_eq!(slow.end(true), 5 * SECOND / 2);
        assert_eq!(lost(&stalls), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn failing_writes_are_lost_time_until_one_succeeds() {
        let stalls = stalls();
        for _ in 0..4 {
            stalls.begin_write().end(false);
            advance(SECOND).await;
            stalls.note(stalls.clock.now(), false);
        }
        assert!(lost(&stalls) == 4 && !*stalls.writable().borrow());
        stalls.begin_write().end(true);
        stalls.note(stalls.clock.now(), false);
        assert!(*stalls.writable().borrow());
        let with_retry = stalls.lost(stalls.clock.now());
        assert_eq!(with_retry, Timestamp(0).after(4 * SECOND + STORE_RETRY).0);
    }

    #[tokio::test(start_paused = true)]
    async fn stalls_that_overlap_count_once() {
        let stalls = stalls();
        let (slow, failing) = (stalls.begin_write(), stalls.begin_write());
        // A stop.
        advance(20 * SECOND).await;
        assert_eq!(lost(&stalls), 20);
        failing.end(false);
        advance(5 * SECOND).await;
        slow.end(true);
        assert_eq!(lost(&stalls), 25);
    }
}
