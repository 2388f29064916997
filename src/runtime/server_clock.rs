//! The server's clock. Only this file reads the time.
#![expect(clippy::disallowed_methods, reason = "only this file reads the clock")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::room::Timestamp;

/// The server's time. Monotonic from its origin, so that a correction of the system clock makes no flag fall.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: tokio::time::Instant,
    origin: Timestamp,
}

impl Clock {
    /// A clock that starts at the system's time.
    #[must_use]
    pub fn system() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::starting(Timestamp(0).after(since))
    }

    /// A clock that starts now at `origin`. It pauses with the tokio runtime.
    #[must_use]
    pub fn starting(origin: Timestamp) -> Self {
        Self { started: tokio::time::Instant::now(), origin }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.at(tokio::time::Instant::now())
    }

    /// The time at an instant of tokio's clock.
    pub(crate) fn at(&self, moment: tokio::time::Instant) -> Timestamp {
        self.origin.after(moment.saturating_duration_since(self.started))
    }

    /// The instant of tokio's clock at a time, at least the origin.
    pub(crate) fn instant(&self, moment: Timestamp) -> tokio::time::Instant {
        self.started + moment.since(self.origin)
    }

    /// Time from now; zero when it has passed.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        moment.since(self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// The monotonic clock, for threads.
pub(crate) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
