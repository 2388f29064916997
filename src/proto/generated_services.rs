//! The generated service traits and servers of `reversi.v1`.
#![allow(missing_docs, clippy::all, clippy::too_many_lines, unreachable_pub)]

include!(concat!(env!("OUT_DIR"), "/server/reversi.v1.rs"));
