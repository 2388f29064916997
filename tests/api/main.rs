//! The server over real sockets: started in this process on a free port, and spoken to by the generated clients.
#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod admin;
mod analysis;
mod games;
mod hostile;
mod lobby;
mod moves;
mod pondering;
mod presence;
mod quotas;
mod records;
mod revival;
mod rooms;
mod series;
mod sessions;
mod shutdown;
mod stage;
mod store;
mod streams;
mod thoughts;
mod tls;
mod web;
