//! Complete copies of a file: a backup, also while a server uses the file; the restoring of a backup; and a new store
//! that takes its place when it is complete.
//!
//! A copy has a mark of its own ([`wal::mark`]), so that the write-ahead log of the file that it replaces is recognised.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
};
use thiserror::Error;

use super::{
    SqliteStore, create_file, create_folder,
    damage::found_by,
    doctor::{give_owner, remove_file, unused},
    error::OpenError,
    lock, require, schema, try_lock, unfinished, wal,
};
use crate::files::{beside, sync_folder};

/// Pages that are copied between two reports of the progress.
const STEP: i32 = 1_000;

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The data cannot be read or replaced.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The backup cannot be read.
    #[error("the backup cannot be used: {0}")]
    Backup(OpenError),
    /// The backup is damaged.
    #[error(
        "the backup is damaged ({0}); as `reversi.db` in an empty folder, `reversi doctor --repair` saves what can be read of it"
    )]
    Damaged(String),
    /// The copy cannot be written.
    #[error("cannot write {0}: {1}")]
    Copy(PathBuf, io::Error),
}

/// Called with the progress of a copy: the pages copied, and all pages.
pub type Pages<'a> = dyn FnMut(u64, u64) + 'a;

/// Copies the file of a folder to a new file, with all writes that were acknowledged before, also while a server uses
/// it. Returns the first damage that SQLite finds in the copy.
///
/// # Errors
/// When there is no file, or the new file exists or cannot be written.
pub fn backup(folder: &Path, to: &Path, pages: &mut Pages<'_>) -> Result<Option<String>, BackupError> {
    let file = folder.join(SqliteStore::FILE);
    require(&file)?;
    let (source, _lock) = match try_lock(folder) {
        Ok(lock) => {
            wal::mark::check(&file)?;
            (schema::read_source(&file), Some(lock))
        }
        Err(OpenError::InUse) => (schema::read(&file), None),
        Err(error) => return Err(error.into()),
    };
    let source = source.map_err(OpenError::from)?.connection;
    // The server may end meanwhile.
    schema::leave_log(&source).map_err(OpenError::from)?;
    schema::version(&source)?;
    let failed = |error| BackupError::Copy(to.to_owned(), error);
    // Takes the name, so that nothing is overwritten.
    File::options().write(true).create_new(true).open(to).map_err(failed)?;
    let partial = beside(to, ".partial");
    let copied = copy(&source, &partial, None, pages).and_then(|copy| {
        let damage = found_by(&copy, "quick_check");
        complete(copy, &partial, to).map(|()| damage)
    });
    copied.inspect_err(|_| {
        let _ = fs::remove_file(&partial);
        let _ = fs::remove_file(to);
    })
}

/// Checks a backup, and puts it in the place of a folder's file. Returns the path of the replaced file, which is kept
/// with its write-ahead log; none if there was none.
///
/// # Errors
/// When a server uses the folder, or the backup is damaged or no backup; then nothing has changed.
pub fn restore(backup: &Path, folder: &Path, pages: &mut Pages<'_>) -> Result<Option<PathBuf>, BackupError> {
    let source = open_backup(backup).map_err(BackupError::Backup)?;
    create_folder(folder).map_err(OpenError::from)?;
    let file = folder.join(SqliteStore::FILE);
    let _lock = lock(folder)?;
    let new = file.with_extension("db.restored");
    let restored = copy(&source, &new, Some(&file), pages).and_then(|copy| {
        if let Some(damage) = found_by(&copy, "integrity_check") {
            return Err(BackupError::Damaged(damage));
        }
        let failed = |error| BackupError::Copy(file.clone(), error);
        let kept = keep(&file).map_err(failed)?;
        let lock = File::open(&new).map_err(failed)?;
        // No server starts with the new file before the old log is away.
        lock.try_lock().map_err(|error| failed(error.into()))?;
        complete(copy, &new, &file)?;
        for suffix in ["-wal", "-shm"] {
            remove_file(&beside(&file, suffix)).map_err(failed)?;
        }
        Ok(kept)
    });
    restored.inspect_err(|_| {
        let _ = fs::remove_file(&new);
        if require(&file).is_err() {
            // Created to be locked.
            let _ = fs::remove_file(&file);
        }
    })
}

