//! Whether this node may serve clients, and whose players are connected to the others.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::Node;
use crate::{
    room::PlayerId,
    runtime::{
        cluster::reach::HEARTBEAT,
        lifecycle::ticks,
        outcome::StreamEnd,
        room::{message::Message, presence::check_presence},
        server_metrics,
    },
    store::{ClusterStore, Lease, NodeId},
};

/// Why a node serves no clients after its lease has ended.
pub(super) const LEASE_LOST: &str = "it could not renew its lease";

impl Node {
    /// Records the other live nodes. The players of those that no longer live count as absent, until they connect to another
    /// node.
    pub fn learn_nodes(&self, living: impl IntoIterator<Item = NodeId>) {
        let gone = self.cluster.learn_nodes(living.into_iter().collect());
        gone.into_iter().for_each(|node| self.forget_streams(node));
    }

    /// Call when there is a link from another node.
    pub fn linked_by(&self, node: NodeId) {
        // News of accounts may have been lost with an earlier link.
        self.cluster.linked_by.notify_one();
        self.host().context.players.attached.await_confirmation(node);
    }

    /// Call when the link from a node has ended. While that node lives, its players count as it said last: only their own
    /// node knows whether they are gone.
    pub fn unlinked(&self, node: NodeId) {
        if !self.cluster.is_living(node) {
            self.forget_streams(node);
        }
    }

    /// A node has told of all its players over a new link.
    pub(super) fn note_all_told(&self, node: NodeId) {
        let gone = self.host().context.players.attached.remove_unconfirmed(node);
        self.check_absent(gone);
    }

    /// Notes a heartbeat of another node.
    pub(super) fn note_heartbeat(&self, node: NodeId, sent: i64, received: Option<i64>) {
        if !self.cluster.reach.note(node, sent, received, self.unstalled_time()) {
            return;
        }
        tracing::warn!(%node, "the node is reached again; the clocks of its players are credited with the time between");
        let context = &self.host().context;
        let players = context.players.attached.with_turns(node).into_iter();
        for room in players.filter_map(|player| context.players.get(player)).flat_map(|player| player.rooms()) {
            if let Some(room) = context.registry.live(room) {
                // A room with a full mailbox does this before its next command or deadline.
                let _ = room.try_send(Message::CreditStalls(Arc::default()));
            }
        }
    }

    /// Sends heartbeats to the other nodes until the server stops.
    pub(in crate::runtime) async fn send_heartbeats(self) {
        let lifecycle = &self.host().context.lifecycle;
        let mut ticks = ticks(HEARTBEAT);
        while lifecycle.next_tick(&mut ticks).await {
            self.cluster.send_heartbeats(self.unstalled_time());
        }
    }

    fn unstalled_time(&self) -> i64 {
        let context = &self.host().context;
        context.stalls.unstalled(context.clock.now())
    }

    fn forget_streams(&self, node: NodeId) {
        let gone = self.host().context.players.attached.remove(node);
        self.check_absent(gone);
    }

    /// Tells the rooms of players to check whether these are present.
    fn check_absent(&self, players: Vec<PlayerId>) {
        let host = self.host();
        for player in players.into_iter().filter_map(|player| host.context.players.get(player)) {
            check_presence(host, &player, player.rooms());
        }
    }

    /// Serves no clients from the end of a lease on until it is renewed, if there is another server that takes the
    /// rooms meanwhile; until the server stops. For a node that has all rooms.
    pub async fn follow_lease(self, store: Arc<dyn ClusterStore>) {
        let mut lease = store.lease();
        loop {
            let Lease { end, is_replaceable, .. } = *lease.borrow_and_update();
            let has_lease = Instant::now() < end;
            self.set_in_service((is_replaceable && !has_lease).then_some(LEASE_LOST), false);
            tokio::select! {
                biased;
                () = self.host().context.lifecycle.stop.cancelled() => return,
                renewed = lease.changed() => if renewed.is_err() {
                    return;
                },
                () = sleep_until(end), if has_lease => {}
            }
        }
    }

    /// Sets why this node may serve no clients, if it may not. Then all streams end, and those that are opened end at
    /// once. `is_linking` means that this is no fault, as the node has just started.
    pub(super) fn set_in_service(&self, obstacle: Option<&'static str>, is_linking: bool) {
        let context = &self.host().context;
        server_metrics::in_service(obstacle.is_none());
        if !context.lifecycle.set_in_service(obstacle.is_none()) {
            return;
        }
        match obstacle {
            None => {
                tracing::info!("this server serves clients");
                context.players.permit_streams();
            }
            Some(obstacle) => {
                if is_linking {
                    tracing::info!("this server serves clients once it is linked with the others");
                } else {
                    tracing::error!(obstacle, "this server is out of service; it sends its clients to the others");
                }
                context.players.end_streams(StreamEnd::OutOfService);
            }
        }
    }
}
