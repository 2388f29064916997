//! The generated messages of `reversi.stored.v1`, written and read by the other files of this folder.
#![allow(missing_docs, clippy::all, clippy::too_many_lines, unreachable_pub)]

include!(concat!(env!("OUT_DIR"), "/reversi.stored.v1.rs"));
