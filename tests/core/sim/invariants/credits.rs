//! Each room is credited for the downtime between two servers once for each start.

use std::collections::BTreeMap;

use reversi::room::Fact;

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut given, mut starts) = (BTreeMap::new(), 1);
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::ServerBegan { .. } => {
                given.clear();
                starts = 1;
            }
            // A failed start is tried again.
            SimEvent::ServerStarted(false) => starts += 1,
            SimEvent::Written { room, events } => {
                let credits = events.iter().filter(|event| matches!(event.fact, Fact::ClockCredited { .. })).count();
                let given = given.entry(*room).or_insert(0);
                *given += credits;
                ensure(*given <= starts, || format!("{room} was given time back {given} times in {starts} starts"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
