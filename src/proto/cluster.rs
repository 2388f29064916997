//! The generated messages of `reversi.cluster.v1`, with its client and server: the links between nodes.
#![allow(missing_docs, clippy::all, clippy::too_many_lines, unreachable_pub)]

include!(concat!(env!("OUT_DIR"), "/cluster/reversi.cluster.v1.rs"));
