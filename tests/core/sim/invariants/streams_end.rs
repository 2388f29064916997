//! A gRPC server that stops ends all streams and answers all calls, in time unless the disk fails.

use std::collections::BTreeSet;

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut calls, mut turns, mut watchers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut stopping, mut disk_failed) = (false, false);
    for LogEntry { what, .. } in &history.entries {
        match what {
            // A server begins without clients, and before the second audit all of them are dropped.
            SimEvent::ServerBegan { .. } | SimEvent::Audited(_) => {
                calls.clear();
                turns.clear();
                watchers.clear();
                (stopping, disk_failed) = (false, false);
            }
            SimEvent::DiskFailed(_) => disk_failed |= stopping,
            SimEvent::Requested { call, .. } => drop(calls.insert(*call)),
            SimEvent::Answered { call, .. } => drop(calls.remove(call)),
            SimEvent::TurnsOpened { stream, .. } => drop(turns.insert(*stream)),
            SimEvent::TurnsClosed { stream, .. } => drop(turns.remove(stream)),
            SimEvent::WatchStarted { watcher, .. } => drop(watchers.insert(*watcher)),
            SimEvent::WatchEnded { watcher, .. } => drop(watchers.remove(watcher)),
            SimEvent::ServerStopping => stopping = true,
            SimEvent::ServerEnded { clean } if stopping => {
                ensure(*clean || disk_failed, || "the server did not stop in time".to_owned())?;
                let open = calls.len() + turns.len() + watchers.len();
                ensure(!clean || open == 0, || format!("still open: {calls:?}, {turns:?}, {watchers:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
