//! The opening explorer's table.

use std::sync::Arc;

use reversi_engine::rules::{Position, Square, opening_names};
use reversi_room::{GameRecord, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    damage::{self, DamagedRows, ReadError},
    games,
};
use crate::{
    explorer::{
        CountedMove, Exploration, ExplorerFilter, MoveCount, Mover, PositionKey, REMEMBERED_GAMES, counted_moves,
        explored_moves, shown_games,
    },
    player_stats::Results,
};

/// Returns true if more than `skip` public games are not counted yet.
pub(super) fn has_uncounted(connection: &Connection, skip: usize, now: Timestamp) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM games WHERE explored = 0 AND ifnull(public_from_us, ended_us) <= ? \
        ORDER BY ended_us, id LIMIT 1 OFFSET ?";
    Ok(connection.prepare_cached(sql)?.exists((now.0, i64::try_from(skip)?))?)
}

/// Counts at most `limit` public games that are not counted yet, the oldest first, after `skip` others. Returns how many.
pub(super) fn count(
    connection: &Connection,
    damaged: &DamagedRows,
    [skip, limit]: [usize; 2],
    now: Timestamp,
) -> rusqlite::Result<usize> {
    let sql = "SELECT rowid AS number, * FROM games WHERE explored = 0 AND ifnull(public_from_us, ended_us) <= ? \
        ORDER BY ended_us, id LIMIT ? OFFSET ?";
    let [limit, skip] = [limit, skip].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let mut select = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>("number")?, games::read(row)));
    let uncounted = select.query_map([now.0, limit, skip], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut done = connection.prepare_cached("UPDATE games SET explored = 1, opening_name = ? WHERE rowid = ?")?;
    for (number, game) in &uncounted {
        let mut opening = None;
        match game {
            Ok(game) => {
                opening = opening_names::of_game(game.positions());
                counted_moves(game).iter().try_for_each(|counted| add(connection, counted, *number))?;
            }
            // A row that can be read and makes no sense.
            Err(error) => damaged.note("games", &number.to_string(), &error.to_string(), "the explorer skips a game"),
        }
        done.execute((opening, number))?;
    }
    Ok(uncounted.len())
}

fn add(connection: &Connection, counted: &CountedMove, game: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO explored_moves (position, square, mover, won, drawn, lost, latest) VALUES (?, ?, ?, ?, ?, ?, ?) \
        ON CONFLICT DO UPDATE SET won = won + excluded.won, drawn = drawn + excluded.drawn, lost = lost + excluded.lost, \
        latest = substr(CAST(excluded.latest || latest AS BLOB), 1, ?8)";
    let CountedMove { position, square, mover, results: Results { won, drawn, lost } } = counted;
    let kept = (REMEMBERED_GAMES * size_of::<i64>()) as i64;
    let key = (position.bytes(), square.index(), mover.0);
    connection.prepare_cached(sql)?.execute((key.0, key.1, key.2, won, drawn, lost, game.to_le_bytes(), kept))?;
    Ok(())
}

/// Subtracts the moves of a game from the counts, before it is removed. A damaged game stays counted.
pub(super) fn forget(connection: &Connection, game: i64) -> rusqlite::Result<()> {
    let mut select = connection.prepare_cached("SELECT * FROM games WHERE rowid = ? AND explored = 1")?;
    let Some(Ok(game)) = select.query_row([game], |row| Ok(games::read(row))).optional()? else { return Ok(()) };
    let sql = "UPDATE explored_moves SET won = won - ?4, drawn = drawn - ?5, lost = lost - ?6 \
        WHERE position = ?1 AND square = ?2 AND mover = ?3";
    let mut subtract = connection.prepare_cached(sql)?;
    let sql = "DELETE FROM explored_moves WHERE position = ? AND square = ? AND mover = ? AND won + drawn + lost <= 0";
    let mut delete = connection.prepare_cached(sql)?;
    for CountedMove { position, square, mover, results: Results { won, drawn, lost } } in counted_moves(&game) {
        let key = (position.bytes(), square.index(), mover.0);
        subtract.execute((key.0, key.1, key.2, won, drawn, lost))?;
        delete.execute(key)?;
    }
    Ok(())
}

/// What was played in a position. A damaged game is left out.
pub(super) fn explore(
    connection: &Connection,
    damaged: &DamagedRows,
    position: Position,
    filter: &ExplorerFilter,
) -> Result<Exploration, ReadError> {
    let sql = "SELECT square, mover, won, drawn, lost, latest FROM explored_moves WHERE position = ?";
    let mut select = connection.prepare_cached(sql)?;
    let counts = select.query_map([PositionKey::of(position).0.bytes()], read_count)?;
    let counts: Vec<_> = counts.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?;
    let [recent, best] = shown_games(position, &counts, filter, |game| read_game(connection, damaged, game))?;
    Ok(Exploration { moves: explored_moves(position, &counts, filter), recent, best })
}

/// Reads a row; none if its square is not on the board.
fn read_count(row: &Row<'_>) -> rusqlite::Result<Option<MoveCount<i64>>> {
    let Some(square) = Square::new(row.get("square")?) else { return Ok(None) };
    Ok(Some(MoveCount {
        square,
        mover: Mover(row.get("mover")?),
        results: Results { won: row.get("won")?, drawn: row.get("drawn")?, lost: row.get("lost")? },
        latest: row.get_ref("latest")?.as_blob()?.as_chunks().0.iter().map(|game| i64::from_le_bytes(*game)).collect(),
    }))
}

fn read_game(connection: &Connection, damaged: &DamagedRows, game: i64) -> Result<Option<Arc<GameRecord>>, ReadError> {
    let mut select = connection.prepare_cached("SELECT * FROM games WHERE rowid = ?")?;
    let game = match select.query_row([game], |row| Ok(games::read(row))).optional() {
        Ok(game) => game.transpose().unwrap_or_default(),
        Err(error) if damage::is_damage_of_file(&error) => {
            damaged.pass_over("games", &game.to_string(), error.into())?;
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(game.map(Arc::new))
}
