//! Games are numbered without gaps, each ends once, and no event follows the end of a room.

use reversi::room::{Fact, Phase};

use super::{Verdict, ensure};
use crate::sim::evidence::Evidence;

pub(super) fn check(evidence: &Evidence) -> Verdict {
    for (id, past) in &evidence.pasts {
        let (mut number, mut runs) = (0, false);
        for (before, event) in past.steps() {
            ensure(before.phase() != Phase::Closed, || format!("{id}: {event:?} behind the end"))?;
            match &event.fact {
                Fact::GameStarted { number: next, .. } => {
                    ensure(!runs && *next == number + 1, || format!("{id}: {event:?} behind game {number}"))?;
                    (number, runs) = (*next, true);
                }
                Fact::GameEnded(_) => {
                    ensure(runs, || format!("{id}: game {number} ends twice"))?;
                    runs = false;
                }
                Fact::Closed(_) => ensure(!runs, || format!("{id}: game {number} never ends"))?,
                _ => {}
            }
        }
    }
    Ok(())
}
