//! Every recorded move is legal in its position, and the moves lead to the recorded last position. No move is recorded
//! that was refused as illegal.

use std::collections::BTreeMap;

use reversi::{
    room::{EndReason, Fact, Game, GameId, Rejection, RoomId, Seq},
    rules::{Position, Square},
    runtime::RoomError,
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    recorded_history::RecordedHistory,
};

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

pub(super) fn check_refusals(history: &RecordedHistory) -> CheckResult {
    let mut written: BTreeMap<RoomId, Seq> = BTreeMap::new();
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::Written { room, events } => written.extend(events.last().map(|event| (*room, event.seq))),
            SimEvent::Answered { call, outcome } if is_illegal_move(outcome) => {
                let (_, Action::Play(game, ply, square)) = history.call(*call) else { continue };
                let on_record = recorded(history, &written, *game, *ply) == Some(Some(*square));
                ensure(!on_record, || format!("call {call} was refused with {outcome:?}, but is on the record"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_illegal_move(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Refused(error) => matches!(error, RoomError::Rejected(Rejection::IllegalMove(_))),
        Outcome::Failed(failure) => failure.is("ILLEGAL_MOVE"),
        _ => false,
    }
}

fn recorded(
    history: &RecordedHistory,
    written: &BTreeMap<RoomId, Seq>,
    game: GameId,
    ply: u16,
) -> Option<Option<Square>> {
    let room = history.rooms.get(&game.room)?.at(*written.get(&game.room)?)?;
    let record = room.game().filter(|record| record.number == game.number)?;
    record.plies.get(usize::from(ply)).map(|ply| ply.square)
}
