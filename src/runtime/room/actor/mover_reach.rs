//! Whether the player to move can be reached, who may be connected to another node.

use super::RoomActor;
use crate::{
    room::{PlayerId, Timestamp},
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
    pub(super) fn total(&self) -> i64 {
        self.total
    }
}

impl RoomActor {
    /// The time in which the players to move could not be reached, in microseconds since this actor began.
    pub(super) fn unreached(&mut self, now: Timestamp) -> i64 {
        let cluster = &self.context.cluster;
        if !cluster.shares_store() {
            return 0;
        }
        let time = self.context.stalls.unstalled(now);
        let player = self.notifier().player_to_move();
        let (is_here, node) = player.map_or((true, None), |player| self.context.players.place(player));
        let mover = &mut self.mover;
        if let Some(lost) = mover.node.and_then(|node| cluster.reach.lost(node, time)) {
            mover.total = mover.total.max(mover.earlier + lost - mover.before);
        }
        // A player who is connected nowhere is expected back from the last node.
        let has_moved = (is_here || node.is_some()) && node != mover.node;
        if player != mover.player || has_moved {
            let before = node.and_then(|node| cluster.reach.lost_before(node, time)).unwrap_or(0);
            *mover = MoverReach { player, node, before, earlier: mover.total, total: mover.total };
        }
        mover.total
    }

    /// True if the time of the player to move is over, but a move in time may not have arrived yet.
    pub(super) fn awaits_mover(&self, now: Timestamp) -> bool {
        let (Some(node), Some(flag)) = (self.mover.node, self.room.flag_falls()) else { return false };
        let stalls = &self.context.stalls;
        let flag = flag.0.saturating_sub(stalls.lost(now));
        self.cache.due == self.room.flag_falls()
            && self.context.cluster.reach.is_uncertain(node, flag, stalls.unstalled(now))
    }
}
