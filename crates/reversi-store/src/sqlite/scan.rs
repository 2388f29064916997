//! Reads all rows of a table that can be read, also around damaged pages.

use std::cell::Cell;

use rusqlite::{Connection, Error, Row};

use super::damage::is_unreadable;

/// Maximum rowids between two readable rows that are tried one by one: more than one damaged page can hide, and few
/// enough to try within a second.
const TRIED: i64 = 100_000;

/// A part of a table that cannot be read in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// The last row before it.
    pub(super) after: i64,
    /// The first row after it.
    pub(super) before: i64,
    /// The rows within it that could be read one by one.
    pub(super) read: usize,
}

/// Visits each readable row of a table with its rowid, which is column 0: in order up to a damaged page, then from the
/// end down to one, and then one by one between them.
pub(super) fn each(
    connection: &Connection,
    table: &str,
    columns: &str,
    visit: &mut dyn FnMut(i64, &Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<Option<Gap>> {
    let (low, high) = (Cell::new(i64::MIN), Cell::new(i64::MAX));
    let select = format!("SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid");
    let upward = rows(connection, &format!("{select} > ?1 ORDER BY rowid"), [i64::MIN], &mut |row| {
        // On a page that is cut off, rows may be out of order.
        let number = row.get(0)?;
        low.set(low.get().max(number));
        visit(number, row)
    })?;
    if upward {
        return Ok(None);
    }
    rows(connection, &format!("{select} > ?1 ORDER BY rowid DESC"), [low.get()], &mut |row| {
        let number = row.get(0)?;
        high.set(high.get().min(number));
        visit(number, row)
    })?;
    let (first, mut read) = (low.get().max(0).saturating_add(1), 0);
    for rowid in first..high.get().min(first.saturating_add(TRIED)) {
        rows(connection, &format!("{select} = ?1"), [rowid], &mut |row| {
            read += 1;
            visit(rowid, row)
        })?;
    }
    Ok(Some(Gap { after: low.get().max(0), before: high.get(), read }))
}

/// Visits the rows of a table without rowids, in the order of its key up to a damaged page, then from the end down to
/// one. Returns whether there is a damaged page.
pub(super) fn each_keyed(
    connection: &Connection,
    table: &str,
    key: &str,
    visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let last = Cell::new(None);
    let upward = rows(connection, &format!("SELECT * FROM {table} ORDER BY {key}"), (), &mut |row| {
        last.set(row.get(key).ok().or(last.take()));
        visit(row)
    })?;
    if upward {
        return Ok(false);
    }
    let last: String = last.take().unwrap_or_default();
    rows(connection, &format!("SELECT * FROM {table} WHERE {key} > ?1 ORDER BY {key} DESC"), [last], visit)?;
    Ok(true)
}

/// Visits the rows of a query. Returns false if a damaged page ends it early.
pub(super) fn rows(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(parameters)?;
    loop {
        match rows.next() {
            Ok(Some(row)) => visit(row)?,
            Ok(None) => return Ok(true),
            Err(Error::SqliteFailure(error, _)) if is_unreadable(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}
