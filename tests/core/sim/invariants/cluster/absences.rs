//! No player is recorded as absent whose stream of turns has been open for long: a node that cannot be reached is no absence.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{Fact, PlayerId};

use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

/// The end of an earlier stream may arrive before the begin of this one, if it began at a node that is cut off meanwhile.
const LONG: Duration = Duration::from_secs(14);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    let mut streams: BTreeMap<u64, (PlayerId, Duration)> = BTreeMap::new();
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                current.insert(history.call(*call).0, *player);
            }
            SimEvent::TurnsOpened { stream, client } => drop(streams.insert(*stream, (current[client], *at))),
            SimEvent::TurnsClosed { stream, .. } => drop(streams.remove(stream)),
            // The rooms are left before the streams are closed.
            SimEvent::Requested { client, action: Action::LogOut, .. } => {
                streams.retain(|_, (player, _)| Some(&*player) != current.get(client));
            }
            SimEvent::Written { room, events } => {
                for event in events {
                    let Fact::PresenceChanged { player, present: false } = event.fact else { continue };
                    let open = streams.values().filter(|(of, opened)| *of == player && *at > *opened + LONG).count();
                    ensure(open == 0, || format!("{player} is absent from {room} with an open stream"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
