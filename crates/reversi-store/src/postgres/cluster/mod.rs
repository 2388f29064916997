//! The nodes that share a database, and which of them writes to which rooms.
//!
//! ```text
//!   join ──▶ a node with a lease ──▶ beat: renew the lease, look at the others, take free shards ─┬▶ owner of all shards
//!                                      │                                                          └▶ member: its share
//!                                      └── no row to renew: it was declared dead by another node
//! ```
//!
//! Every write of a node locks the node's row in `fence`. Declaring a node dead deletes that row: this waits for a
//! write in progress, and all later writes are refused. Leases, silence and ended connections only say when to do so: a
//! mistake costs a pause, never a write.
//!
//! A node without an address for links owns all shards, and others like it stand by to take them. Nodes with one share
//! the shards: each takes free ones up to its share, and hands those beyond it over to others. A draining node has no
//! share, nor has one that is not linked with a majority ([`crate::quorum`]), or whose clock is wrong
//! ([`crate::clock_check`]).

pub(super) mod access;
pub(super) mod fence;
pub(super) mod lease_holder;
pub(super) mod link_reports;
pub(super) mod node;
pub(super) mod shard;

use std::{collections::BTreeSet, sync::Arc, thread::JoinHandle};

use tokio::sync::{Notify, oneshot, watch};

use self::{
    access::Access,
    lease_holder::{LeaseHolder, NodeState, Sharing},
};
use super::{error::PostgresError, session::Config};
use crate::{
    cluster_store::{ClusterView, Lease},
    shard::NodeId,
};

/// A node of this process. Dropping it frees its shards.
pub struct Membership {
    state: watch::Receiver<NodeState>,
    view: watch::Receiver<Arc<ClusterView>>,
    lease: watch::Receiver<Lease>,
    reached: Arc<watch::Sender<BTreeSet<NodeId>>>,
    is_draining: Arc<watch::Sender<bool>>,
    look: Arc<Notify>,
    access: Arc<Access>,
    leave: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Membership {
    /// Joins the nodes of a database, whose tables are created if necessary. Returns after the first beat.
    pub(super) async fn join(config: Config, sharing: Sharing) -> Result<Self, PostgresError> {
        let (leave, left) = watch::channel(false);
        let (is_draining, reached) = <(Arc<watch::Sender<bool>>, Arc<watch::Sender<BTreeSet<NodeId>>>)>::default();
        let ((reply, joined), look) = (oneshot::channel(), Arc::<Notify>::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let join = LeaseHolder::join(config, sharing, Arc::clone(&is_draining), Arc::clone(&reached));
        let asked = Arc::clone(&look);
        let run = async move {
            match join.await {
                Ok(member) => {
                    let LeaseHolder { state, view, held, access, .. } = &member;
                    let watched = (state.subscribe(), view.subscribe(), held.subscribe(), access.access());
                    // The caller may have stopped waiting.
                    let _ = reply.send(Ok(watched));
                    member.run(left, asked).await;
                }
                Err(error) => drop(reply.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("store-lease".into()).spawn(move || runtime.block_on(run))?;
        let (state, view, lease, access) = joined.await.map_err(|_| thread_ended())??;
        Ok(Self { state, view, lease, reached, is_draining, look, access, leave, thread: Some(thread) })
    }

    /// The present state, and each change.
    pub(super) fn state(&self) -> watch::Receiver<NodeState> {
        self.state.clone()
    }

    /// The cluster as this node sees it, and each change. For a node that shares the shards.
    pub(super) fn views(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.clone()
    }

    /// The node's lease, and each renewal.
    pub(super) fn lease(&self) -> watch::Receiver<Lease> {
        self.lease.clone()
    }

    /// What the writer and the reader of rooms have to note.
    pub(super) fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access)
    }

    /// Sets the other nodes that this node reaches over its links.
    pub fn note_reached(&self, nodes: BTreeSet<NodeId>) {
        self.reached.send_replace(nodes);
    }

    /// Lets the node look at the database soon.
    pub(super) fn look_again(&self) {
        self.look.notify_one();
    }

    /// Gives up the node's shards, and waits until it has none that another node can take; if all others are silent, until
    /// they are heard again or dead.
    pub async fn hand_over(&self) {
        self.is_draining.send_replace(true);
        self.look_again();
        if self.state.borrow().is_member() {
            // It fails when the node has left.
            let _ = self.views().wait_for(|view| view.is_drained).await;
        }
    }

    /// Waits until the node is asked to end, by `draining` in the table `node`.
    pub(super) fn wait_for_drain(&self) -> impl Future<Output = ()> + use<> {
        let mut is_draining = self.is_draining.subscribe();
        async move {
            if is_draining.wait_for(|is_draining| *is_draining).await.is_err() {
                // The node has left.
                std::future::pending().await
            }
        }
    }

    /// Waits until the node owns all shards, or shares them. Returns its id. Fails if it was declared dead.
    pub(super) async fn wait_to_write(&self) -> Result<i64, PostgresError> {
        let mut state = self.state();
        let owner = state.wait_for(|state| !matches!(state, NodeState::StandBy { .. })).await;
        let node = owner.map(|state| state.writer()).map_err(|_| thread_ended())?;
        node.ok_or(PostgresError::Fenced)
    }

    /// Waits until another node has taken over, or can; for ever once this node leaves.
    pub async fn wait_until_lost(&self) {
        if self.state().wait_for(|state| *state == NodeState::Lost).await.is_err() && *self.leave.borrow() {
            // The thread has ended because this node leaves, not because of a fault.
            std::future::pending().await
        }
    }

    /// Lets another node take over at once. This node can write nothing after that.
    pub async fn leave(&self) {
        self.leave.send_replace(true);
        // Until the thread ends.
        let _ = self.state().wait_for(|_| false).await;
    }
}

fn thread_ended() -> PostgresError {
    PostgresError::Database("the thread of the lease has ended".to_owned())
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // The panic hook has logged a panic.
            let _ = thread.join();
        }
    }
}
