//! The gRPC layer in a simulation: a server on connections in memory, and the calls and streams of its clients.
//!
//! What clients do is chosen as without gRPC, see [`super::client`].

mod actions;
mod client;
mod failure;
mod network;
mod turns;
mod watcher;

pub(crate) use client::GrpcClient;
pub(crate) use failure::Failure;
pub(crate) use network::GrpcServer;
pub(crate) use turns::{PlayMoves, TurnNews, read_turns};
pub(crate) use watcher::watch_room;
