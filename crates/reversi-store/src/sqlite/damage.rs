//! Damage of the file: rows and pages that SQLite cannot read.

use std::fmt::Display;

use rusqlite::{Connection, ErrorCode, ffi};

pub(super) use crate::damage::{DamagedRows, ReadError};

impl DamagedRows {
    /// Passes over a damaged row, which is counted and logged the first time. Other errors are returned.
    pub(super) fn pass_over(&self, table: &str, row: &str, error: ReadError) -> Result<(), ReadError> {
        if !is_damage(&error) {
            return Err(error);
        }
        self.note_malformed(&error);
        self.note(table, row, &error.to_string(), "a row is damaged and is skipped");
        Ok(())
    }

    /// Notes an error by which SQLite says that the file is malformed.
    pub(super) fn note_malformed(&self, error: &ReadError) {
        if let Some(error) = error.downcast_ref() {
            self.note_malformed_file(error);
        }
    }

    /// As [`DamagedRows::note_malformed`].
    pub(super) fn note_malformed_file(&self, error: &rusqlite::Error) {
        if is_corrupt(error) {
            self.set_malformed(error);
        }
    }

    /// Returns the answer to a query for one row. A damaged row is counted, and logged the first time.
    pub(super) fn noted<T>(
        &self,
        table: &str,
        row: impl Display,
        answer: Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        answer.inspect_err(|error| {
            self.note_malformed(error);
            if is_damage(error) {
                self.note(table, &row.to_string(), &error.to_string(), "a row is damaged");
            }
        })
    }
}

/// True if stored data caused the error: a retry does not help.
pub(super) fn is_damage(error: &ReadError) -> bool {
    // Errors of other types are of values that their type does not allow.
    error.downcast_ref().is_none_or(is_damage_of_file)
}

/// True if the disk failed to read a page, but may succeed later: nothing may be removed because of this error.
pub(super) fn is_read_failure(error: &ReadError) -> bool {
    let error = error.downcast_ref().and_then(rusqlite::Error::sqlite_error);
    error.is_some_and(|error| is_unreadable(error) && !is_malformed(error))
}

/// True if SQLite says that the content of the file is wrong.
pub(super) fn is_corrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(is_malformed)
}

fn is_malformed(error: &ffi::Error) -> bool {
    matches!(error.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
}

/// As [`is_damage`], for an error of the file.
pub(super) fn is_damage_of_file(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => is_unreadable(error),
        // A value that its column does not allow.
        _ => true,
    }
}

/// True if SQLite could not read a page: its content is wrong, or the disk returned an error for it.
pub(super) fn is_unreadable(error: &ffi::Error) -> bool {
    is_malformed(error) || matches!(error.extended_code, ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ)
}

/// The first problem that a check by SQLite finds.
pub(super) fn found_by(file: &Connection, check: &str) -> Option<String> {
    let found: rusqlite::Result<String> = file.query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0));
    match found {
        Ok(found) if found == "ok" => None,
        Ok(found) => Some(found),
        Err(error) => Some(error.to_string()),
    }
}
