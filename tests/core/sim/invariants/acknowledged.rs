//! Everything acknowledged is in the journal: the room after the event named by an answer shows the effect of the
//! request.

use reversi::room::{Command, Room};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Deed, Outcome, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    for moment in &evidence.moments {
        let What::Answered { call, outcome } = &moment.what else { continue };
        let (who, deed) = evidence.call(*call);
        match outcome {
            Outcome::Made(room, seq) => {
                let past = evidence.past(*room)?;
                ensure(past.at(*seq).is_some(), || format!("call {call}: room {room} has no event {seq}"))?;
            }
            Outcome::Done(accepted) => {
                let Some(id) = deed.room() else { continue };
                let room = evidence.past(id)?.at(accepted.seq);
                let room = room.ok_or_else(|| format!("call {call}: room {id} has no event {}", accepted.seq))?;
                ensure(holds(deed, room, evidence, who), || {
                    format!("call {call}: {deed:?} is not so at {}", accepted.seq)
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the room after a request shows its effect.
fn holds(deed: &Deed, room: &Room, evidence: &Evidence, who: usize) -> bool {
    let asks = |player| evidence.was(who, player);
    match deed {
        Deed::Command(_, Command::Join(profile, _)) => room.member(profile.id).is_some(),
        Deed::Command(_, Command::TakeSeat(side)) => room.seats()[*side].occupant.player().is_some_and(asks),
        Deed::Command(_, Command::Kick { player, .. }) => room.member(*player).is_none(),
        Deed::Command(_, Command::Configure(settings)) => room.settings() == &**settings,
        Deed::Command(_, Command::Transfer(player)) => room.owner().is_some_and(|owner| owner.id == *player),
        Deed::Play(id, ply, square) => room.game().is_some_and(|game| {
            let decided = game.plies.get(usize::from(*ply));
            game.number == id.number && decided.is_some_and(|ply| ply.square == Some(*square))
        }),
        Deed::Start(..) => room.game().is_some(),
        _ => true,
    }
}
