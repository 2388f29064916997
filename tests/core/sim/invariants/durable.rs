//! Nothing is shown or acknowledged before it is written.

use std::collections::BTreeMap;

use reversi::{
    room::{Game, GameId, Room, RoomId, Seq},
    runtime::Notice,
};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Moment, Outcome, Seen, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut written: BTreeMap<RoomId, Seq> = BTreeMap::new();
    let mut watchers: BTreeMap<u64, RoomId> = BTreeMap::new();
    for Moment { what, .. } in &evidence.moments {
        let shown = match what {
            What::Wrote { room, events } => {
                written.extend(events.last().map(|event| (*room, event.seq)));
                None
            }
            What::Watched { watcher, room, .. } => {
                watchers.insert(*watcher, *room);
                None
            }
            What::Saw { watcher, seen } => {
                let seq = match seen {
                    Seen::Snapshot(room) => room.seq(),
                    Seen::Event(event) => event.seq,
                };
                Some((watchers[watcher], seq))
            }
            What::Answered { outcome: Outcome::Made(room, seq), .. } => Some((*room, *seq)),
            What::Answered { call, outcome: Outcome::Done(accepted) } => {
                evidence.call(*call).1.room().map(|room| (room, accepted.seq))
            }
            What::Told { notice, .. } => told(evidence, notice),
            _ => None,
        };
        if let Some((room, seq)) = shown {
            let there = written.get(&room).copied().unwrap_or_default();
            ensure(seq <= there, || format!("{what:?} when room {room} was at {there}"))?;
        }
    }
    Ok(())
}

/// The event of the room that caused a notice; none if the notice does not determine it.
fn told(evidence: &Evidence, notice: &Notice) -> Option<(RoomId, Seq)> {
    match notice {
        Notice::TurnRequested(request) => Some(first(evidence, request.game, |game| game.ply() == request.ply)),
        Notice::GameEnded { game, .. } => Some(first(evidence, *game, |game| game.end.is_some())),
        _ => None,
    }
}

/// The first event after which `so` holds for a game; an event after the end of the room if there is none.
fn first(evidence: &Evidence, id: GameId, so: impl Fn(&Game) -> bool) -> (RoomId, Seq) {
    let rooms = evidence.pasts.get(&id.room).map_or(&[][..], |past| &past.rooms);
    let was_so = |room: &Room| room.game().is_some_and(|game| game.number == id.number && so(game));
    let index = rooms.iter().position(was_so).unwrap_or(rooms.len());
    (id.room, Seq(index as u64 + 1))
}
