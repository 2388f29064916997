//! Once all nodes work again, every open watch has the last event of its room.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{RoomId, Seq};

use crate::sim::{
    event_log::{LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

/// Longer than the slowest watcher needs for what it has not read.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut watchers: BTreeMap<u64, (RoomId, Option<Seq>)> = BTreeMap::new();
    let mut written: BTreeMap<RoomId, (Duration, Seq)> = BTreeMap::new();
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::WatchStarted { watcher, room, .. } => drop(watchers.insert(*watcher, (*room, None))),
            SimEvent::WatchEnded { watcher, .. } => drop(watchers.remove(watcher)),
            SimEvent::UpdateReceived { watcher, update } => {
                if let Some((_, seq)) = watchers.get_mut(watcher) {
                    *seq = Some(update.seq());
                }
            }
            SimEvent::Written { room, events } => {
                written.extend(events.last().map(|event| (*room, (*at, event.seq))));
            }
            SimEvent::Audited(_) => {
                for (watcher, (room, seen)) in &watchers {
                    let Some((written, last)) = written.get(room) else { continue };
                    let has_all = seen.is_none_or(|seen| seen == *last) || *written + PATIENCE > *at;
                    ensure(has_all, || format!("watcher {watcher} of {room} has {seen:?}, and {last} was written"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
