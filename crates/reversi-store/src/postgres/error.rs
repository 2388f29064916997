//! Errors of the database.

use thiserror::Error;
use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum PostgresError {
    /// The URL cannot be parsed.
    #[error("the URL of the database is malformed: {0}; it is postgres://USER:PASSWORD@HOST/DATABASE")]
    Url(String),
    /// A special character of the user or the password is not percent-encoded.
    #[error(
        "the user, the password or an option in the URL of the database has a special character that must be written as its code: % \
        as %25, @ as %40, / as %2F, ? as %3F; or leave the password out, and set PGPASSWORD"
    )]
    SpecialCharacter,
    /// An option of the URL cannot be used.
    #[error("{0}")]
    Option(String),
    /// Connections go through a pooler that shares them between sessions.
    #[error(
        "the URL is that of a connection pooler in transaction mode (such as PgBouncer), and the server needs sessions of \
        its own; give the URL of the database itself, or set the pooler to pool_mode = session"
    )]
    Pooler,
    /// The database cannot be reached, or refuses a statement.
    #[error("{0}")]
    Database(String),
    /// There is no certificate authority to verify the database's certificate.
    #[error("this system has no certificate authorities; SSL_CERT_FILE names a file with that of the database")]
    NoAuthority,
    /// Another node uses the database.
    #[error("another server uses it")]
    InUse,
    /// Another node has declared this one dead.
    #[error("another server has taken over; this one must be started again")]
    Fenced,
    /// No server has used the database yet.
    #[error("it has no tables yet; `reversi serve --store URL` creates them")]
    Empty,
    /// The connection has no schema.
    #[error(
        "no schema of its search_path exists, or this user may not use it; `CREATE SCHEMA NAME` in psql creates one, and \
        `GRANT ALL ON SCHEMA NAME TO USER` permits its use"
    )]
    NoSchema,
    /// It has a part of another store.
    #[error(
        "`reversi store copy` into it was interrupted, so that it has only a part of the data; remove its tables (DROP \
        SCHEMA, or dropdb and createdb) and copy again"
    )]
    Unfinished,
    /// Other servers use the tables, which must be upgraded.
    #[error(
        "its tables must be upgraded; stop all servers that use them first: `reversi nodes` lists them, and one that was \
        killed counts for some seconds more"
    )]
    UsedByOlder,
    /// Another process creates or upgrades the tables.
    #[error(
        "another process creates or upgrades its tables; if that seems to have stopped, `SELECT pg_terminate_backend({holder})` \
        ends it"
    )]
    Upgrading {
        /// Its process of the database.
        holder: i32,
    },
    /// The tables were written by a version of the program before the oldest whose tables are upgraded.
    #[error(
        "its tables are of version {found}, and this program upgrades tables from version {oldest} on: start `reversi serve` \
        of revision 967b3f2c with them once, which makes them those of version {oldest}"
    )]
    Older {
        /// The tables' version.
        found: i32,
        /// The oldest version that is upgraded.
        oldest: i32,
    },
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

const PASSWORD_HINT: &str =
    "; in a URL, special characters of a password are written as their codes: % as %25, @ as %40";

impl From<Error> for PostgresError {
    fn from(error: Error) -> Self {
        let hint = if error.code() == Some(&SqlState::INVALID_PASSWORD) { PASSWORD_HINT } else { "" };
        Self::Database(describe(&error) + hint)
    }
}

/// True if the database rejected the statement and the connection is still usable; nothing was written.
pub(super) fn is_refusal(error: &Error) -> bool {
    let ends = |error: &DbError| matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    error.as_db_error().is_some_and(|error| !ends(error))
}

/// The message of an error with its cause.
pub(super) fn describe(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
