//! No player loses on time before having had the full time while a server ran; the downtime of servers does not count,
//! nor does the difference between the clocks of two nodes.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{EndReason, Event, Fact, Room, RoomId, Timestamp};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

/// How early timers may be: they have a resolution of milliseconds.
const TIMER_RESOLUTION: Duration = Duration::from_millis(2);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    // When each running turn began, in the total running time of all servers.
    let mut began: BTreeMap<RoomId, Duration> = BTreeMap::new();
    let mut server_start = (Duration::ZERO, Timestamp(0));
    // How far the clocks of nodes are ahead, and that of the node of the next write.
    let (mut nodes_ahead, mut ahead) = (BTreeMap::new(), 0);
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::ServerBegan { wall } => server_start = (*at, *wall),
            SimEvent::NodeJoined { node, ahead, .. } => drop(nodes_ahead.insert(node, *ahead)),
            SimEvent::WrittenBy(node, _) => ahead = nodes_ahead[node],
            _ => {}
        }
        let SimEvent::Written { room: id, events } = what else { continue };
        let room_history = history.room(*id)?;
        for event in events {
            let Some(before) = event.seq.0.checked_sub(2).and_then(|index| room_history.states.get(index as usize))
            else {
                continue;
            };
            // The event may have been written long after its timestamp.
            let at = server_start.0 + event.at.shifted(-ahead).since(server_start.1);
            if let Fact::GameEnded(end) = &event.fact
                && end.reason == EndReason::Timeout
            {
                let time_given = at.saturating_sub(began.get(id).copied().unwrap_or_default());
                check_time_loss(before, event, time_given).map_err(|problem| format!("{id}: {problem}"))?;
            }
            if matches!(event.fact, Fact::GameStarted { .. } | Fact::Played { .. } | Fact::Passed) {
                began.insert(*id, at);
            }
        }
    }
    Ok(())
}

fn check_time_loss(before: &Room, event: &Event, time_given: Duration) -> CheckResult {
    let Some(game) = before.running() else { return Ok(()) };
    let time = before.settings().time;
    let total = game.turn().and_then(|side| game.clocks[side]);
    let limit = time.per_move.into_iter().chain(total).min().unwrap_or_default();
    ensure(before.flag_falls().is_some_and(|flag| flag <= event.at), || format!("{event:?} before the flag fell"))?;
    ensure(time_given + TIMER_RESOLUTION >= limit, || format!("{event:?}: only {time_given:?} of {limit:?} were given"))
}
