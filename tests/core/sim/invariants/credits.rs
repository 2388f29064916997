//! No room is credited with more time than the downtime before the server started and the time since.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{Event, Fact, RoomId, Timestamp};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

/// The longest write, which may have begun before a room was created, and the time in which refused clients try again.
const EXCESS: Duration = Duration::from_millis(5_500);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut rooms: BTreeMap<RoomId, Credits> = BTreeMap::new();
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::ServerBegan { wall } => {
                for room in rooms.values_mut() {
                    // The clock may have been set back.
                    *room = Credits { since: room.last.min(*wall), last: room.last, micros: 0 };
                }
            }
            SimEvent::Written { room, events } => {
                let excess = EXCESS + history.clocks_apart;
                let Some(Event { at, .. }) = events.first() else { continue };
                let credits = rooms.entry(*room).or_insert(Credits { since: *at, last: *at, micros: 0 });
                events
                    .iter()
                    .try_for_each(|event| credits.add(event, excess))
                    .map_err(|problem| format!("{room}: {problem}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The credits of a room.
struct Credits {
    /// The last event before the server started, or the start.
    since: Timestamp,
    last: Timestamp,
    /// The sum since the server started.
    micros: i64,
}

impl Credits {
    fn add(&mut self, event: &Event, excess: Duration) -> CheckResult {
        if let Fact::ClockCredited { micros } = event.fact {
            self.micros += micros;
            let (micros, most) = (self.micros, event.at.after(excess).0 - self.since.0);
            ensure(micros <= most, || format!("{micros} microseconds are credited, of {most} that have passed"))?;
        }
        if !matches!(event.fact, Fact::PresenceChanged { .. }) {
            self.last = event.at;
        }
        Ok(())
    }
}
