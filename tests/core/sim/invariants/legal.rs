//! Every recorded move is legal in its position, and the moves lead to the recorded last position.

use reversi::{
    room::{EndReason, Fact, Game},
    rules::Position,
};

use super::{Verdict, ensure};
use crate::sim::evidence::Evidence;

pub(super) fn check(evidence: &Evidence) -> Verdict {
    for (id, past) in &evidence.pasts {
        for (before, event) in past.steps() {
            let Fact::GameEnded(end) = &event.fact else { continue };
            let Some(game) = before.running() else { continue };
            replay(game).map_err(|problem| format!("{id}, game {}: {problem}", game.number))?;
            if end.reason == EndReason::Discs {
                let outcome = game.position.outcome();
                let right = outcome.is_some_and(|outcome| outcome.winner == end.winner);
                ensure(right, || format!("{id}, game {}: {end:?} where it stands {outcome:?}", game.number))?;
            }
        }
    }
    Ok(())
}

fn replay(game: &Game) -> Verdict {
    let mut position = Position::START;
    for (ply, made) in game.plies.iter().enumerate() {
        position = match made.square {
            Some(square) => position.play(square).map_err(|_| format!("ply {ply}: {square} is not legal"))?,
            None => {
                ensure(position.must_pass(), || format!("ply {ply}: a pass where there was a move"))?;
                position.pass_unchecked()
            }
        };
    }
    ensure(position == game.position, || "the record makes another position".into())
}
