//! What permits a node to write: its row, which is locked by each write and deleted when the node is declared dead.

use reversi_room::Timestamp;
use tokio_postgres::Error;

use crate::postgres::{error::PostgresError, session::Session};

/// Why a connection may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::postgres) enum FenceError {
    /// The node was declared dead.
    NodeDead,
    /// A later connection of the node has raised the session.
    SessionReplaced,
}

/// The fence of a node, at the session of one connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::postgres) struct Fence {
    pub(in crate::postgres) node: i64,
    pub(in crate::postgres) session: i64,
}

impl Fence {
    /// Raises the session of a node for a new connection. Writes of earlier ones are over then, or refused. The number of
    /// the database's process is kept, so that another node can end it.
    ///
    /// # Errors
    /// [`PostgresError::Fenced`] when the node was declared dead.
    pub(in crate::postgres) async fn raise(session: &Session, node: i64) -> Result<Self, PostgresError> {
        let sql =
            "UPDATE fence SET session = session + 1, backend = pg_backend_pid() WHERE node = $1 RETURNING session";
        let row = session.row(sql, &[&node]).await?.ok_or(PostgresError::Fenced)?;
        Ok(Self { node, session: row.try_get(0)? })
    }

    /// Whether the node may write over this connection; if so, until the end of the transaction.
    pub(in crate::postgres) async fn hold(self, session: &Session) -> Result<Result<(), FenceError>, Error> {
        let row = session.row("SELECT session FROM fence WHERE node = $1 FOR SHARE", &[&self.node]).await?;
        Ok(match row.map(|row| row.try_get::<_, i64>(0)).transpose()? {
            None => Err(FenceError::NodeDead),
            Some(session) if session != self.session => Err(FenceError::SessionReplaced),
            Some(_) => Ok(()),
        })
    }

    /// Records when the node lived, and that no clock waits for a credit in its shards.
    pub(in crate::postgres) async fn mark_alive(self, session: &Session, now: Timestamp) -> Result<(), Error> {
        let mark = "UPDATE fence SET alive_us = $2, alive_at = now() WHERE node = $1";
        session.execute(mark, &[&self.node, &now.0]).await?;
        let clear = "UPDATE shard SET away_us = NULL WHERE node = $1 AND away_us IS NOT NULL";
        session.execute(clear, &[&self.node]).await.map(drop)
    }
}
