//! The size of the archive, and its bound.

use reversi_room::Timestamp;
use rusqlite::{Connection, types::Value};

use super::explorer;
use crate::archive::{ArchiveSize, Retention};

/// The number of stored games, and the bytes of the file.
pub(super) fn size(connection: &Connection) -> rusqlite::Result<ArchiveSize> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0)).map(u64::from);
    Ok(ArchiveSize { games: games(connection)?, bytes: pragma("page_count")? * pragma("page_size")? })
}

fn games(connection: &Connection) -> rusqlite::Result<u64> {
    let count: i64 = connection.prepare_cached("SELECT games FROM archive")?.query_row([], |row| row.get(0))?;
    u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, count))
}

/// Number of games beyond the `most` newest, at most `limit`. The stored number of games may be damaged, so it only
/// says whether to count.
fn excess(connection: &Connection, most: u64, limit: usize) -> rusqlite::Result<usize> {
    if games(connection)? <= most {
        return Ok(0);
    }
    let sql = "SELECT count(*) FROM (SELECT 1 FROM games ORDER BY ended_us DESC, id DESC LIMIT ? OFFSET ?)";
    let [limit, most] = [i64::try_from(limit), i64::try_from(most)].map(|number| number.unwrap_or(i64::MAX));
    let excess: i64 = connection.prepare_cached(sql)?.query_row([limit, most], |row| row.get(0))?;
    Ok(usize::try_from(excess).unwrap_or_default())
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
            let excess = excess(connection, most, limit)?;
            if excess == 0 {
                return Ok(0);
            }
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
        explorer::forget(connection, *rowid)?;
        game.execute([rowid])?;
        for contestant in contestants {
            played.execute((contestant, ended, id))?;
        }
    }
    Ok(games.len())
}
