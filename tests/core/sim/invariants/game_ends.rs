//! Games are numbered without gaps, each ends once, and no event follows the end of a room.

use reversi::room::{Fact, Phase};

use super::{CheckResult, ensure};
use crate::sim::recorded_history::RecordedHistory;

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    for (id, room_history) in &history.rooms {
        let (mut number, mut runs) = (0, false);
        for (before, event) in room_history.steps() {
            ensure(before.phase() != Phase::Closed, || format!("{id}: {event:?} after the end"))?;
            match &event.fact {
                Fact::GameStarted { number: next, .. } => {
                    ensure(!runs && *next == number + 1, || format!("{id}: {event:?} after game {number}"))?;
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
