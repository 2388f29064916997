//! What a bot says as it ends.

use anyhow::{anyhow, bail};

use super::Bot;
use crate::{
    cli::{
        connect::{check_ai, login},
        say,
    },
    client::ClientError,
};

impl Bot {
    /// The end of a bot that others keep from playing on: a failure, unless it has played its games, or was to play for
    /// ever and has begun. In a tournament it is always one.
    pub(super) fn end(&self, why: &str) -> anyhow::Result<()> {
        if self.tournament.is_some() {
            bail!("{why}");
        }
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
