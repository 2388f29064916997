//! One search for a move of an AI seat.

use std::{
    cmp::Ordering,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use tracing::Span;

use crate::{
    ai::{AiPlayer, Choice},
    rules::Position,
    runtime::limit::search_use::{SearchRequest, SearchUser},
    search::Stop,
};

/// A search for a move.
pub(crate) struct Job {
    pub(crate) player: AiPlayer,
    pub(crate) position: Position,
    pub(crate) seed: u64,
    /// No new iteration starts after this time. `None`: iterations start until the deadline.
    pub(crate) enough: Option<Instant>,
    pub(crate) deadline: Instant,
    pub(crate) user: SearchUser,
    /// True if all jobs that do not yield are served before it.
    pub(crate) yields: bool,
    /// Total time of earlier searches for the same move that were interrupted.
    pub(crate) lost: Duration,
}

impl Job {
    /// True if its kind of AI evaluates only one position, which takes microseconds.
    pub(crate) fn is_quick(&self) -> bool {
        self.player.positions() == 1
    }

    /// Estimated time of its search on a slow core, if nothing stops it.
    pub(crate) fn length(&self) -> Duration {
        const POSITIONS_PER_MICROSECOND: u64 = 2;
        Duration::from_micros(self.player.positions() / POSITIONS_PER_MICROSECOND)
    }
}

/// The result of a job.
pub(crate) enum JobResult {
    Found(Choice),
    NotFound,
    /// The search was stopped after this time because another job needed its thread. There is time for another search
    /// of the same length, so the job can be submitted again.
    Interrupted(Duration),
}

/// A submitted job. Dropping it stops the search.
pub(crate) struct Ticket {
    pub(crate) answer: oneshot::Receiver<JobResult>,
    pub(crate) stop: Stop,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// A job with the sending end of its ticket.
pub(crate) struct Queued {
    pub(crate) job: Job,
    pub(crate) stop: Stop,
    pub(crate) answer: oneshot::Sender<JobResult>,
    /// The caller's span.
    pub(crate) span: Span,
    /// Counts the search for its user. `None` for a pondered job.
    pub(crate) request: Option<SearchRequest>,
    /// Number of this job in the order of arrival.
    pub(crate) arrival: u64,
}

impl Queued {
    pub(crate) fn new(job: Job) -> (Self, Ticket) {
        let (sender, answer) = oneshot::channel();
        let stop = Stop::new();
        let ticket = Ticket { answer, stop: stop.clone() };
        (Self { job, stop, answer: sender, span: Span::current(), request: None, arrival: 0 }, ticket)
    }

    /// True until its ticket is dropped.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }

    /// The sort key among the jobs of one player, lowest first: the deadline, then the order of arrival.
    pub(crate) fn order(&self) -> (Instant, u64) {
        (self.job.deadline, self.arrival)
    }
}

/// The next job to serve is the greatest, because a `BinaryHeap` pops the greatest first.
impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
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
impl Job {
    /// A job of level 1 that does not yield.
    pub(crate) fn sample(kind: crate::ai::AiKind, user: &SearchUser, deadline: Instant) -> Self {
        let player = AiPlayer::new(kind, 1).unwrap();
        let user = user.clone();
        Self {
            player,
            position: Position::START,
            seed: 7,
            enough: None,
            deadline,
            user,
            yields: false,
            lost: Duration::ZERO,
        }
    }
}
