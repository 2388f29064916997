//! A request with an id is executed once, whichever nodes it is sent to: its answers name one room, and it makes at most one
//! room that lasts.

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
    /// The requests for which rooms are created.
    makers: BTreeMap<RoomId, (PlayerId, &'a str)>,
    /// The open rooms that requests have made.
    open: BTreeMap<(PlayerId, &'a str), BTreeSet<RoomId>>,
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
            SimEvent::RequestNoted { player, id, room } => {
                // A room is created after its request was recorded, and before others.
                state.makers.entry(*room).or_insert((*player, id));
                Ok(())
            }
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
        let Some(request) = self.makers.get(&room) else { return Ok(()) };
        let open = self.open.entry(*request).or_default();
        match fact {
            Fact::Created(_) => drop(open.insert(room)),
            Fact::Closed(_) => drop(open.remove(&room)),
            _ => {}
        }
        ensure(open.len() <= 1, || format!("{request:?} has made {open:?}"))
    }
}
