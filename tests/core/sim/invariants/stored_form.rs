//! Every event and every room survives being stored, and every event fits the room before it.

use reversi::room::stored::{decode_event, decode_room, encode_event, encode_room};

use super::{CheckResult, ensure};
use crate::sim::recorded_history::RecordedHistory;

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    for (id, room_history) in &history.rooms {
        for (before, event) in room_history.steps() {
            before.check_next(event).map_err(|error| format!("{id}: {error}: {event:?}"))?;
            let read = decode_event(&encode_event(event));
            ensure(read.as_ref() == Ok(event), || format!("{id}: {event:?} was read as {read:?}"))?;
        }
        // A sample: successive rooms differ little.
        for room in room_history.states.iter().step_by(7).chain(room_history.states.last()) {
            let read = decode_room(&encode_room(room));
            ensure(read.as_ref() == Ok(room), || format!("{id}: {room:?} was read as {read:?}"))?;
        }
    }
    Ok(())
}
