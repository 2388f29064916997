//! Tournaments. They are written to their tables at once, as they change rarely.

use reversi_room::{Seq, Timestamp, TournamentId};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, types::ValueRef};

use super::damage::{DamagedRows, ReadError};
use crate::{
    journal::AppendError,
    tournament::{StoredTournament, TournamentKey, TournamentRows},
};

/// The tables, and their columns.
pub(super) const TABLES: [(&str, &str); 2] = [
    ("tournaments", "id, created_us, seq, ended, snapshot_seq, snapshot"),
    ("tournament_events", "tournament, event, seq"),
];

/// Appends to a tournament. A conflict writes nothing.
pub(super) fn append(
    connection: &Connection,
    expected: Seq,
    rows: &TournamentRows,
) -> rusqlite::Result<Result<(), AppendError>> {
    let at = last(connection, rows.id)?.unwrap_or_default();
    if at != expected {
        return Ok(Err(AppendError::Conflict(at)));
    }
    write(connection, rows).map(Ok)
}

pub(super) fn write(connection: &Connection, rows: &TournamentRows) -> rusqlite::Result<()> {
    let TournamentRows { id, created, last, ended, stored } = rows;
    let id = key(*id);
    let put = "INSERT INTO tournaments (id, created_us, seq, ended, snapshot_seq, snapshot) VALUES (?, ?, ?, ?, 0, x'') \
        ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, ended = excluded.ended";
    connection.execute(put, (id, created.0, last.0.cast_signed(), ended))?;
    if let Some((seq, snapshot)) = &stored.snapshot {
        let replace = "UPDATE tournaments SET snapshot_seq = ?, snapshot = ? WHERE id = ?";
        connection.execute(replace, (seq.0.cast_signed(), snapshot, id))?;
        connection.execute("DELETE FROM tournament_events WHERE tournament = ?", [id])?;
    }
    let mut insert = connection.prepare("INSERT INTO tournament_events (tournament, event, seq) VALUES (?, ?, ?)")?;
    stored.events.iter().try_for_each(|(seq, event)| insert.execute((id, event, seq.0.cast_signed())).map(drop))
}

pub(super) fn load(connection: &Connection, id: TournamentId) -> Result<Option<StoredTournament>, ReadError> {
    let sql = "SELECT seq, snapshot_seq, snapshot FROM tournaments WHERE id = ?";
    let read = |row: &Row<'_>| Ok((seq(row, 0)?, (seq(row, 1)?, row.get(2)?)));
    let Some((last, snapshot)) = connection.query_row(sql, [key(id)], read).optional()? else { return Ok(None) };
    let mut select =
        connection.prepare("SELECT seq, event FROM tournament_events WHERE tournament = ? ORDER BY seq")?;
    let events = select.query_map([key(id)], |row| Ok((seq(row, 0)?, row.get(1)?)))?;
    StoredTournament::of_rows(last, snapshot, events.collect::<rusqlite::Result<_>>()?).map(Some)
}

/// The last event; none if the tournament is unknown.
pub(super) fn last(connection: &Connection, id: TournamentId) -> rusqlite::Result<Option<Seq>> {
    let sql = "SELECT seq FROM tournaments WHERE id = ?";
    connection.query_row(sql, [key(id)], |row| seq(row, 0)).optional()
}

pub(super) fn running(connection: &Connection, damaged: &DamagedRows) -> Result<Vec<TournamentId>, ReadError> {
    Ok(keys(connection, damaged, "NOT ended", ())?.into_iter().map(|(_, id)| id).collect())
}

pub(super) fn page(
    connection: &Connection,
    damaged: &DamagedRows,
    unfinished: bool,
    before: Option<TournamentKey>,
    limit: usize,
) -> Result<Vec<TournamentKey>, ReadError> {
    let (created, id) = before.map_or((i64::MAX, i64::MAX), |(created, id)| (created.0, key(id)));
    let condition = match unfinished {
        // By the index of those, which are few: with "+" no other one is used.
        true => "NOT ended AND (+created_us, id) < (?, ?) ORDER BY +created_us DESC, id DESC LIMIT ?",
        false => "(created_us, id) < (?, ?) ORDER BY created_us DESC, id DESC LIMIT ?",
    };
    keys(connection, damaged, condition, (created, id, i64::try_from(limit)?))
}

fn keys(
    connection: &Connection,
    damaged: &DamagedRows,
    condition: &str,
    parameters: impl Params,
) -> Result<Vec<TournamentKey>, ReadError> {
    let mut select = connection.prepare(&format!("SELECT created_us, id FROM tournaments WHERE {condition}"))?;
    let mut rows = select.query(parameters)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<TournamentKey> {
        Ok((Timestamp(row.get(0)?), TournamentId::from_random(row.get::<_, i64>(1)?.cast_unsigned())))
    };
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(key) => keys.push(key),
            Err(error) => damaged.pass_over("tournaments", "of unknown id", error.into())?,
        }
    }
    Ok(keys)
}

/// True if the values of a row, behind its rowid, have types that the columns may have.
pub(super) fn is_readable(row: &Row<'_>, columns: &str) -> bool {
    let is_number_or_bytes = |column| matches!(row.get_ref(column), Ok(ValueRef::Integer(_) | ValueRef::Blob(_)));
    (1..=columns.split(',').count()).all(is_number_or_bytes)
}

fn key(id: TournamentId) -> i64 {
    id.bits().cast_signed()
}

fn seq(row: &Row<'_>, column: usize) -> rusqlite::Result<Seq> {
    Ok(Seq(row.get::<_, i64>(column)?.cast_unsigned()))
}
