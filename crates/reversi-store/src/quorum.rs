//! Which nodes may have rooms and serve clients: those that are linked with a majority.
//!
//! Each node stores which others it does not reach. All nodes read the same rows and apply the same rule, so that they agree:
//! two nodes are linked if neither of them is stored as not reaching the other, and a node may serve while it is linked with
//! more than half of the living nodes, itself counted; those with a wrong clock do not count. If no node is, those may serve that are linked with
//! the node that is linked with most; of several such nodes, with the one that has the lowest id. So of two nodes that do not
//! reach each other the one with the lower id goes on.
//!
//! The rule says where players can play best. That no two nodes write to a room is ensured by the fence, whatever it says.

use std::{cmp::Reverse, time::Duration};

use super::shard::NodeId;

/// For this time nodes that do not reach each other count as linked, for a node that serves: a link that broke is usually
/// back within it, and a node that starts is linked.
const PATIENCE: Duration = Duration::from_secs(3);

/// A living node.
#[derive(Clone, Copy, Debug)]
pub struct QuorumNode {
    /// Its id.
    pub id: NodeId,
    /// True if it has not renewed its lease for a while, though the lease has not ended.
    pub is_silent: bool,
}

/// A node does not reach another one, as it says.
#[derive(Clone, Copy, Debug)]
pub struct Unreached {
    /// The node that says so.
    pub node: NodeId,
    /// The node that it does not reach.
    pub peer: NodeId,
    /// For how long.
    pub time: Duration,
}

/// Whether a node may have rooms and serve clients, and whether it serves now. `nodes` are itself and all other living ones,
/// but those that are out of service since their clock is wrong.
#[must_use]
pub fn may_serve(me: NodeId, is_serving: bool, nodes: &[QuorumNode], unreached: &[Unreached]) -> bool {
    // A node that serves does not count those that are about to be declared dead. One that does not waits for that.
    let counts = |node: &&QuorumNode| !(node.is_silent && is_serving);
    let counted: Vec<NodeId> = nodes.iter().filter(counts).map(|node| node.id).collect();
    let are_linked = |one: NodeId, other: NodeId| {
        let parts = |row: &&Unreached| (row.node, row.peer) == (one, other) || (row.node, row.peer) == (other, one);
        let is_long = |row: &Unreached| row.time >= PATIENCE || !is_serving;
        one == other || !unreached.iter().filter(parts).any(is_long)
    };
    let linked = |node: NodeId| counted.iter().filter(|other| are_linked(node, **other)).count();
    let has_majority = |node: NodeId| 2 * linked(node) > counted.len();
    if has_majority(me) {
        return true;
    }
    if counted.iter().any(|node| has_majority(*node)) {
        return false;
    }
    let first = counted.iter().max_by_key(|node| (linked(**node), Reverse(**node)));
    first.is_none_or(|first| are_linked(me, *first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn living(id: i64) -> QuorumNode {
        QuorumNode { id: NodeId(id), is_silent: false }
    }

    fn unreached(node: i64, peer: i64) -> Unreached {
        Unreached { node: NodeId(node), peer: NodeId(peer), time: LONG }
    }

    /// Those of the nodes 1 to `count` that may serve, where some do not reach others.
    fn served(count: i64, ways: &[(i64, i64)]) -> Vec<i64> {
        let nodes: Vec<_> = (1..=count).map(living).collect();
        let ways: Vec<_> = ways.iter().map(|(node, peer)| unreached(*node, *peer)).collect();
        (1..=count).filter(|id| may_serve(NodeId(*id), true, &nodes, &ways)).collect()
    }

    #[test]
    fn nodes_that_are_linked_with_a_majority_serve() {
        assert_eq!(served(1, &[]), [1]);
        assert_eq!(served(3, &[]), [1, 2, 3]);
        assert_eq!(served(3, &[(1, 2)]), [1, 2, 3], "each has two of three");
        assert_eq!(served(3, &[(1, 2), (1, 3)]), [2, 3], "node 1 reaches no other node");
        assert_eq!(served(3, &[(2, 1), (3, 1)]), [2, 3], "no other node reaches node 1");
        assert_eq!(served(3, &[(1, 2), (3, 1)]), [2, 3], "each way in one direction only");
        assert_eq!(served(5, &[(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]), [3, 4, 5]);
    }

    #[test]
    fn without_a_majority_the_largest_part_goes_on_or_that_with_the_lowest_id() {
        assert_eq!(served(2, &[(2, 1)]), [1]);
        assert_eq!(served(2, &[(1, 2), (2, 1)]), [1]);
        assert_eq!(served(3, &[(1, 2), (1, 3), (2, 3)]), [1]);
        let halves = [(1, 3), (1, 4), (2, 3), (2, 4)];
        assert_eq!(served(4, &halves), [1, 2]);
        let thirds = [(1, 2), (1, 3), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5)];
        assert_eq!(served(5, &thirds), [2, 3]);
    }

    #[test]
    fn a_short_break_matters_only_to_a_node_that_does_not_serve_yet() {
        let short = Unreached { time: PATIENCE / 2, ..unreached(2, 1) };
        let nodes = [living(1), living(2)];
        let may_second = |is_serving, ways: &[Unreached]| may_serve(NodeId(2), is_serving, &nodes, ways);
        assert!(may_second(true, &[short]) && !may_second(true, &[unreached(2, 1)]));
        assert!(!may_second(false, &[short]) && may_second(false, &[]));
        assert!(may_serve(NodeId(1), true, &nodes, &[short]) && may_serve(NodeId(1), false, &nodes, &[short]));
    }

    #[test]
    fn a_node_that_is_about_to_be_declared_dead_counts_only_for_those_that_do_not_serve() {
        let nodes = [QuorumNode { is_silent: true, ..living(1) }, living(2)];
        let may_second = |is_serving| may_serve(NodeId(2), is_serving, &nodes, &[unreached(2, 1)]);
        assert!(may_second(true) && !may_second(false));
    }
}
