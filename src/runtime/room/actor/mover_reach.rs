//! Whether the player to move can be reached, who may be connected to another node.

use crate::{
    room::PlayerId,
    runtime::{cluster::cluster::Cluster, player::directory::Players},
    store::NodeId,
};

/// The time in which the players to move could not be reached, in microseconds.
#[derive(Default)]
pub(super) struct MoverReach {
    player: Option<PlayerId>,
    /// The other node to which the player is or was last connected; none if it is this one.
    node: Option<NodeId>,
    /// What the node had lost when the player's turn began, or the player connected to it.
    before: i64,
    /// In total, before that.
    earlier: i64,
    /// In total.
    total: i64,
}

impl MoverReach {
    /// In total, since this actor began.
    pub(super) fn total(&self) -> i64 {
        self.total
    }

    /// Follows the player to move and its node. `now` is without the stalls of this node. Returns the total.
    pub(super) fn follow(&mut self, cluster: &Cluster, players: &Players, player: Option<PlayerId>, now: i64) -> i64 {
        let (is_here, node) = player.map_or((true, None), |player| players.place(player));
        if let Some(lost) = self.node.and_then(|node| cluster.reach.lost(node, now)) {
            self.total = self.total.max(self.earlier + lost - self.before);
        }
        // A player who is connected nowhere is expected back from the last node.
        let has_moved = (is_here || node.is_some()) && node != self.node;
        if player != self.player || has_moved {
            let before = node.and_then(|node| cluster.reach.lost_before(node, now)).unwrap_or(0);
            *self = Self { player, node, before, earlier: self.total, total: self.total };
        }
        self.total
    }

    /// True if a move that the player has made by `flag` may not have arrived yet. Both times are without stalls.
    pub(super) fn may_be_under_way(&self, cluster: &Cluster, flag: i64, now: i64) -> bool {
        self.node.is_some_and(|node| cluster.reach.is_uncertain(node, flag, now))
    }
}
