//! A credit is at most as long as nothing has happened in the room: no time is credited twice, by the same node or by the
//! next one.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{Fact, RoomId, Timestamp};

use crate::sim::{
    event_log::{LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

/// The longest stall of a node that goes on writing, which may have begun before the last event: a lease, and a second.
const EXCESS: Duration = Duration::from_secs(4);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut last: BTreeMap<RoomId, Timestamp> = BTreeMap::new();
    for LogEntry { what, .. } in &history.entries {
        let SimEvent::Written { room, events } = what else { continue };
        for event in events {
            if let Fact::ClockCredited { micros } = event.fact
                && let Some(last) = last.get(room)
            {
                let most = event.at.after(EXCESS).0 - last.0;
                ensure(micros <= most, || format!("{room}: {micros} are credited, of {most} microseconds"))?;
            }
            if !matches!(event.fact, Fact::PresenceChanged { .. }) {
                last.insert(*room, event.at);
            }
        }
    }
    Ok(())
}
