//! Why a bot stops, and what it says then.

use anyhow::{anyhow, bail};

use super::Bot;
use crate::{
    cli::{
        connect::{check_ai, login},
        external_engine::NoMove,
        say,
    },
    client::ClientError,
};

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

impl Bot {
    /// The end of a bot that others keep from playing on: a failure, unless it has played its games, or was to play for
    /// ever and has begun.
    pub(super) fn end(&self, why: &str) -> anyhow::Result<()> {
        let (played, games) = (self.played, self.args.games);
        if self.is_done() || games == 0 && played > 0 {
            say(why);
            return Ok(());
        }
        let wanted = if games == 0 { String::new() } else { format!(" of {games}") };
        bail!("{played}{wanted} games were played: {why}")
    }

    pub(super) async fn explain(&self, error: ClientError) -> anyhow::Error {
        match &self.against {
            _ if self.tournament.is_some() => self.explain_tournament(error),
            _ if error.is("BAD_PASSWORD") => login::asks_for_password(),
            Some(ai) if error.is("BAD_ARGUMENT") => match self.session.server_info().await {
                Ok(info) => check_ai::explain_refusal(error, ai, &info),
                Err(_) => anyhow!(error),
            },
            _ => anyhow!(error).context("cannot play on"),
        }
    }
}
