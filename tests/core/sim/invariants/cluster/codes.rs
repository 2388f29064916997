//! A join code finds its room from every node, as long as the room is open.

use std::collections::{BTreeMap, BTreeSet};

use reversi::{
    room::{Fact, JoinCode, Rejection, RoomId},
    runtime::RoomError,
};

use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut open: BTreeMap<JoinCode, RoomId> = BTreeMap::new();
    // The calls since whose beginning the room has been open.
    let mut calls: BTreeSet<u64> = BTreeSet::new();
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::Written { room, events } => {
                for event in events {
                    match &event.fact {
                        Fact::Created(creation) => drop(open.insert(creation.code, *room)),
                        Fact::Closed(_) => open.retain(|_, known| known != room),
                        _ => {}
                    }
                }
            }
            SimEvent::Requested { call, action: Action::JoinByCode(code), .. } if open.contains_key(code) => {
                calls.insert(*call);
            }
            SimEvent::Answered { call, outcome } if calls.contains(call) && is_not_found(outcome) => {
                let (_, Action::JoinByCode(code)) = history.call(*call) else { continue };
                let room = open.get(code);
                ensure(room.is_none(), || format!("at {at:?} call {call} does not find {room:?} by its code"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_not_found(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Refused(error) => *error == RoomError::Rejected(Rejection::RoomNotFound),
        Outcome::Failed(failure) => failure.is("ROOM_NOT_FOUND"),
        _ => false,
    }
}
