//! The next owner of a room credits a running game with the time without an owner, before anything else, and no time is
//! credited twice, by the same node or by the one after it: no more than has passed since the room was last served. No
//! clock is charged or credited for the difference between the clocks of two nodes.

use std::{collections::BTreeMap, time::Duration};

use reversi::{
    room::{Event, Fact, RoomId, Seq},
    runtime::{NodeId, Shard},
};

use crate::sim::{
    event_log::{LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
    simulation::START_TIME,
};

/// A stall that is noticed later may have begun before: up to a second, looked for four times a second.
const STALL: Duration = Duration::from_millis(1_250);

/// As [`STALL`], while a node fails: when a player's node was last reached is known from heartbeats, sent four times a
/// second, and their answers. Either may take 0.8 s.
const UNREACHED: Duration = Duration::from_millis(2_100);

/// A room that has no owner, or whose owner has not written to it yet.
struct Unserved {
    /// When an owner last served it.
    since: Duration,
    /// When it got its last owner.
    taken: Option<Duration>,
}

#[derive(Default)]
struct State {
    /// How far the clocks of nodes are ahead.
    ahead: BTreeMap<NodeId, i64>,
    /// How far the clock of the last writer of a room is ahead, by which the times in the room are.
    room_ahead: BTreeMap<RoomId, i64>,
    owners: BTreeMap<Shard, NodeId>,
    /// The node of the next write.
    writer: Option<NodeId>,
    unserved: BTreeMap<RoomId, Unserved>,
    credits: BTreeMap<RoomId, Credits>,
    /// Whether all nodes work, so that no stall lasts.
    is_calm: bool,
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut state = State { is_calm: true, ..State::default() };
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::NodeJoined { node, ahead, .. } => drop(state.ahead.insert(*node, *ahead)),
            SimEvent::DiskFaulty(faulty) => state.is_calm = !faulty,
            SimEvent::NodeDead(node, renewed) => {
                let lost: Vec<_> =
                    state.owners.iter().filter(|(_, owner)| *owner == node).map(|(shard, _)| *shard).collect();
                state.owners.retain(|_, owner| owner != node);
                state.lose(&lost, *renewed);
            }
            SimEvent::ShardsFreed(shards) => state.lose(&shards.0, *at),
            SimEvent::ShardsTaken(node, shards) => {
                state.owners.extend(shards.0.iter().map(|shard| (*shard, *node)));
                for (room, unserved) in &mut state.unserved {
                    if shards.0.contains(&Shard::of(*room)) {
                        unserved.taken = Some(*at);
                    }
                }
            }
            SimEvent::WrittenBy(node, _) => state.writer = Some(*node),
            SimEvent::Written { room, events } => {
                state.write(history, *room, events).map_err(|problem| format!("at {at:?} {room}: {problem}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

impl State {
    /// Rooms of these shards were last served at `since`.
    fn lose(&mut self, shards: &[Shard], since: Duration) {
        for room in self.credits.keys().filter(|room| shards.contains(&Shard::of(**room))) {
            let unserved = self.unserved.entry(*room).or_insert(Unserved { since, taken: None });
            unserved.taken = None;
        }
    }

    fn write(&mut self, history: &RecordedHistory, id: RoomId, events: &[Event]) -> CheckResult {
        let ahead = self.writer.and_then(|writer| self.ahead.get(&writer)).copied().unwrap_or_default();
        // The first credit of another node also moves the times in the room to that node's clock.
        let mut moved = self.room_ahead.insert(id, ahead).map_or(0, |before| ahead - before);
        let time = |event: &Event| event.at.0 - ahead - START_TIME.0;
        let Some(first) = events.first() else { return Ok(()) };
        let begins = Credits { last: time(first), sum: 0, lowest: -time(first) };
        let credits = self.credits.entry(id).or_insert(begins);
        let runs = first.seq.0.checked_sub(1).and_then(|seq| history.rooms[&id].at(Seq(seq))?.running()).is_some();
        if let Some(Unserved { since, taken: Some(taken) }) = self.unserved.remove(&id)
            && runs
        {
            let since = micros(since).max(credits.last);
            let (least, most) = (micros(taken) - since, time(first) - since + micros(STALL));
            let credit = credit(first, moved);
            ensure((least..=most.max(least)).contains(&credit), || {
                format!("{credit} microseconds are credited by the next owner, not {least} to {most}")
            })?;
            credits.lowest = credits.lowest.min(credits.sum - since);
        }
        for event in events {
            let excess = credits.add(event, time(event), std::mem::take(&mut moved), self.is_calm);
            ensure(excess <= micros(if self.is_calm { STALL } else { UNREACHED }), || {
                format!("{excess} microseconds more are credited than have passed: {event:?}")
            })?;
        }
        Ok(())
    }
}

/// What a room has been credited with, in microseconds. Times are by the right clock, since the start.
struct Credits {
    /// When the last event was that was not a change of presence.
    last: i64,
    sum: i64,
    /// The lowest sum less the time, when the room was served. No later one is higher.
    lowest: i64,
}

impl Credits {
    /// Returns how much more is credited than has passed since some moment before.
    fn add(&mut self, event: &Event, time: i64, moved: i64, is_calm: bool) -> i64 {
        self.sum += credit(event, moved);
        let excess = self.sum - time - self.lowest;
        if !matches!(event.fact, Fact::PresenceChanged { .. }) {
            self.last = time;
        }
        if is_calm {
            self.lowest = self.lowest.min(self.sum - time);
        }
        excess
    }
}

/// The credit of an event, of which `moved` is due to another clock.
fn credit(event: &Event, moved: i64) -> i64 {
    if let Fact::ClockCredited { micros } = event.fact { micros - moved } else { 0 }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
