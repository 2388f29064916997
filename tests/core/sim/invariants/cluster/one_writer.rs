//! In a cluster a room is written by the node that has its shard, and never by one that was declared dead.

use std::collections::{BTreeMap, BTreeSet};

use reversi::runtime::Shard;

use crate::sim::{
    event_log::{LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut owners, mut dead) = (BTreeMap::new(), BTreeSet::new());
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::NodeDead(node, _) => drop(dead.insert(*node)),
            SimEvent::ShardsTaken(node, shards) => owners.extend(shards.0.iter().map(|shard| (*shard, *node))),
            SimEvent::WrittenBy(node, room) => {
                ensure(!dead.contains(node), || format!("at {at:?} dead node {node} writes to {room}"))?;
                let owner = owners.get(&Shard::of(*room));
                ensure(owner == Some(node), || format!("at {at:?} node {node} writes to {room} of {owner:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
