//! No flag falls because the node of the player to move and that of the room did not reach each other.

use std::{collections::BTreeMap, time::Duration};

use reversi::{
    room::{EndReason, Event, Fact, PlayerId, Room, RoomId, Timestamp},
    runtime::{NodeId, Shard},
};

use crate::sim::{
    event_log::{LogEntry, Outcome, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

/// A shorter break holds no clock; and within this time the room's node knows where a stream of turns is open.
const NOTICED: Duration = Duration::from_secs(2);

/// A break holds a clock for no longer.
const MOST: Duration = Duration::from_secs(30);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut state = State::default();
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::ServerBegan { wall } => state.start = *wall,
            SimEvent::NodeJoined { node, process, ahead } => drop(state.nodes.insert(*node, (*process, *ahead))),
            SimEvent::ShardsTaken(_, shards) => state.taken.extend(shards.0.iter().map(|shard| (*shard, *at))),
            SimEvent::WrittenBy(node, _) => state.writer = state.nodes[node],
            SimEvent::Apart { ways, is_over: false } => {
                state.breaks.push(Break { ways: ways.clone(), began: *at, end: None })
            }
            SimEvent::Apart { ways, is_over: true } => {
                let known = state.breaks.iter_mut().find(|known| known.end.is_none() && known.ways == *ways);
                known.into_iter().for_each(|known| known.end = Some(*at));
            }
            SimEvent::ClientAt { client, process } => drop(state.clients.insert(*client, *process)),
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                state.players.insert(history.call(*call).0, *player);
            }
            SimEvent::TurnsOpened { stream, client } => {
                let (player, process) = (state.players[client], state.clients[client]);
                state.streams.insert(*stream, Stream { player, process, opened: *at });
            }
            SimEvent::TurnsClosed { stream, .. } => drop(state.streams.remove(stream)),
            SimEvent::Written { room, events } => {
                let states = &history.room(*room)?.states;
                for event in events {
                    let index = usize::try_from(event.seq.0).ok().and_then(|seq| seq.checked_sub(2));
                    let before = index.and_then(|index| states.get(index));
                    state.check(*room, event, before).map_err(|problem| format!("{room}: {problem}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[derive(Default)]
struct State {
    start: Timestamp,
    /// The process of a node, and how far its clock is ahead.
    nodes: BTreeMap<NodeId, (usize, i64)>,
    taken: BTreeMap<Shard, Duration>,
    /// As `nodes`, of the next write.
    writer: (usize, i64),
    breaks: Vec<Break>,
    clients: BTreeMap<usize, usize>,
    players: BTreeMap<usize, PlayerId>,
    streams: BTreeMap<u64, Stream>,
    /// When the running turn of a room began.
    began: BTreeMap<RoomId, Duration>,
}

/// The time in which the first process of each pair did not reach the second one.
struct Break {
    ways: Vec<(usize, usize)>,
    began: Duration,
    end: Option<Duration>,
}

/// An open stream of turns.
struct Stream {
    player: PlayerId,
    process: usize,
    opened: Duration,
}

impl State {
    fn check(&mut self, room: RoomId, event: &Event, before: Option<&Room>) -> CheckResult {
        let (process, ahead) = self.writer;
        // The event may have been written long after its timestamp.
        let at = event.at.shifted(-ahead).since(self.start);
        if matches!(event.fact, Fact::GameStarted { .. } | Fact::Played { .. } | Fact::Passed) {
            self.began.insert(room, at);
        }
        let Fact::GameEnded(end) = &event.fact else { return Ok(()) };
        let running = before.and_then(|before| Some((before, before.running()?)));
        let Some((before, game)) = running.filter(|_| end.reason == EndReason::Timeout) else { return Ok(()) };
        let Some(side) = game.turn() else { return Ok(()) };
        let player = before.seats()[side].occupant.player();
        let Some(stream) = self.streams.values().find(|stream| Some(stream.player) == player) else { return Ok(()) };
        let (began, time) = (self.began[&room], before.settings().time);
        let limit = time.per_move.into_iter().chain(game.clocks[side]).min().unwrap_or_default();
        // What the node of the room can know.
        let since = began.max(self.taken[&Shard::of(room)]);
        let held = self.breaks.iter().filter(|known| known.is_between(process, stream.process)).map(|known| {
            let is_known = known.began >= stream.opened + NOTICED;
            let held = known.end.unwrap_or(at).min(at).saturating_sub(known.began.max(since));
            if is_known { held.min(MOST).saturating_sub(NOTICED) } else { Duration::ZERO }
        });
        let (held, passed) = (held.max().unwrap_or_default(), at.saturating_sub(began));
        ensure(held.is_zero() || passed >= limit + held, || {
            format!("{event:?} after {passed:?}, of which {held:?} do not count")
        })
    }
}

impl Break {
    fn is_between(&self, one: usize, other: usize) -> bool {
        self.ways.iter().any(|way| *way == (one, other) || *way == (other, one))
    }
}
