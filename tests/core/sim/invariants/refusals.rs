//! A move that was refused as illegal is not recorded.

use std::collections::BTreeMap;

use reversi::{
    room::{GameId, Rejection, RoomId, Seq},
    rules::Square,
    runtime::RoomError,
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
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
