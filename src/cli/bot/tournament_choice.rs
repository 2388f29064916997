//! The options by which a bot takes part in a tournament or a pool.

use anyhow::anyhow;

use crate::{
    cli::connect::{find_tournament, terms::TotalTime},
    client::{Session, TournamentId},
};

/// What the bot takes part in, in place of rooms.
#[derive(Debug, clap::Args)]
pub(super) struct TournamentChoice {
    /// Take part in this tournament, given by its id or name, and end with it.
    #[arg(long, value_name = "TOURNAMENT", group = "place",
        conflicts_with_all = ["Terms", "GameTerms", "house", "games"])]
    tournament: Option<String>,
    /// Play in the server's pool with this clock, such as 60+1, until stopped.
    #[arg(long, value_name = "CLOCK", group = "place",
        conflicts_with_all = ["Terms", "GameTerms", "house", "games"])]
    pool: Option<TotalTime>,
}

impl TournamentChoice {
    /// The chosen tournament or pool. A pool is joined by this.
    pub(super) async fn find(&self, session: &Session) -> anyhow::Result<Option<TournamentId>> {
        match (&self.tournament, &self.pool) {
            (Some(text), _) => Ok(Some(find_tournament::find_as(session, text).await?.0)),
            (None, Some(clock)) => {
                let none = "this server has no such pool for you; `reversi tournament list` shows its pools";
                let joined = session.join_pool(&clock.to_string()).await;
                let joined =
                    joined.map_err(|error| if error.is("TOURNAMENT_NOT_FOUND") { anyhow!(none) } else { error.into() });
                Ok(Some(joined?.tournament_id.parse()?))
            }
            (None, None) => Ok(None),
        }
    }
}
