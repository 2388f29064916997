//! The services of `reversi.v1`. Each method converts the request, calls the runtime and converts the result.

mod analysis;
mod game;
mod game_record;
pub(crate) mod health;
mod late_acknowledgements;
mod lobby;
mod page_token;
mod record;
mod record_filter;
mod room;
pub(crate) mod router;
mod session;
pub(crate) mod standby;
mod streaming;

use std::sync::Arc;

use super::transport::connection_limit::ConnectionLimit;
use crate::runtime::Runtime;

pub(crate) struct Services {
    pub(crate) runtime: Runtime,
    pub(crate) connections: Arc<ConnectionLimit>,
}
