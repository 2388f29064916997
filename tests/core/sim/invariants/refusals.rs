//! A move that was refused as illegal is not recorded.

use std::collections::BTreeMap;

use reversi::{
    room::{GameId, Rejection, RoomId, Seq},
    rules::Square,
    runtime::RoomError,
};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Deed, Moment, Outcome, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut written: BTreeMap<RoomId, Seq> = BTreeMap::new();
    for Moment { what, .. } in &evidence.moments {
        match what {
            What::Wrote { room, events } => written.extend(events.last().map(|event| (*room, event.seq))),
            What::Answered { call, outcome: Outcome::Refused(RoomError::Rejected(rejection)) } => {
                let (_, Deed::Play(game, ply, square)) = evidence.call(*call) else { continue };
                let stands = recorded(evidence, &written, *game, *ply) == Some(Some(*square));
                let illegal = matches!(rejection, Rejection::IllegalMove(_));
                ensure(!(stands && illegal), || {
                    format!("call {call} was refused with {rejection:?}, and is on the record")
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn recorded(evidence: &Evidence, written: &BTreeMap<RoomId, Seq>, game: GameId, ply: u16) -> Option<Option<Square>> {
    let room = evidence.pasts.get(&game.room)?.at(*written.get(&game.room)?)?;
    let record = room.game().filter(|record| record.number == game.number)?;
    record.plies.get(usize::from(ply)).map(|ply| ply.square)
}
