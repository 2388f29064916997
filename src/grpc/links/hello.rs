//! The first message of a stream: who dials whom.

use std::collections::BTreeMap;

use tonic::Status;

use crate::{proto::cluster, runtime::NodeId};

/// The version of the messages. Raised when a node must not talk to older ones any longer.
const PROTOCOL: u32 = 2;

/// This node and the other living ones, with the addresses of their links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    pub(super) me: NodeId,
    pub(super) others: BTreeMap<NodeId, String>,
}

/// A node that has dialled this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) from: NodeId,
    /// This node, as it was when it was dialled.
    to: NodeId,
}

impl Nodes {
    /// Whether a link of the caller may begin, or go on.
    pub(super) fn admits(&self, caller: Caller) -> bool {
        caller.to == self.me && self.others.contains_key(&caller.from)
    }
}

pub(super) fn hello(from: NodeId, to: NodeId) -> cluster::Hello {
    cluster::Hello { protocol: PROTOCOL, from: from.0, to: to.0 }
}

impl cluster::Hello {
    pub(super) fn caller(self, nodes: &Nodes) -> Result<Caller, Status> {
        if self.protocol != PROTOCOL {
            return Err(Status::failed_precondition(format!(
                "this node speaks protocol {PROTOCOL}; run the same version on all servers"
            )));
        }
        let caller = Caller { from: NodeId(self.from), to: NodeId(self.to) };
        if caller.to != nodes.me {
            return Err(Status::failed_precondition(format!("this is node {}, not {}", nodes.me, caller.to)));
        }
        if !nodes.admits(caller) {
            return Err(Status::failed_precondition(format!("no living node is {}", caller.from)));
        }
        Ok(caller)
    }
}
