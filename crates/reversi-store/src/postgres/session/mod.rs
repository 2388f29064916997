//! One connection to the database.

mod config;
mod password_file;
mod tls;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::task::JoinSet;
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage, Statement,
    types::{FromSql, ToSql},
};

pub(super) use config::Config;

use super::error::{PostgresError, describe};
use crate::damage::{DamagedRows, ReadError};

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Time limit for closing a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Whatever the database's default is, a commit is on disk when it is answered, and on a synchronous standby. All
/// queries and writes go by an index, and read in its order, however few rows the tables had when a statement was
/// planned. What has no index is small, and only looks expensive to the planner, which would compile it for longer than
/// it runs.
const SETTINGS: &str = "SELECT set_config('synchronous_commit', 'on', false) \
        WHERE current_setting('synchronous_commit') IN ('off', 'local'); \
    SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
    SET enable_sort = off; SET jit = off";

/// An open connection. Statements are prepared at their first use.
pub(super) struct Session {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    /// Reads and writes the socket; ends with this.
    driver: JoinSet<()>,
}

impl Session {
    /// Connects, within a runtime that lives as long as the connection.
    pub(super) async fn open(config: &Config) -> Result<Self, PostgresError> {
        let (client, driver) = config.connect().await?;
        client.batch_execute(SETTINGS).await?;
        Ok(Self { client, statements: Mutex::default(), driver })
    }

    /// The process of the database that serves the connection, and when it was started: no two have the same.
    async fn backend(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT pid || ' ' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let rows = self.client.simple_query(sql).await?;
        Ok(rows.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Executes statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    pub(super) async fn query(&self, sql: &'static str, parameters: Parameters<'_>) -> Result<Vec<Row>, Error> {
        self.client.query(&self.statement(sql).await?, parameters).await
    }

    /// The first row, if there is one.
    pub(super) async fn row(&self, sql: &'static str, parameters: Parameters<'_>) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    pub(super) async fn execute(&self, sql: &'static str, parameters: Parameters<'_>) -> Result<u64, Error> {
        self.client.execute(&self.statement(sql).await?, parameters).await
    }

    /// Executes a query that is planned for its parameters each time.
    pub(super) async fn query_planned(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Error> {
        self.client.query(sql, parameters).await
    }

    async fn statement(&self, sql: &'static str) -> Result<Statement, Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(sql, statement.clone());
        Ok(statement)
    }

    /// Closes the connection, so that the database knows of its end at once. Dropping it says nothing to a database
    /// that may not answer.
    pub(super) async fn close(self) {
        let Self { client, mut driver, .. } = self;
        drop(client);
        // After the time limit it is dropped.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, driver.join_next()).await;
    }
}

/// How often a pooler is looked for.
const POOLER_CHECKS: usize = 8;

/// Fails at a pooler that gives each transaction any of its connections: locks and settings of a session, and prepared
/// statements, would be lost or be those of others. There one process of the database serves two connections, or one
/// connection is served by two.
pub(super) async fn refuse_pooler(config: &Config) -> Result<(), PostgresError> {
    let (one, two) = tokio::try_join!(Session::open(config), Session::open(config))?;
    // A pooler that is slow to take a connection back may serve both by different ones for a while.
    for _ in 0..POOLER_CHECKS {
        let (first, again, other) = (one.backend().await?, one.backend().await?, two.backend().await?);
        if first.is_some() && (first != again || again == other) {
            return Err(PostgresError::Pooler);
        }
    }
    Ok(())
}

/// A column. A value of another type is damage, not an error of the connection.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, ReadError> {
    row.try_get(name).map_err(|error| format!("{name}: {}", describe(&error)).into())
}

/// A row, or none if it is damaged, which is counted and logged the first time.
pub(super) fn readable<T>(damaged: &DamagedRows, table: &str, row: &Row, value: Result<T, ReadError>) -> Option<T> {
    value
        .inspect_err(|error| {
            let name = row.try_get::<_, String>(0).unwrap_or_default();
            damaged.note(table, &name, &error.to_string(), "a row is damaged and is skipped");
        })
        .ok()
}
