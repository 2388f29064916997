//! Nothing is shown or acknowledged before it is written.

use std::collections::BTreeMap;

use reversi::{
    room::{Game, GameId, Room, RoomId, Seq},
    runtime::Notice,
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, Outcome, SimEvent, WatchUpdate},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut written: BTreeMap<RoomId, Seq> = BTreeMap::new();
    let mut watchers: BTreeMap<u64, RoomId> = BTreeMap::new();
    for LogEntry { what, .. } in &history.entries {
        let shown = match what {
            SimEvent::Written { room, events } => {
                written.extend(events.last().map(|event| (*room, event.seq)));
                None
            }
            SimEvent::WatchStarted { watcher, room, .. } => {
                watchers.insert(*watcher, *room);
                None
            }
            SimEvent::UpdateReceived { watcher, update } => {
                let seq = match update {
                    WatchUpdate::Snapshot(room) => room.seq(),
                    WatchUpdate::Event(event) => event.seq,
                };
                Some((watchers[watcher], seq))
            }
            SimEvent::Answered { outcome: Outcome::RoomCreated(room, seq), .. } => Some((*room, *seq)),
            SimEvent::Answered { call, outcome: Outcome::Done(accepted) } => {
                history.call(*call).1.room().map(|room| (room, accepted.seq))
            }
            SimEvent::NoticeReceived { notice, .. } => cause(history, notice),
            _ => None,
        };
        if let Some((room, seq)) = shown {
            let latest = written.get(&room).copied().unwrap_or_default();
            ensure(seq <= latest, || format!("{what:?} when room {room} was at {latest}"))?;
        }
    }
    Ok(())
}

/// The event of the room that caused a notice; none if the notice does not determine it.
fn cause(history: &RecordedHistory, notice: &Notice) -> Option<(RoomId, Seq)> {
    match notice {
        Notice::TurnRequested(request) => Some(first(history, request.game, |game| game.ply() == request.ply)),
        Notice::GameEnded { game, .. } => Some(first(history, *game, |game| game.end.is_some())),
        _ => None,
    }
}

/// The first event after which `condition` holds for a game; an event after the end of the room if there is none.
fn first(history: &RecordedHistory, id: GameId, condition: impl Fn(&Game) -> bool) -> (RoomId, Seq) {
    let rooms = history.rooms.get(&id.room).map_or(&[][..], |room_history| &room_history.states);
    let holds = |room: &Room| room.game().is_some_and(|game| game.number == id.number && condition(game));
    let index = rooms.iter().position(holds).unwrap_or(rooms.len());
    (id.room, Seq(index as u64 + 1))
}
