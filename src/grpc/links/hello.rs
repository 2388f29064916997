//! The first message of a stream: the ids of the node that dials and of the node that is dialled.

use std::collections::BTreeMap;

use tonic::Status;

use crate::{proto::cluster, runtime::NodeId};

/// The version of the messages, and of the hashes of tokens. Nodes link only with nodes of the same version.
const PROTOCOL: u32 = 14;

/// This node, and the other live nodes with the addresses to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    pub(super) me: NodeId,
    pub(super) others: BTreeMap<NodeId, String>,
}

/// A node that has dialled this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) from: NodeId,
    /// The id that the caller dialled. It differs from [`Nodes::me`] if this node has got a new id since.
    to: NodeId,
}

impl Nodes {
    /// True if the caller is a live node and dialled this node's present id. A link may last only while this holds.
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
            return Err(Status::failed_precondition(format!("node {} is not a live node", caller.from)));
        }
        Ok(caller)
    }
}
