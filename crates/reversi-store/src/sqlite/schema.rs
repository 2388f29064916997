//! The tables, and the upgrade of older files.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, MAIN_DB, OpenFlags, config::DbConfig};

use super::{damage::is_corrupt, error::OpenError, wal};
use crate::game_row::{FIRST, GameRow, TOURNAMENTS, VERSION};

/// The application id of SQLite files: "Rvrs".
pub(super) const APPLICATION: i32 = 0x5276_7273;

/// The oldest version that is upgraded. Its tables are those of `schema.sql`.
pub(super) const OLDEST: i32 = 9;

/// Time limit for another program's lock on the file, such as a backup's.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// A file that was opened to write.
#[derive(Debug)]
pub(super) struct OpenedFile {
    pub(super) connection: Connection,
    /// Why the file can only be read; none if it can be written.
    pub(super) unwritable: Option<rusqlite::Error>,
    /// True if the file must not be changed.
    pub(super) is_source: bool,
    /// True if the log of the file can be marked.
    pub(super) marks: bool,
}

/// Opens the file, creates it if necessary, and upgrades it to the current version. Without an upgrade it reads only a
/// few pages, whatever the size of the file. A complete file on a disk that is full or read-only can still be read.
pub(super) fn create(path: &Path) -> Result<OpenedFile, OpenError> {
    let error = match create_writable(path) {
        Ok((connection, marks)) => return Ok(OpenedFile { connection, unwritable: None, is_source: false, marks }),
        Err(OpenError::Database(error)) if is_unwritable(&error) => error,
        Err(error) => return Err(error),
    };
    let Ok(ReadConnection { connection, .. }) = read(path) else { return Err(error.into()) };
    if version(&connection)? != VERSION {
        return Err(error.into());
    }
    Ok(OpenedFile { connection, unwritable: Some(error), is_source: false, marks: true })
}

/// True if the cause of the error may be a disk that cannot be written.
pub(super) fn is_unwritable(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
}

/// Also returns true if the log of the file can be marked.
fn create_writable(path: &Path) -> Result<(Connection, bool), OpenError> {
    let mut connection = Connection::open(path)?;
    // Before any change: the file may belong to another program.
    let version = version(&connection)?;
    prepare(&connection)?;
    let is_unmarked = match upgrade(&mut connection, version, true) {
        Err(error) if is_corrupt(&error) => {
            // The page of the mark may be all that is damaged.
            upgrade(&mut connection, version, false)?;
            tracing::error!(%error, "the log is not marked: a log of another file may not be recognised");
            return Ok((connection, false));
        }
        upgraded => upgraded?,
    };
    if is_unmarked {
        // So that the file has a mark before a later log names it. What fails is done by a later checkpoint.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    Ok((connection, true))
}

/// Returns true if the file had no mark before.
fn upgrade(connection: &mut Connection, version: i32, marks: bool) -> rusqlite::Result<bool> {
    let transaction = connection.transaction()?;
    // Before the schema changes.
    let is_unmarked = marks && wal::mark::renew(&transaction)?;
    if version == 0 {
        transaction.execute_batch(include_str!("schema.sql"))?;
    }
    if version < FIRST {
        transaction.execute_batch(include_str!("../done_requests.sql"))?;
    }
    if version < TOURNAMENTS {
        transaction.execute_batch(include_str!("../tournaments.sql"))?;
    }
    transaction.execute_batch(&GameRow::additions(version))?;
    if is_unmarked {
        // With the schema as it stays.
        wal::mark::renew_first(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(is_unmarked)
}

/// Opens an existing file to write.
pub(super) fn reopen(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    prepare(&connection)?;
    Ok(connection)
}

/// A connection that only reads.
pub(super) struct ReadConnection {
    pub(super) connection: Connection,
    /// True if it may stay open: if it sees later changes of the file, and can write to the index of the write-ahead
    /// log. All connections of the process share the index, so with one that cannot write, none could.
    pub(super) is_live: bool,
}

/// Opens the file to read. Without space for the index of the write-ahead log, it reads the file as it is now, unless
/// there is a log.
pub(super) fn read(path: &Path) -> rusqlite::Result<ReadConnection> {
    let error = match read_live(path) {
        Ok(connection) => {
            let is_live = !connection.is_readonly(MAIN_DB)?;
            return Ok(ReadConnection { connection, is_live });
        }
        Err(error) => error,
    };
    if !is_unwritable(&error) || wal::exists(path) {
        return Err(error);
    }
    Ok(ReadConnection { connection: read_without_log(path)?, is_live: false })
}

/// Opens the file to read it as it is now.
fn read_without_log(path: &Path) -> rusqlite::Result<Connection> {
    let Some(path) = path.to_str() else { return Err(rusqlite::Error::InvalidPath(path.to_owned())) };
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?;
    open_file(&connection)?;
    Ok(connection)
}

/// Opens a file to read that no server uses, and leaves the file and its log as they are.
pub(super) fn read_source(path: &Path) -> rusqlite::Result<ReadConnection> {
    let connection = match wal::exists(path) {
        true => read_live(path)?,
        false => read_without_log(path)?,
    };
    leave_log(&connection)?;
    Ok(ReadConnection { connection, is_live: true })
}

/// Leaves the log as it is at the end of a connection, also of the last one, which would copy it into the file.
pub(super) fn leave_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// True if this program has to upgrade a file of this version.
pub(super) fn is_older(version: i32) -> bool {
    version < VERSION
}

/// Opens an existing file to read, without an upgrade. Returns the version too; 0 if it is empty.
pub(super) fn read_as_it_is(path: &Path) -> Result<(Connection, i32), OpenError> {
    let connection = read(path)?.connection;
    let version = version(&connection)?;
    Ok((connection, version))
}

fn read_live(path: &Path) -> rusqlite::Result<Connection> {
    // Not read-only, because a reader of a write-ahead log writes to its index.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    open_file(&connection)?;
    Ok(connection)
}

/// SQLite opens its files with the first query.
fn open_file(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    // More than the writer uses.
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A commit is on the disk when it returns, even after a power failure.
    connection.pragma_update(None, "synchronous", "full")?;
    // Shrinks the log after it has grown.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)
}

/// The version of a file; 0 if it is empty.
pub(super) fn version(connection: &Connection) -> Result<i32, OpenError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let (application, version): (i32, i32) = (pragma("application_id")?, pragma("user_version")?);
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, found) if found > VERSION => Err(OpenError::Newer { found, known: VERSION }),
        (APPLICATION, found @ 1..OLDEST) => Err(OpenError::Older { found, oldest: OLDEST }),
        (APPLICATION, version @ OLDEST..) => Ok(version),
        _ => Err(OpenError::Foreign),
    }
}
