//! The calls of the API, by generated clients against a server in this process.

mod admin;
mod ai;
mod analysis;
mod bans;
mod explorer;
mod free_seats;
mod full_server;
pub(crate) mod games;
mod lobby;
mod moves;
mod passwords;
mod presence;
mod quotas;
mod ratings;
mod records;
mod rooms;
mod series;
mod sessions;
mod streams;
mod tournaments;
mod turns_only;
mod visitors;
