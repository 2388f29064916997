//! Nothing is shown or acknowledged before it is written.

use std::collections::BTreeMap;

use reversi::room::{Game, GameId, Room, RoomId, Seq};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, Outcome, SimEvent},
    grpc::TurnNews,
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
            SimEvent::UpdateReceived { watcher, update } => Some((watchers[watcher], update.seq())),
            SimEvent::Answered { outcome: Outcome::RoomCreated(room, seq) | Outcome::Joined(room, seq), .. } => {
                Some((*room, *seq))
            }
            SimEvent::Answered { call, outcome: Outcome::Done(seq) } => {
                history.call(*call).1.room().map(|room| (room, *seq))
            }
            _ => what.turn_news().map(|(_, news)| cause(history, news)),
        };
        if let Some((room, seq)) = shown {
            let latest = written.get(&room).copied().unwrap_or_default();
            ensure(seq <= latest, || format!("{what:?} when room {room} was at {latest}"))?;
        }
    }
    Ok(())
}

/// The event of the room that caused what a stream of turns says.
fn cause(history: &RecordedHistory, news: TurnNews) -> (RoomId, Seq) {
    match news {
        TurnNews::Asked(game, ply) => first(history, game, |game| game.ply() == ply),
        TurnNews::Played(game, ply, square) => first(history, game, |game| {
            game.plies.get(usize::from(ply)).is_some_and(|played| played.square == Some(square))
        }),
        TurnNews::GameEnded(game) => first(history, game, |game| game.end.is_some()),
    }
}

/// The first event after which `condition` holds for a game; an event after the end of the room if there is none.
fn first(history: &RecordedHistory, id: GameId, condition: impl Fn(&Game) -> bool) -> (RoomId, Seq) {
    let rooms = history.rooms.get(&id.room).map_or(&[][..], |room_history| &room_history.states);
    let holds = |room: &Room| room.game().is_some_and(|game| game.number == id.number && condition(game));
    let index = rooms.iter().position(holds).unwrap_or(rooms.len());
    (id.room, Seq(index as u64 + 1))
}
