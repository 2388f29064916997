//! The services of `reversi.v1`. Each method converts the request, calls the runtime and converts the result.

mod analysis;
mod availability;
mod game;
mod game_record;
pub(crate) mod health;
mod lobby;
mod page_token;
mod record;
mod record_filter;
mod room;
pub(crate) mod router;
mod session;
pub(crate) mod standby;
mod streaming;
mod tournament;

use std::sync::Arc;

use prost::Message;

use super::transport::connection_limit::ConnectionLimit;
use crate::{
    proto::convert::{Malformed, read_request_id},
    room::Request,
    runtime::{self, Player, Runtime},
};

/// The request, if it has an id.
fn request_with_id(
    player: &Player,
    id: &str,
    method: &str,
    message: &impl Message,
) -> Result<Option<Request>, Malformed> {
    let id = read_request_id(id)?;
    Ok(id.map(|id| runtime::request_with_id(player.id(), id, method, &message.encode_to_vec())))
}

pub(crate) struct Services {
    pub(crate) runtime: Runtime,
    pub(crate) connections: Arc<ConnectionLimit>,
}
