//! No player loses on time without a turn request on the open stream. A
//! stream starts with the open turns.
//!
//! While the disk fails, a turn can end before it is announced, since the clocks keep running.

use std::{collections::BTreeMap, time::Duration};

use reversi::{
    room::{EndReason, Fact, GameId, PlayerId},
    runtime::Notice,
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

/// Within this time a stream has received every open turn, even of a room that the disk delayed.
const DELIVERY_TIME: Duration = Duration::from_secs(6);

struct Stream {
    player: PlayerId,
    opened: Duration,
    requested: Vec<(GameId, u16)>,
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    // When the last fault period ended.
    let mut faults_end = Duration::ZERO;
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::ServerBegan { .. } => streams.clear(),
            SimEvent::DiskFaulty(begin) => faults_end = if *begin { Duration::MAX } else { *at },
            SimEvent::Answered { call, outcome: crate::sim::event_log::Outcome::LoggedIn(player) } => {
                current.insert(history.call(*call).0, *player);
            }
            SimEvent::TurnsOpened { stream, client } => {
                let player = current[client];
                streams.retain(|_, older| older.player != player);
                streams.insert(*stream, Stream { player, opened: *at, requested: Vec::new() });
            }
            SimEvent::NoticeReceived { stream, notice } => {
                let Some(stream) = streams.get_mut(stream) else { continue };
                if let Notice::TurnRequested(request) = notice {
                    stream.requested.push((request.game, request.ply));
                }
            }
            SimEvent::TurnsClosed { stream, .. } => {
                streams.remove(stream);
            }
            SimEvent::Written { room: id, events } => {
                for event in events {
                    let Fact::GameEnded(end) = &event.fact else { continue };
                    let Some(before) = history.rooms[id].states.get(event.seq.0 as usize - 2) else { continue };
                    let Some(game) = before.running().filter(|_| end.reason == EndReason::Timeout) else { continue };
                    let mover = game.turn().and_then(|side| before.seats()[side].occupant.player());
                    let turn = (GameId { room: *id, number: game.number }, game.ply());
                    let stream = streams.values().find(|stream| Some(stream.player) == mover);
                    if let Some(stream) =
                        stream.filter(|stream| *at >= stream.opened.max(faults_end).saturating_add(DELIVERY_TIME))
                    {
                        ensure(stream.requested.contains(&turn), || {
                            format!("{} lost {turn:?} on time, without a turn request", stream.player)
                        })?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
