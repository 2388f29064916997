//! Nothing is shown or acknowledged before it is written.

use std::collections::BTreeMap;

use reversi::{
    room::{RoomId, Seq},
    runtime::Notice,
};

use super::{Verdict, ensure};
use crate::{
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

/// The event of the room that a notice is about; none where it does not follow from the notice.
fn told(evidence: &Evidence, notice: &Notice) -> Option<(RoomId, Seq)> {
    let (room, made): (_, Box<dyn Fn(&reversi::room::Room) -> bool>) = match notice {
        Notice::TurnRequested(sheet) => {
            let sheet = **sheet;
            (sheet.game.room, Box::new(move |room| is_at(room, sheet.game.number, sheet.ply)))
        }
        Notice::GameEnded { game, .. } => {
            let number = game.number;
            let over = move |room: &reversi::room::Room| {
                room.game().is_some_and(|game| game.number == number && game.end.is_some())
            };
            (game.room, Box::new(over))
        }
        _ => return None,
    };
    let past = evidence.pasts.get(&room)?;
    // What never was is behind the end of the past.
    let index = past.rooms.iter().position(made).unwrap_or(past.rooms.len());
    Some((room, Seq(index as u64 + 1)))
}

fn is_at(room: &reversi::room::Room, number: u32, ply: u16) -> bool {
    room.running().is_some_and(|game| game.number == number && game.ply() == ply)
}
