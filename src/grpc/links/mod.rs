//! The links between the nodes of a cluster.

mod message;
