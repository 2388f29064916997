//! The tables and their versions.

use std::time::Duration;

use super::{
    error::{PostgresError, is_refusal},
    session::Session,
};
use crate::game_row::{FIRST, GameRow, TOURNAMENTS, VERSION};

/// The oldest version that is upgraded. Its tables are those of `schema.sql`, and one of requests.
const OLDEST: i32 = 2;

/// The version of tables that are being copied from another store: later than that of any program.
const UNFINISHED: i32 = i32::MAX;

/// The version that added the tables of links.
const LINKS: i32 = 11;

/// The version that added the queue of games to settle.
const SETTLING: i32 = 12;

/// The queue of games to settle: the highest weight of a game for the ratings of its players, in sixteenths, until the
/// game is settled; then null. A restored dump of an older version may leave it.
const SETTLING_QUEUE: &str = "ALTER TABLE games ADD COLUMN IF NOT EXISTS unsettled_weight int; \
    CREATE INDEX IF NOT EXISTS unsettled_games ON games (number) WHERE unsettled_weight IS NOT NULL";

/// The version of the tables; none if there are none.
async fn version(session: &Session) -> Result<Option<i32>, PostgresError> {
    if session.row("SELECT to_regclass('reversi') IS NULL", &[]).await?.is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let row = session.row("SELECT version FROM reversi", &[]).await?;
    let found = row.ok_or_else(|| PostgresError::Database("the table reversi is empty".to_owned()))?.try_get(0)?;
    match found {
        UNFINISHED => Err(PostgresError::Unfinished),
        found if found < OLDEST => Err(PostgresError::Older { found, oldest: OLDEST }),
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

const PROMISES: &str = "SELECT current_setting('fsync'), current_setting('full_page_writes'), \
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names')";

/// Logs what the database promises of a commit that it has acknowledged.
pub(super) async fn log_promises(session: &Session) -> Result<(), PostgresError> {
    let Some(row) = session.row(PROMISES, &[]).await? else { return Ok(()) };
    let [fsync, full_page_writes, synchronous_commit, synchronous_standby_names] =
        [0, 1, 2, 3].map(|column| row.get::<_, &str>(column));
    tracing::info!(fsync, full_page_writes, synchronous_commit, synchronous_standby_names, "the database's promises");
    if fsync != "on" || full_page_writes != "on" {
        tracing::warn!("the database may lose moves that it has acknowledged, as fsync or full_page_writes is off");
    }
    Ok(())
}

/// One upgrade at a time.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text, 0))";

/// The process of the database that has the lock.
const HOLDER: &str = "SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database \
    WHERE datname = current_database() AND locktype = 'advisory' AND objsubid = 1 AND granted \
    AND classid::bigint << 32 | objid::bigint = hashtextextended(current_schema()::text, 0)";

/// Whether a node other than this one has a lease.
const IS_USED: &str = "SELECT EXISTS (SELECT FROM node WHERE until > now() AND id IS DISTINCT FROM $1)";

/// Creates the tables if there are none.
pub(super) async fn create(session: &Session, patience: Duration) -> Result<(), PostgresError> {
    if version(session).await?.is_none() { upgrade(session, None, patience).await } else { Ok(()) }
}

/// Creates the tables, or upgrades them to the current version. An upgrade is refused while a node other than `this`
/// one has a lease: to its prepared statements a table must not change. A process that is frozen meanwhile keeps others
/// from their start for `patience`; longer than that none waits.
pub(super) async fn upgrade(session: &Session, this: Option<i64>, patience: Duration) -> Result<(), PostgresError> {
    let limit = patience.as_millis();
    let limits =
        ["lock_timeout", "idle_in_transaction_session_timeout"].map(|name| format!("SET LOCAL {name} = {limit}"));
    if let Err(error) = session.batch(&format!("BEGIN; {}; {LOCK}", limits.join("; "))).await {
        if is_refusal(&error)
            && session.batch("ROLLBACK").await.is_ok()
            && let Some(holder) = session.row(HOLDER, &[]).await?
        {
            return Err(PostgresError::Upgrading { holder: holder.try_get(0)? });
        }
        return Err(error.into());
    }
    // After an error, the transaction ends with the connection.
    let found = version(session).await?;
    if found != Some(VERSION) {
        if found.is_none() {
            if session.row("SELECT current_schema() IS NULL", &[]).await?.is_some_and(|row| row.get(0)) {
                return Err(PostgresError::NoSchema);
            }
            session.batch(include_str!("schema.sql")).await?;
        } else if session.row(IS_USED, &[&this]).await?.is_some_and(|row| row.get(0)) {
            return Err(PostgresError::UsedByOlder);
        }
        let found = found.unwrap_or(0);
        // A restored dump of an older version leaves the tables that only later versions have.
        if found < FIRST {
            session.batch("DROP TABLE IF EXISTS request, done_requests").await?;
            session.batch(include_str!("../done_requests.sql")).await?;
        }
        if found < LINKS {
            session.batch("DROP TABLE IF EXISTS node_unreached, node_status").await?;
            session.batch(include_str!("cluster/links.sql")).await?;
        }
        if found < SETTLING {
            session.batch(SETTLING_QUEUE).await?;
        }
        if found < TOURNAMENTS {
            session.batch("DROP TABLE IF EXISTS tournaments, tournament_events").await?;
            session.batch(include_str!("../tournaments.sql")).await?;
        }
        let added = GameRow::additions(found);
        session.batch(&format!("{added} UPDATE reversi SET version = {VERSION}")).await?;
    }
    Ok(session.batch("COMMIT").await?)
}
