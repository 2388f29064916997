//! No player loses on time before having had the full time while a server ran; the downtime of servers does not count.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{EndReason, Event, Fact, Room, RoomId, Timestamp};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Moment, What},
};

/// How early timers may be: they have a resolution of milliseconds.
const GRAIN: Duration = Duration::from_millis(2);

pub(super) fn check(evidence: &Evidence) -> Verdict {
    // When each running turn began, in the total running time of all servers.
    let mut began: BTreeMap<RoomId, Duration> = BTreeMap::new();
    let mut dawn = (Duration::ZERO, Timestamp(0));
    for Moment { at, what } in &evidence.moments {
        if let What::Began { wall } = what {
            dawn = (*at, *wall);
        }
        let What::Wrote { room: id, events } = what else { continue };
        let past = evidence.past(*id)?;
        for event in events {
            let Some(before) = event.seq.0.checked_sub(2).and_then(|index| past.rooms.get(index as usize)) else {
                continue;
            };
            // The event may have been written long after its timestamp.
            let at = dawn.0 + event.at.since(dawn.1);
            if let Fact::GameEnded(end) = &event.fact
                && end.reason == EndReason::Timeout
            {
                let had = at.saturating_sub(began.get(id).copied().unwrap_or_default());
                fell_in_time(before, event, had).map_err(|problem| format!("{id}: {problem}"))?;
            }
            if matches!(event.fact, Fact::GameStarted { .. } | Fact::Played { .. } | Fact::Passed) {
                began.insert(*id, at);
            }
        }
    }
    Ok(())
}

fn fell_in_time(before: &Room, event: &Event, had: Duration) -> Verdict {
    let Some(game) = before.running() else { return Ok(()) };
    let time = before.settings().time;
    let total = game.turn().and_then(|side| game.clocks[side]);
    let limit = time.per_move.into_iter().chain(total).min().unwrap_or_default();
    ensure(before.flag_falls().is_some_and(|flag| flag <= event.at), || format!("{event:?} before the flag fell"))?;
    ensure(had + GRAIN >= limit, || format!("{event:?}: only {had:?} of {limit:?} were given"))
}
