//! A multiplayer Reversi room server over gRPC.
pub mod ai;
pub mod cli;
pub mod client;
pub mod grpc;
pub mod proto;
pub mod room;
pub mod rules;
pub mod runtime;
pub mod search;
pub mod store;
