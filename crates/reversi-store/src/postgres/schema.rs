//! The tables and their versions.

use super::{error::PostgresError, session::Session};

/// The migrations, one for each version. A released step never changes.
const STEPS: &[&str] = &[include_str!("1.sql"), include_str!("2.sql")];

/// The version written by this program.
const VERSION: i32 = STEPS.len() as i32;

/// The version of tables that are being copied from another store: later than that of any program.
const UNFINISHED: i32 = i32::MAX;

/// The version of the tables; none if there are none.
async fn version(session: &Session) -> Result<Option<i32>, PostgresError> {
    if session.row("SELECT to_regclass('reversi') IS NULL", &[]).await?.is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let row = session.row("SELECT version FROM reversi", &[]).await?;
    let found = row.ok_or_else(|| PostgresError::Database("the table reversi is empty".to_owned()))?.try_get(0)?;
    match found {
        UNFINISHED => Err(PostgresError::Unfinished),
        found if found > VERSION => Err(PostgresError::Newer { found, known: VERSION }),
        found => Ok(Some(found)),
    }
}

/// Records whether the tables have only a part of what is copied into them.
pub(super) async fn set_unfinished(session: &Session, is_unfinished: bool) -> Result<(), tokio_postgres::Error> {
    let version = if is_unfinished { UNFINISHED } else { VERSION };
    session.execute("UPDATE reversi SET version = $1", &[&version]).await.map(drop)
}

/// Checks that there are tables that this program knows.
pub(super) async fn require(session: &Session) -> Result<(), PostgresError> {
    version(session).await?.map(drop).ok_or(PostgresError::Empty)
}

/// One migration at a time.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text, 0))";

/// Creates the tables if there are none.
pub(super) async fn create(session: &Session) -> Result<(), PostgresError> {
    if version(session).await?.is_none() { migrate(session).await } else { Ok(()) }
}

/// Creates the tables or migrates them to the current version. A step that changes a table would have to be refused
/// while another node has a lease; version 2 only adds a table.
pub(super) async fn migrate(session: &Session) -> Result<(), PostgresError> {
    session.batch(BEGIN).await?;
    // After an error, the transaction ends with the connection.
    let found = version(session).await?.unwrap_or(0);
    for (version, step) in (1..).zip(STEPS).skip_while(|(version, _)| *version <= found) {
        session.batch(&format!("{step}; UPDATE reversi SET version = {version}")).await?;
    }
    Ok(session.batch("COMMIT").await?)
}
