//! The fence: a row that permits a node to write. Each write locks it, and declaring the node dead deletes it.

use reversi_room::Timestamp;
use tokio_postgres::Error;

use crate::postgres::{error::PostgresError, session::Session};

/// Why a connection may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::postgres) enum FenceError {
    /// The node was declared dead.
    NodeDead,
    /// A later connection of the node has raised the session number.
    SessionReplaced,
}

/// The fence of a node, with the session number of one connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::postgres) struct Fence {
    pub(in crate::postgres) node: i64,
    pub(in crate::postgres) session: i64,
}

impl Fence {
    /// Raises the session number of a node for a new connection: then all writes of earlier connections are over, or
    /// will be refused. Stores the id of the database's process, so that another node can end the process.
    ///
    /// # Errors
    /// [`PostgresError::Fenced`] when the node was declared dead.
    pub(in crate::postgres) async fn raise(session: &Session, node: i64) -> Result<Self, PostgresError> {
        let sql =
            "UPDATE fence SET session = session + 1, backend = pg_backend_pid() WHERE node = $1 RETURNING session";
        let row = session.row(sql, &[&node]).await?.ok_or(PostgresError::Fenced)?;
        Ok(Self { node, session: row.try_get(0)? })
    }

    /// Locks the fence until the end of the transaction. The inner result is an error if this connection may not write.
    pub(in crate::postgres) async fn hold(self, session: &Session) -> Result<Result<(), FenceError>, Error> {
        let row = session.row("SELECT session FROM fence WHERE node = $1 FOR SHARE", &[&self.node]).await?;
        Ok(match row.map(|row| row.try_get::<_, i64>(0)).transpose()? {
            None => Err(FenceError::NodeDead),
            Some(session) if session != self.session => Err(FenceError::SessionReplaced),
            Some(_) => Ok(()),
        })
    }

    /// Records that the node is alive, by its clock, and perhaps that all clocks in its shards are credited.
    pub(in crate::postgres) async fn mark_alive(
        self,
        session: &Session,
        now: Timestamp,
        is_credited: bool,
    ) -> Result<(), Error> {
        let mark = "UPDATE fence SET alive_us = $2, alive_at = now() WHERE node = $1";
        session.execute(mark, &[&self.node, &now.0]).await?;
        if !is_credited {
            return Ok(());
        }
        let clear = "UPDATE shard SET away_us = NULL WHERE node = $1 AND away_us IS NOT NULL";
        session.execute(clear, &[&self.node]).await.map(drop)
    }
}
