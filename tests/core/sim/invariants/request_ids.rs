//! A request with an id is executed once, whichever nodes it is sent to, also after a restart: its answers name one
//! room, and one event carries it.

use std::collections::{BTreeMap, BTreeSet};

use reversi::room::{Fact, PlayerId, RoomId};

use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

#[derive(Default)]
struct State<'a> {
    players: BTreeMap<usize, PlayerId>,
    /// The calls of requests with ids.
    calls: BTreeMap<u64, (PlayerId, &'a str)>,
    answered: BTreeMap<(PlayerId, &'a str), RoomId>,
    /// The keys of the requests that events carry.
    done: BTreeSet<u64>,
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut state = State::default();
    for LogEntry { at, what } in &history.entries {
        let checked = match what {
            SimEvent::Requested { call, client, action: Action::Create(_, Some(id)) | Action::Quick(.., Some(id)) } => {
                state.calls.insert(*call, (state.players[client], id));
                Ok(())
            }
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                state.players.insert(history.call(*call).0, *player);
                Ok(())
            }
            // The ids of a player end with its account, though another node may not know that yet.
            SimEvent::Answered { call, outcome: Outcome::LoggedOut } => {
                let player = state.players[&history.call(*call).0];
                state.answered.retain(|(of, _), _| *of != player);
                Ok(())
            }
            SimEvent::Answered { call, outcome: Outcome::RoomCreated(room, _) } => state.answer(*call, *room),
            SimEvent::Written { room, events } => events.iter().try_for_each(|event| state.write(*room, &event.fact)),
            _ => Ok(()),
        };
        checked.map_err(|problem| format!("at {at:?} {problem}"))?;
    }
    Ok(())
}

impl State<'_> {
    fn answer(&mut self, call: u64, room: RoomId) -> CheckResult {
        let Some(request) = self.calls.get(&call) else { return Ok(()) };
        let first = *self.answered.entry(*request).or_insert(room);
        ensure(first == room, || format!("call {call} is answered with {room}, and was with {first}"))
    }

    fn write(&mut self, room: RoomId, fact: &Fact) -> CheckResult {
        let Some(request) = fact.request() else { return Ok(()) };
        ensure(self.done.insert(request.key), || format!("a request is done again in {room}: {fact:?}"))
    }
}
