//! A multiplayer Reversi room server over gRPC.
pub mod ai;
pub mod client;
pub mod proto;
pub mod room;
pub mod rules;
pub mod search;
