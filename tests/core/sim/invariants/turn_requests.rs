//! A player with an open stream is asked for every turn that stays open for a while. A stream starts with the open
//! turns.
//!
//! While the disk fails, a turn can end before it is announced, since the clocks keep running.

use std::{collections::BTreeMap, time::Duration};

use reversi::room::{GameId, PlayerId, Room, RoomId};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, Outcome, SimEvent},
    grpc::TurnNews,
    recorded_history::RecordedHistory,
};

/// Within this time a stream has received every open turn, even of a room that the disk delayed.
const DELIVERY_TIME: Duration = Duration::from_secs(6);

struct Stream {
    player: PlayerId,
    opened: Duration,
    requested: Vec<(GameId, u16)>,
}

/// A turn of a player.
#[derive(Clone, Copy, PartialEq)]
struct Turn {
    player: PlayerId,
    game: GameId,
    ply: u16,
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    let mut turns: BTreeMap<RoomId, (Turn, Duration)> = BTreeMap::new();
    // When the last fault period ended.
    let mut faults_end = Duration::ZERO;
    for entry in &history.entries {
        let LogEntry { at, what } = entry;
        match what {
            SimEvent::ServerBegan { .. } => streams.clear(),
            SimEvent::DiskFaulty(begin) => faults_end = if *begin { Duration::MAX } else { *at },
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                current.insert(history.call(*call).0, *player);
            }
            SimEvent::TurnsOpened { stream, client } => {
                let player = current[client];
                streams.retain(|_, older| older.player != player);
                streams.insert(*stream, Stream { player, opened: *at, requested: Vec::new() });
            }
            SimEvent::TurnsClosed { stream, .. } => {
                streams.remove(stream);
            }
            SimEvent::Written { room: id, events } => {
                let next = events.last().and_then(|event| turn(*id, history.rooms[id].at(event.seq)?));
                let before = turns.get(id).copied();
                if let Some((turn, began)) = before.filter(|(turn, _)| Some(*turn) != next) {
                    turns.remove(id);
                    let stream = streams.values().find(|stream| stream.player == turn.player);
                    let due = |stream: &&Stream| {
                        *at >= stream.opened.max(began).max(faults_end).saturating_add(DELIVERY_TIME)
                    };
                    let asked =
                        stream.filter(due).is_none_or(|stream| stream.requested.contains(&(turn.game, turn.ply)));
                    ensure(asked, || format!("{} was not asked for {} {}", turn.player, turn.game, turn.ply))?;
                }
                if let Some(next) = next {
                    turns.entry(*id).or_insert((next, *at));
                }
            }
            _ => {
                if let Some((stream, TurnNews::Asked(game, ply))) = what.turn_news()
                    && let Some(stream) = streams.get_mut(&stream)
                {
                    stream.requested.push((game, ply));
                }
            }
        }
    }
    Ok(())
}

/// The turn that is open in a room, if it is a player's.
fn turn(id: RoomId, room: &Room) -> Option<Turn> {
    let game = room.running()?;
    let player = room.seats()[game.turn()?].occupant.player()?;
    Some(Turn { player, game: GameId { room: id, number: game.number }, ply: game.ply() })
}
