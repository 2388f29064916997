//! A watcher gets every written event once and in order, starting from a snapshot or after the last event that it had.

use std::collections::BTreeMap;

use reversi::room::{RoomId, Seq};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{SimEvent, WatchUpdate},
    recorded_history::RecordedHistory,
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
                let (seq, same) = match update {
                    WatchUpdate::Snapshot(update) => {
                        ensure(last.is_none_or(|last| last <= update.seq()), || {
                            format!("watcher {watcher} goes back")
                        })?;
                        (update.seq(), room_history.at(update.seq()) == Some(&**update))
                    }
                    WatchUpdate::Event(event) => {
                        let next = last.map(Seq::next);
                        ensure(next == Some(event.seq), || format!("watcher {watcher}: {event:?} after {last:?}"))?;
                        (event.seq, room_history.event(event.seq) == Some(event))
                    }
                };
                ensure(same, || format!("watcher {watcher} of {room}: {update:?} is not what was written"))?;
                *last = Some(seq);
            }
            _ => {}
        }
    }
    Ok(())
}
