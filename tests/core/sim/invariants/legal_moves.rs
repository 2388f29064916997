//! Every recorded move is legal in its position, and the moves lead to the recorded last position.

use reversi::{
    room::{EndReason, Fact, Game},
    rules::Position,
};

use super::{CheckResult, ensure};
use crate::sim::recorded_history::RecordedHistory;

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    for (id, room_history) in &history.rooms {
        for (before, event) in room_history.steps() {
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

fn replay(game: &Game) -> CheckResult {
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
