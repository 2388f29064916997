//! Why a bot stops.

use crate::{cli::external_engine::NoMove, client::ClientError};

/// Why the bot stops reading its streams.
pub(super) enum StopReason {
    /// All games are played, or the tournament has ended.
    Done,
    /// Others have ended it, for this reason.
    Ended(String),
    /// Another process has opened the stream of the same player.
    Superseded,
    Failed(ClientError),
    /// The engine cannot be used.
    Broken(NoMove),
}

impl From<ClientError> for StopReason {
    fn from(error: ClientError) -> Self {
        Self::Failed(error)
    }
}
