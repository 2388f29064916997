//! After a power cut the file can be opened, and each open room is in the state after the last event that was written.

use std::collections::BTreeMap;

use reversi::room::{Phase, Room, RoomId};

use super::{CheckResult, ensure};
use crate::sim::{event_log::SimEvent, recorded_history::RecordedHistory};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut rooms: BTreeMap<RoomId, &Room> = BTreeMap::new();
    for entry in &history.entries {
        match &entry.what {
            SimEvent::Written { room: id, events } => {
                let room = events.last().and_then(|event| history.rooms[id].at(event.seq));
                rooms.extend(room.map(|room| (*id, room)));
                rooms.retain(|_, room| room.phase() != Phase::Closed);
            }
            SimEvent::Recovered(recovered) => {
                for (id, room) in &recovered.0 {
                    ensure(rooms.contains_key(id), || format!("{id} is open again, at event {}", room.seq()))?;
                }
                for (id, room) in &rooms {
                    let found = recovered.0.get(id);
                    ensure(found == Some(room), || {
                        format!("{id} was at event {}, and is at {:?}", room.seq(), found.map(Room::seq))
                    })?;
                }
            }
            SimEvent::NotRecovered(error) => return Err(error.clone()),
            _ => {}
        }
    }
    Ok(())
}
