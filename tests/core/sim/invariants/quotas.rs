//! No player ever has more seats or rooms than allowed.

use std::collections::{BTreeMap, BTreeSet};

use reversi::room::{Phase, PlayerId, RoomId};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut seats: BTreeMap<PlayerId, BTreeSet<RoomId>> = BTreeMap::new();
    let mut rooms = seats.clone();
    for LogEntry { what, .. } in &history.entries {
        let SimEvent::Written { room: id, events } = what else { continue };
        let Some(room) = events.last().and_then(|event| history.rooms.get(id)?.at(event.seq)) else { continue };
        let open = room.phase() != Phase::Closed;
        let sits = |player| open && room.seat_of(player).is_some();
        let belongs = |player| open && room.member(player).is_some();
        for (player, seat_limit) in &history.players {
            let held = hold(&mut seats, *player, *id, sits(*player));
            ensure(held <= *seat_limit, || format!("{player} holds {held} seats with {what:?}"))?;
            let held = hold(&mut rooms, *player, *id, belongs(*player));
            ensure(held <= history.rooms_per_player, || format!("{player} is in {held} rooms with {what:?}"))?;
        }
    }
    Ok(())
}

/// Records whether a player has a room or seat. Returns the new number.
fn hold(holdings: &mut BTreeMap<PlayerId, BTreeSet<RoomId>>, player: PlayerId, room: RoomId, holds: bool) -> usize {
    let held = holdings.entry(player).or_default();
    if holds {
        held.insert(room);
    } else {
        held.remove(&room);
    }
    held.len()
}
