//! The one place where time and chance come in.
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::RngExt as _;

use crate::room::Timestamp;

/// The server's time.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp(0).after(since)
}

/// Random bits that nobody can guess.
pub(super) fn random() -> u64 {
    rand::rng().random()
}

/// A secret of 256 bits.
pub(super) fn secret() -> [u8; 32] {
    rand::rng().random()
}

/// How long from now until a moment.
pub(super) fn until(moment: Timestamp) -> Duration {
    moment.since(now())
}

/// The monotonic clock, for threads that wait.
pub(super) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
