//! The one place where time and chance come in.
#![expect(clippy::disallowed_methods, reason = "elsewhere they would make time and chance untestable")]

use std::{
    sync::OnceLock,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rand::RngExt as _;

use crate::room::Timestamp;

/// The server's time. It is the system's at the first call and goes on steadily from there, so that a corrected
/// system clock makes no flag fall.
#[must_use]
pub fn now() -> Timestamp {
    static ORIGIN: OnceLock<(Instant, Timestamp)> = OnceLock::new();
    let (began, origin) = ORIGIN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        (Instant::now(), Timestamp(0).after(since))
    });
    origin.after(began.elapsed())
}

/// Random bits that nobody can guess.
#[must_use]
pub fn random() -> u64 {
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
pub(super) fn instant() -> Instant {
    Instant::now()
}
