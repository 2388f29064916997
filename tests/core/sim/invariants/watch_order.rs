//! A watcher gets every written event once and in order, starting from a snapshot or after the last event that it had.

use std::collections::BTreeMap;

use reversi::{
    client,
    proto::convert,
    room::{RoomId, Seq},
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{SimEvent, WatchUpdate},
    recorded_history::{RecordedHistory, RoomHistory},
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut watchers: BTreeMap<u64, (RoomId, Option<Seq>)> = BTreeMap::new();
    for entry in &history.entries {
        match &entry.what {
            SimEvent::WatchStarted { watcher, room, after, .. } => {
                watchers.insert(*watcher, (*room, *after));
            }
            SimEvent::UpdateReceived { watcher, update } => {
                let Some((room, last)) = watchers.get_mut(watcher) else { continue };
                let room_history = history.room(*room)?;
                let seq = update.seq();
                match update {
                    WatchUpdate::Snapshot(_) | WatchUpdate::WireSnapshot(_) => {
                        ensure(last.is_none_or(|last| last <= seq), || format!("watcher {watcher} goes back"))?;
                    }
                    WatchUpdate::Event(_) | WatchUpdate::WireEvent(_) => {
                        let next = last.map(Seq::next);
                        ensure(next == Some(seq), || format!("watcher {watcher}: {update:?} after {last:?}"))?;
                    }
                }
                ensure(is_written(update, room_history), || {
                    format!("watcher {watcher} of {room}: {update:?} is not what was written")
                })?;
                *last = Some(seq);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an update shows what was written. Snapshots over gRPC are checked by `folded`.
fn is_written(update: &WatchUpdate, written: &RoomHistory) -> bool {
    let seq = update.seq();
    match update {
        WatchUpdate::Snapshot(room) => written.at(seq) == Some(&**room),
        WatchUpdate::Event(event) => written.event(seq) == Some(event),
        WatchUpdate::WireSnapshot(_) => true,
        WatchUpdate::WireEvent(event) => {
            let expected = written.event(seq).zip(written.at(seq));
            let expected =
                expected.map(|(event, after)| client::RoomEvent::try_from(convert::room_event(event, after)));
            expected.is_some_and(|expected| expected.as_ref() == Ok(&**event))
        }
    }
}
