//! The server's clock: the one place that reads the time.
#![expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::room::Timestamp;

/// The server's time. It goes on steadily from where it began, so that a corrected system clock makes no flag fall.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: tokio::time::Instant,
    origin: Timestamp,
}

impl Clock {
    /// The system's time.
    #[must_use]
    pub fn system() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::starting(Timestamp(0).after(since))
    }

    /// A time of its own that begins now. On a paused tokio runtime it stands still with it.
    #[must_use]
    pub fn starting(origin: Timestamp) -> Self {
        Self { began: tokio::time::Instant::now(), origin }
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.at(tokio::time::Instant::now())
    }

    /// What time it is at a moment of the tasks' clock.
    pub(crate) fn at(&self, moment: tokio::time::Instant) -> Timestamp {
        self.origin.after(moment.saturating_duration_since(self.began))
    }

    /// A moment, by the clock of the tasks; what lies before its beginning is past then, too.
    pub(crate) fn instant(&self, moment: Timestamp) -> tokio::time::Instant {
        self.began + moment.since(self.origin)
    }

    /// How long from now until a moment.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        moment.since(self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// The monotonic clock, for threads that wait.
pub(crate) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
