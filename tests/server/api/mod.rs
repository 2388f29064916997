//! The calls of the API, by generated clients against a server in this process.

mod admin;
mod ai_shares;
mod ai_thoughts;
mod analysis;
mod full_server;
pub(crate) mod games;
mod lobby;
mod moves;
mod passwords;
mod pondering;
mod presence;
mod quotas;
mod records;
mod rooms;
mod series;
mod sessions;
mod streams;
mod turns_only;
