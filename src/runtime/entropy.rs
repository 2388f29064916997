//! The one place where time and chance come in.
#![expect(clippy::disallowed_methods, reason = "elsewhere they would make time and chance untestable")]

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rand::{Rng, RngExt as _};
use rand_pcg::Pcg64;

use crate::{ai, room::Timestamp};

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
    pub(super) fn at(&self, moment: tokio::time::Instant) -> Timestamp {
        self.origin.after(moment.saturating_duration_since(self.began))
    }

    /// A moment, by the clock of the tasks; what lies before its beginning is past then, too.
    pub(super) fn instant(&self, moment: Timestamp) -> tokio::time::Instant {
        self.began + moment.since(self.origin)
    }

    /// How long from now until a moment.
    pub(super) fn until(&self, moment: Timestamp) -> Duration {
        moment.since(self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// Where ids and secrets come from.
#[derive(Clone, Debug, Default)]
pub struct Chance(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    /// What nobody can guess.
    #[default]
    System,
    /// What a seed repeats; for simulations.
    Seeded(Arc<Mutex<Pcg64>>),
}

impl Chance {
    /// The same chances for the same seed: never for a server that others can reach.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(Mutex::new(ai::generator(seed)))))
    }

    /// Random bits.
    pub(super) fn bits(&self) -> u64 {
        self.draw(|chance| chance.random())
    }

    /// A secret of 256 bits.
    pub(super) fn secret(&self) -> [u8; 32] {
        self.draw(|chance| chance.random())
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut dyn Rng) -> T) -> T {
        match &self.0 {
            Source::System => draw(&mut rand::rng()),
            Source::Seeded(chance) => draw(&mut *chance.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The monotonic clock, for threads that wait.
pub(super) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
