//! The tables, and how older files come to have them.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use super::rooms;

/// Marks the file as one of ours: "Rvrs".
const APPLICATION: i32 = 0x5276_7273;

/// Each step makes the next version of the file; what was released is never changed, nor what it calls. The number of the
/// version is the number of steps that a file has gone through.
const STEPS: &[fn(&Connection) -> rusqlite::Result<()>] = &[
    |file| file.execute_batch(include_str!("1.sql")),
    |file| file.execute_batch(include_str!("2.sql")),
    |file| {
        file.execute_batch(include_str!("3.sql"))?;
        rooms::make_runs(file)?;
        file.execute_batch("DROP TABLE events")
    },
];

/// The version that this program writes.
const VERSION: i32 = 3;
const _: () = assert!(STEPS.len() == VERSION as usize);

/// How long another program's hold on the file is waited for, such as a backup's.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The folder or the lock in it cannot be made.
    #[error("cannot use the folder: {0}")]
    Folder(#[from] std::io::Error),
    /// Another server has the file.
    #[error("another server uses it")]
    InUse,
    /// A database of something else.
    #[error("the file is a database of another program")]
    Foreign,
    /// A later version of the program has written it.
    #[error("the file is of version {found}, and this program knows versions up to {known}; use a newer one")]
    Newer {
        /// The file's version.
        found: i32,
        /// The latest that this program knows.
        known: i32,
    },
    /// What is in it is not whole.
    #[error("the file is damaged ({0}); put back a backup, or move it away to begin anew")]
    Damaged(String),
    /// The database cannot be used.
    #[error("{0}")]
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged(error.to_string()),
            _ => Self::Database(error),
        }
    }
}

/// Opens the file, makes it if there is none, and brings it to the present version.
pub(super) fn create(path: &Path) -> Result<Connection, OpenError> {
    let mut connection = Connection::open(path)?;
    // Before anything is changed: the file may be another program's.
    let version = version(&connection)?;
    prepare(&connection)?;
    if version > 0 {
        check(&connection)?;
    }
    let transaction = connection.transaction()?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        step(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(connection)
}

/// Opens the file once more, to write to it.
pub(super) fn reopen(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    prepare(&connection)?;
    Ok(connection)
}

/// Opens the file to read.
pub(super) fn read(path: &Path) -> rusqlite::Result<Connection> {
    // Not read-only: a reader of a write-ahead log writes to its index.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    // More than the writer has.
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A commit is on the disk when it returns, also after a power failure.
    connection.pragma_update(None, "synchronous", "full")?;
    // A log that has grown once does not keep its size for ever.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)
}

fn version(connection: &Connection) -> Result<i32, OpenError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let (application, version): (i32, i32) = (pragma("application_id")?, pragma("user_version")?);
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, found) if found > VERSION => Err(OpenError::Newer { found, known: VERSION }),
        (APPLICATION, version @ 1..) => Ok(version),
        _ => Err(OpenError::Foreign),
    }
}

/// Reads the whole file once: a damaged page is found now rather than in the middle of a game.
fn check(connection: &Connection) -> Result<(), OpenError> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(OpenError::Damaged(found)) }
}
