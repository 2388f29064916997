//! How long other nodes could not be reached. In that time the players there learned of no turn, and their moves did not
//! arrive, so that rooms credit their clocks.
//!
//! Nodes send each other heartbeats, each with the newest one that its sender has received. So a node knows until when
//! its messages and their answers have arrived. Times are microseconds of the node's clock without its own stalls, for
//! which all rooms are credited anyway.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use crate::{runtime::stalls::SHORTEST, store::NodeId};

/// The interval of heartbeats.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(250);

/// The clock of a player whose node cannot be reached is held for this time at most, in microseconds. Within it a node is
/// declared dead or reached through another one, and its clients find another node.
const MOST: i64 = 30_000_000;

/// What is known of one node.
#[derive(Clone, Copy)]
struct Reached {
    /// Until when it was reached.
    until: i64,
    /// When its newest heartbeat was sent, by its clock.
    received: i64,
    /// When that arrived.
    heard: i64,
    /// The total time in which it was not reached.
    lost: i64,
}

impl Reached {
    /// The time since it was last reached.
    fn gap(&self, now: i64) -> i64 {
        now.saturating_sub(self.until).max(0)
    }
}

/// The other nodes, as far as they have sent heartbeats.
#[derive(Default)]
pub(crate) struct Reach(RwLock<BTreeMap<NodeId, Reached>>);

impl Reach {
    /// Notes a heartbeat that a node has sent at `sent`, when it had received the one sent to it at `received`. Returns
    /// true if the node is reached again after a long time.
    pub(crate) fn note(&self, node: NodeId, sent: i64, received: Option<i64>, now: i64) -> bool {
        let mut nodes = self.write();
        let known = nodes.entry(node).or_insert(Reached { until: now, received: sent, heard: now, lost: 0 });
        // Heartbeats that were held up arrive together, and say that they were sent in time.
        let was_held_up = is_long(now.saturating_sub(known.heard));
        (known.received, known.heard) = (sent, now);
        let until = match received {
            Some(answered) if answered > known.until => {
                if was_held_up {
                    now
                } else {
                    answered.min(now)
                }
            }
            _ => known.until,
        };
        let gap = known.gap(until);
        known.until = known.until.max(until);
        if is_long(gap) {
            known.lost += gap.min(MOST);
        }
        is_long(gap)
    }

    /// When the newest heartbeat of a node was sent, by its clock.
    pub(crate) fn received(&self, node: NodeId) -> Option<i64> {
        self.read().get(&node).map(|known| known.received)
    }

    /// The total time in which a node was not reached; None if it is not known. Later calls return no less until `forget`.
    pub(crate) fn lost(&self, node: NodeId, now: i64) -> Option<i64> {
        let known = *self.read().get(&node)?;
        let gap = known.gap(now);
        Some(known.lost + if is_long(gap) { gap.min(MOST) } else { 0 })
    }

    /// What [`Reach::lost`] returns later if the node is not reached from now on, less the time from now on.
    pub(crate) fn lost_before(&self, node: NodeId, now: i64) -> Option<i64> {
        let known = *self.read().get(&node)?;
        Some(known.lost + known.gap(now).min(MOST))
    }

    /// True if a node may not have been reached at a time: it was not since, and may be again.
    pub(crate) fn is_uncertain(&self, node: NodeId, time: i64, now: i64) -> bool {
        self.read().get(&node).is_some_and(|known| known.until < time && known.gap(now) < MOST)
    }

    /// Forgets nodes that have ended long ago.
    pub(crate) fn forget(&self, is_living: impl Fn(NodeId) -> bool, now: i64) {
        self.write().retain(|node, known| is_living(*node) || known.gap(now) < 2 * MOST);
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<NodeId, Reached>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<NodeId, Reached>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shorter delays are normal on a busy server.
fn is_long(gap: i64) -> bool {
    u64::try_from(gap).is_ok_and(|gap| Duration::from_micros(gap) > SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(2);
    const SECOND: i64 = 1_000_000;

    #[test]
    fn the_time_between_two_received_heartbeats_is_lost_if_it_is_long() {
        let reach = Reach::default();
        assert_eq!(reach.lost(NODE, 0), None);
        reach.note(NODE, 7, None, 0);
        assert_eq!((reach.lost(NODE, SECOND), reach.lost(NODE, 3 * SECOND)), (Some(0), Some(3 * SECOND)));
        // It sends, but does not receive.
        reach.note(NODE, 8, Some(0), SECOND);
        reach.note(NODE, 9, Some(0), 2 * SECOND);
        reach.note(NODE, 10, Some(0), 3 * SECOND);
        assert_eq!((reach.lost(NODE, 4 * SECOND), reach.received(NODE)), (Some(4 * SECOND), Some(10)));
        reach.note(NODE, 11, Some(4 * SECOND), 4 * SECOND);
        reach.note(NODE, 12, Some(5 * SECOND), 5 * SECOND);
        assert_eq!(reach.lost(NODE, 5 * SECOND), Some(4 * SECOND));
    }

    #[test]
    fn a_turn_that_began_in_the_lost_time_gets_the_rest_of_it() {
        let reach = Reach::default();
        reach.note(NODE, 0, None, 0);
        let began = reach.lost_before(NODE, 4 * SECOND).unwrap();
        assert_eq!(reach.lost(NODE, 4 * SECOND).unwrap() - began, 0);
        reach.note(NODE, 1, Some(9 * SECOND), 9 * SECOND);
        assert_eq!(reach.lost(NODE, 9 * SECOND).unwrap() - began, 5 * SECOND);
    }

    #[test]
    fn heartbeats_that_arrive_late_and_together_hide_no_lost_time() {
        let reach = Reach::default();
        reach.note(NODE, 0, None, 0);
        for quarter in 1..=12 {
            let sent = quarter * SECOND / 4;
            reach.note(NODE, sent, Some(sent), 3 * SECOND);
        }
        assert_eq!(reach.lost(NODE, 3 * SECOND), Some(3 * SECOND));
        reach.note(NODE, 4 * SECOND, Some(4 * SECOND), 4 * SECOND);
        assert_eq!(reach.lost(NODE, 4 * SECOND), Some(3 * SECOND));
    }

    #[test]
    fn it_is_uncertain_whether_a_node_was_reached_until_it_answers_or_too_long_has_passed() {
        let reach = Reach::default();
        reach.note(NODE, 0, None, 0);
        assert!(!reach.is_uncertain(NODE, 0, SECOND) && reach.is_uncertain(NODE, 1, SECOND));
        assert!(reach.is_uncertain(NODE, 1, MOST - 1) && !reach.is_uncertain(NODE, 1, MOST));
        assert_eq!(reach.lost(NODE, 2 * MOST), Some(MOST));
        reach.note(NODE, 1, Some(SECOND / 2), MOST);
        assert!(!reach.is_uncertain(NODE, 1, MOST));
        reach.forget(|_| false, 2 * MOST);
        assert!(reach.received(NODE).is_some());
        reach.forget(|_| false, 3 * MOST);
        assert!(reach.received(NODE).is_none());
    }
}
