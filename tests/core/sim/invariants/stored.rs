//! Every event and every room survives being stored, and every event fits the room before it.

use reversi::room::stored::{decode_event, decode_room, encode_event, encode_room};

use super::{Verdict, ensure};
use crate::sim::evidence::Evidence;

pub(super) fn check(evidence: &Evidence) -> Verdict {
    for (id, past) in &evidence.pasts {
        for (before, event) in past.steps() {
            before.check_next(event).map_err(|error| format!("{id}: {error}: {event:?}"))?;
            let read = decode_event(&encode_event(event));
            ensure(read.as_ref() == Ok(event), || format!("{id}: {event:?} was read as {read:?}"))?;
        }
        // A sample: successive rooms differ little.
        for room in past.rooms.iter().step_by(7).chain(past.rooms.last()) {
            let read = decode_room(&encode_room(room));
            ensure(read.as_ref() == Ok(room), || format!("{id}: {room:?} was read as {read:?}"))?;
        }
    }
    Ok(())
}
