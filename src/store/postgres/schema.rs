//! The tables and their versions, and the lock by which one server uses them at a time.

use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;

use super::session::{Session, column, describe};
use crate::{room::Timestamp, store::damage::ReadError};

/// The migrations, one for each version. A released step never changes.
const STEPS: &[&str] = &[include_str!("1.sql")];

/// The version written by this program.
const VERSION: i32 = STEPS.len() as i32;

/// "Rvrs": with the hash of the schema's name, the key of the lock.
const LOCK: i32 = 0x5276_7273;

/// The longest wait at start for a server that is about to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The interval of tries to get the lock.
const RETRY: Duration = Duration::from_millis(50);

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum PostgresError {
    /// The URL cannot be parsed.
    #[error("the URL of the database is malformed: {0}")]
    Url(String),
    /// The database cannot be reached, or refuses a statement.
    #[error("{0}")]
    Database(String),
    /// There is nothing to verify the database's certificate by.
    #[error("this system has no certificate authorities; SSL_CERT_FILE names a file with that of the database")]
    NoAuthority,
    /// Another server uses the database.
    #[error("another server uses it")]
    InUse,
    /// Another server has used the database while the connection was lost.
    #[error("another server has used it since; this one must be started again")]
    Superseded,
    /// The tables were written by a later version of the program.
    #[error("its tables are of version {found}, and this program knows versions up to {known}; use a newer one")]
    Newer {
        /// The tables' version.
        found: i32,
        /// The latest version that this program knows.
        known: i32,
    },
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(describe(&error))
    }
}

/// Takes the lock, which the database holds as long as this connection lives. All writes of a server go over the
/// connection that holds it, so no write of another server, and no late one of an earlier connection, can follow.
///
/// # Errors
/// [`PostgresError::InUse`] when another server keeps it for a second.
pub(super) async fn lock(session: &Session) -> Result<(), PostgresError> {
    let give_up = Instant::now() + PATIENCE;
    let sql = "SELECT pg_try_advisory_lock($1, hashtext(current_schema()::text))";
    while !session.row(sql, &[&LOCK]).await?.is_some_and(|row| row.get(0)) {
        if Instant::now() > give_up {
            return Err(PostgresError::InUse);
        }
        tokio::time::sleep(RETRY).await;
    }
    Ok(())
}

/// The name of this use of the database among the connections.
pub(super) fn application_name(number: i64) -> String {
    format!("reversi {number}")
}

const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) \
    WHERE locktype = 'advisory' AND classid = $1::int::oid AND datname = current_database() \
    AND objid = (hashtext(current_schema()::text)::bigint & 4294967295)::oid AND granted \
    AND application_name = $2 AND pid <> pg_backend_pid()";

/// Ends the earlier connection of this server if the database still holds the lock for it, as it may for hours after a
/// network has failed.
pub(super) async fn end_earlier(session: &Session, number: i64) -> Result<(), PostgresError> {
    session.query(END, &[&LOCK, &application_name(number)]).await?;
    Ok(())
}

/// Creates the tables or migrates them to the current version, and begins to use them. Returns the number of this use.
pub(super) async fn begin(session: &Session) -> Result<i64, PostgresError> {
    let is_new = "SELECT to_regclass('reversi') IS NULL";
    if session.row(is_new, &[]).await?.is_some_and(|row| row.get(0)) {
        session.batch(&format!("BEGIN; {}; UPDATE reversi SET version = 1; COMMIT", STEPS[0])).await?;
    }
    let row = session.row("SELECT version FROM reversi", &[]).await?;
    let found: i32 = row.map_or(0, |row| row.get(0));
    if found > VERSION {
        return Err(PostgresError::Newer { found, known: VERSION });
    }
    for (version, step) in (1..).zip(STEPS).skip_while(|(version, _)| *version <= found) {
        session.batch(&format!("BEGIN; {step}; UPDATE reversi SET version = {version}; COMMIT")).await?;
    }
    let row = session.row("UPDATE reversi SET session = session + 1 RETURNING session", &[]).await?;
    row.map(|row| row.get(0)).ok_or_else(|| PostgresError::Database("the table reversi is empty".to_owned()))
}

/// Checks after a lost connection that no other server has used the tables since `number` began.
pub(super) async fn resume(session: &Session, number: i64) -> Result<(), PostgresError> {
    let row = session.row("SELECT session FROM reversi", &[]).await?;
    let found: Option<i64> = row.map(|row| row.get(0));
    if found == Some(number) { Ok(()) } else { Err(PostgresError::Superseded) }
}

/// The last moment at which a server is known to have lived.
pub(super) async fn last_alive(session: &Session) -> Result<Option<Timestamp>, ReadError> {
    let row = session.row("SELECT alive_us FROM reversi", &[]).await?.ok_or("the table reversi is empty")?;
    Ok(column::<Option<i64>>(&row, "alive_us")?.map(Timestamp))
}
