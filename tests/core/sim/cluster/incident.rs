//! What happens to a process of the cluster.

use std::time::Duration;

use super::connection::StoreFault;
use crate::sim::rng::Rng;

/// In microseconds ahead. All far apart, so that of a few at a time no two agree.
const WRONG_CLOCKS: [i64; 4] = [-60_000_000, -30_000_000, 30_000_000, 60_000_000];

#[derive(Clone, Copy, Debug)]
pub(super) enum Incident {
    /// It ends at once; perhaps another one starts later.
    Ends { process: usize, then: Option<Duration> },
    /// It gives its rooms to the others and ends; perhaps another one starts later.
    Leaves { process: usize, then: Option<Duration> },
    /// It does nothing for this time, and then goes on.
    IsPaused { process: usize, time: Duration },
    /// It does not reach the database.
    LosesStore { process: usize, fault: StoreFault, time: Duration },
    /// One more starts, whose clock is ahead by these microseconds, and ends.
    HasWrongClock { ahead: i64, time: Duration },
    /// It does not reach another one, or they do not reach each other.
    LosesPeer { process: usize, peer: usize, is_one_way: bool, time: Duration },
}

impl Incident {
    /// Of one of these processes. It leaves another one alive.
    pub(super) fn random(rng: &mut Rng, living: &[usize]) -> Self {
        let process = rng.pick(living);
        let others: Vec<_> = living.iter().copied().filter(|other| *other != process).collect();
        // Some are shorter than a lease.
        let time = rng.millis(200..12_000);
        match rng.below(13) {
            12 => Self::HasWrongClock { ahead: rng.pick(&WRONG_CLOCKS), time },
            10..12 if !others.is_empty() => Self::Leaves { process, then: rng.percent(70).then_some(time) },
            0..3 if !others.is_empty() => Self::Ends { process, then: rng.percent(70).then_some(time) },
            3..6 if !others.is_empty() => {
                Self::LosesPeer { process, peer: rng.pick(&others), is_one_way: rng.percent(30), time }
            }
            6..8 => Self::IsPaused { process, time },
            _ => Self::LosesStore { process, fault: rng.pick(&[StoreFault::Cut, StoreFault::Held]), time },
        }
    }
}