fn open_backup(backup: &Path) -> Result<Connection, OpenError> {
    require(backup)?;
    wal::mark::check(backup)?;
    let source = schema::read_source(backup)?.connection;
    match schema::version(&source)? {
        0 => Err(OpenError::Missing),
        _ => Ok(source),
    }
}

/// Copies a database into a new file, readable only by its owner. The owner is that of `like`, if given.
fn copy(source: &Connection, to: &Path, like: Option<&Path>, pages: &mut Pages<'_>) -> Result<Connection, BackupError> {
    let failed = |error| BackupError::Copy(to.to_owned(), error);
    remove_file(to).and_then(|()| create_file(to)).map_err(failed)?;
    if let Some(like) = like {
        give_owner(like, to).map_err(OpenError::Owner)?;
    }
    let mut copy = || -> rusqlite::Result<Connection> {
        // One state, whatever the server writes meanwhile.
        let moment = source.unchecked_transaction()?;
        moment.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let mut copy = Connection::open(to)?;
        // Until it is complete, no crash matters.
        copy.pragma_update(None, "synchronous", "off")?;
        let backup = Backup::new(&moment, &mut copy)?;
        loop {
            let step = backup.step(STEP)?;
            let [all, left] = [backup.progress().pagecount, backup.progress().remaining].map(i64::from);
            pages((all - left).unsigned_abs(), all.unsigned_abs());
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)),
            }
        }
        drop(backup);
        // A single file: without a log.
        copy.pragma_update(None, "journal_mode", "delete")?;
        wal::mark::renew(&copy)?;
        Ok(copy)
    };
    copy().map_err(|error| OpenError::from(error).into())
}

/// Gives a complete copy its name, durably.
fn complete(copy: Connection, from: &Path, to: &Path) -> Result<(), BackupError> {
    copy.close().map_err(|(_, error)| OpenError::from(error))?;
    let name = || {
        File::open(from)?.sync_all()?;
        fs::rename(from, to)?;
        sync_folder(to)
    };
    name().map_err(|error| BackupError::Copy(to.to_owned(), error))
}

/// Gives a file that is about to be replaced, and its log, a second name. Returns the name, unless the file is empty.
fn keep(file: &Path) -> io::Result<Option<PathBuf>> {
    let kept = unused(file, "replaced");
    let link = |from: &Path, to: &Path| fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop));
    if wal::exists(file) {
        // SQLite would replay a log by the name of its file.
        let suffix = if let Err(OpenError::StrayLog) = wal::mark::check(file) { "-stray-wal" } else { "-wal" };
        link(&wal::path_of(file), &beside(&kept, suffix))?;
    }
    if fs::metadata(file)?.len() == 0 {
        return Ok(None);
    }
    link(file, &kept)?;
    Ok(Some(kept))
}

/// A store that takes its place in a folder when it is complete.
pub struct NewStore {
    store: SqliteStore,
    /// The folder of the store until it is complete.
    aside: PathBuf,
    file: PathBuf,
}

impl NewStore {
    /// Creates an empty store for a folder without one, and the folder. An earlier incomplete store is removed.
    ///
    /// # Errors
    /// When the folder has a store, or cannot be used.
    pub fn create(folder: &Path) -> Result<Self, OpenError> {
        create_folder(folder)?;
        let file = folder.join(SqliteStore::FILE);
        wal::mark::check(&file)?;
        let aside = unfinished(&file);
        if aside.exists() {
            drop(lock(&aside)?);
            fs::remove_dir_all(&aside)?;
        }
        Ok(Self { store: SqliteStore::open(&aside)?, aside, file })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &SqliteStore {
        &self.store
    }

    /// Moves the store to its place.
    ///
    /// # Errors
    /// When not all of it could be written; then the folder has no store.
    pub fn finish(self) -> Result<(), OpenError> {
        let Self { store, aside, file } = self;
        drop(store);
        let new = aside.join(SqliteStore::FILE);
        if wal::exists(&new) {
            return Err(io::Error::other("the log could not be copied into the file").into());
        }
        File::open(&new)?.sync_all()?;
        if require(&file).is_ok() {
            // A server was started there meanwhile.
            return Err(OpenError::InUse);
        }
        fs::rename(&new, &file)?;
        sync_folder(&file)?;
        Ok(fs::remove_dir_all(aside)?)
    }
}
