//! The generated messages and client stubs of `reversi.v1`.
#![allow(missing_docs, clippy::all, clippy::too_many_lines, unreachable_pub)]

tonic::include_proto!("reversi.v1");
