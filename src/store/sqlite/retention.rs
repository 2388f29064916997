//! The size of the archive, and its bound.

use rusqlite::{Connection, types::Value};

use crate::{
    room::Timestamp,
    store::archive::{ArchiveSize, Retention},
};

/// The number of stored games, and the bytes of the file.
pub(super) fn size(connection: &Connection) -> rusqlite::Result<ArchiveSize> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0)).map(u64::from);
    Ok(ArchiveSize { games: games(connection)?, bytes: pragma("page_count")? * pragma("page_size")? })
}

fn games(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("SELECT games FROM archive")?.query_row([], |row| row.get(0)).map(i64::cast_unsigned)
}

/// Removes at most `limit` games that the retention does not keep, and returns how many.
pub(super) fn trim(
    connection: &Connection,
    retention: Retention,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<usize> {
    match retention {
        Retention::Age(age) => {
            let sql = "SELECT rowid, id, ended_us, black, white FROM games WHERE rated = 0 AND ended_us < ?1 \
                ORDER BY ended_us, id LIMIT ?2";
            remove(connection, sql, now.shifted(-i64::try_from(age.as_micros()).unwrap_or(i64::MAX)), limit)
        }
        Retention::Games(most) => {
            let excess = games(connection)?.saturating_sub(most);
            let excess = usize::try_from(excess).unwrap_or(usize::MAX).min(limit);
            let sql = "SELECT rowid, id, ended_us, black, white FROM games WHERE rated = 0 AND ended_us <= ?1 \
                ORDER BY ended_us, id LIMIT ?2";
            let unrated = remove(connection, sql, Timestamp(i64::MAX), excess)?;
            let sql = "SELECT rowid, id, ended_us, black, white FROM games WHERE ended_us <= ?1 \
                ORDER BY ended_us, id LIMIT ?2";
            Ok(unrated + remove(connection, sql, Timestamp(i64::MAX), excess - unrated)?)
        }
    }
}

/// Removes the games that a query selects. Values are not converted, so that damaged rows go as well.
fn remove(connection: &Connection, sql: &str, until: Timestamp, limit: usize) -> rusqlite::Result<usize> {
    let mut select = connection.prepare_cached(sql)?;
    let games = select.query_map((until.0, i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?], [row.get(3)?, row.get(4)?]))
    })?;
    let games = games.collect::<rusqlite::Result<Vec<(i64, [Value; 2], [Value; 2])>>>()?;
    let mut game = connection.prepare_cached("DELETE FROM games WHERE rowid = ?")?;
    let sql = "DELETE FROM played WHERE contestant = ? AND ended_us = ? AND game = ?";
    let mut played = connection.prepare_cached(sql)?;
    for (rowid, [id, ended], contestants) in &games {
        game.execute([rowid])?;
        for contestant in contestants {
            played.execute((contestant, ended, id))?;
        }
    }
    Ok(games.len())
}
