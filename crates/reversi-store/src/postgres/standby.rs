//! A process that waits until it may write.

use std::time::Duration;

use tokio::time::sleep;

use super::{
    cluster::{
        Membership,
        lease_holder::{NodeState, Sharing},
    },
    error::PostgresError,
    session::{Config, refuse_pooler},
};

/// Time limit at start for another node to end.
const ENDS_SOON: Duration = Duration::from_secs(1);

/// A node that has joined those of a database, and can open the store once it owns or shares the rooms.
pub struct Standby {
    pub(super) config: Config,
    pub(super) patience: Duration,
    pub(super) membership: Membership,
}

impl Standby {
    /// Joins the nodes of the database at `url`, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`; creates its tables if
    /// necessary.
    ///
    /// # Errors
    /// When the database cannot be reached or used.
    pub async fn join(url: &str, sharing: Sharing) -> Result<Self, PostgresError> {
        let (config, patience) = (Config::parse(url, sharing.patience)?, sharing.patience);
        refuse_pooler(&config).await?;
        let membership = Membership::join(config.clone(), sharing).await?;
        Ok(Self { config, patience, membership })
    }

    /// The server that has the rooms, in words for people. None unless this one stands by.
    #[must_use]
    pub fn active(&self) -> Option<String> {
        match &*self.membership.state().borrow() {
            NodeState::StandBy { owner, .. } => {
                Some(owner.clone().unwrap_or_else(|| "a server that starts".to_owned()))
            }
            NodeState::Owner(_) | NodeState::Member(_) | NodeState::Lost => None,
        }
    }

    /// Waits until this node is asked to end, by `draining` in the table `node`.
    pub fn wait_for_drain(&self) -> impl Future<Output = ()> + use<> {
        self.membership.wait_for_drain()
    }

    /// Waits [`ENDS_SOON`], then fails once another node is seen to renew its lease.
    pub(super) async fn require_unused(&self) -> Result<(), PostgresError> {
        sleep(ENDS_SOON).await;
        let mut state = self.membership.state();
        let seen = state.wait_for(|state| !matches!(state, NodeState::StandBy { is_in_use: false, .. })).await;
        match seen.as_deref() {
            Ok(NodeState::StandBy { .. }) => Err(PostgresError::InUse),
            _ => Ok(()),
        }
    }
}
