//! A client that applies a room's events to its snapshot has the room as it was written, also after it has resumed.

use std::collections::BTreeMap;

use reversi::{
    client::{self, Clocks},
    proto::convert,
    room::{Room, RoomId, Seq, Timestamp, Viewer},
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{SimEvent, WatchUpdate},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut watchers: BTreeMap<u64, (RoomId, Option<client::Room>)> = BTreeMap::new();
    for entry in &history.entries {
        match &entry.what {
            SimEvent::WatchStarted { watcher, room, after, .. } => {
                let start = after.and_then(|seq| written(history, *room, seq));
                watchers.insert(*watcher, (*room, start));
            }
            SimEvent::UpdateReceived { watcher, update } => {
                let Some((id, room)) = watchers.get_mut(watcher) else { continue };
                match update {
                    WatchUpdate::WireSnapshot(snapshot) => {
                        let snapshot = comparable((**snapshot).clone());
                        compare(history, *watcher, *id, &snapshot)?;
                        *room = Some(snapshot);
                    }
                    WatchUpdate::WireEvent(event) => {
                        let room = room.as_mut().ok_or_else(|| format!("watcher {watcher}: no room for {event:?}"))?;
                        room.apply(event).map_err(|gap| format!("watcher {watcher}: {gap}"))?;
                    }
                    WatchUpdate::Snapshot(_) | WatchUpdate::Event(_) => {}
                }
            }
            SimEvent::WatchEnded { watcher, .. } => {
                if let Some((id, Some(room))) = watchers.remove(watcher) {
                    compare(history, *watcher, id, &comparable(room))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn compare(history: &RecordedHistory, watcher: u64, id: RoomId, room: &client::Room) -> CheckResult {
    let seq = Seq(room.seq);
    // The event of a move already has the position after the pass that it forces, which is the next event.
    let passes = |room: &Room| room.running().is_some_and(|game| game.position.must_pass());
    if history.room(id)?.at(seq).is_some_and(passes) {
        return Ok(());
    }
    let written = written(history, id, seq);
    ensure(written.as_ref() == Some(room), || format!("watcher {watcher} has {room:?}, and {written:?} was written"))
}

/// The room after an event, as a client has it.
fn written(history: &RecordedHistory, id: RoomId, seq: Seq) -> Option<client::Room> {
    history.rooms.get(&id)?.at(seq).map(for_clients)
}

fn for_clients(room: &Room) -> client::Room {
    let wire = convert::room(room.view(Viewer::Public), Timestamp(0), 0);
    comparable(wire.try_into().expect("a valid room"))
}

/// Without what depends on the time or the viewer.
fn comparable(mut room: client::Room) -> client::Room {
    (room.join_code, room.watchers) = (None, 0);
    if let Some(game) = &mut room.game {
        game.clocks = Clocks::default();
    }
    room
}
