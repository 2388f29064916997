//! The opening explorer's table.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use reversi_engine::rules::{Position, Square, opening_names};
use reversi_room::{GameRecord, Timestamp};
use tokio_postgres::{Error, Row};

use super::{
    games,
    session::{Session, column, readable},
};
use crate::{
    damage::{DamagedRows, ReadError},
    explorer::{
        CountedMove, Exploration, ExplorerFilter, MoveCount, Mover, PositionKey, REMEMBERED_GAMES, counted_moves,
        explored_moves, shown_games,
    },
    player_stats::Results,
};

/// Returns true if more than `skip` settled public games are not counted yet.
pub(super) async fn has_uncounted(session: &Session, skip: usize, now: Timestamp) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM games WHERE NOT explored AND unsettled_weight IS NULL \
        AND coalesce(public_from_us, ended_us) <= $2 ORDER BY ended_us, id LIMIT 1 OFFSET $1";
    Ok(session.row(sql, &[&i64::try_from(skip)?, &now.0]).await?.is_some())
}

/// Counts at most `limit` settled public games that are not counted yet, the oldest first, after `skip` others. Returns how
/// many.
pub(super) async fn count(
    session: &Session,
    damaged: &DamagedRows,
    [skip, limit]: [usize; 2],
    now: Timestamp,
) -> Result<usize, Error> {
    let sql = "SELECT * FROM games WHERE NOT explored AND unsettled_weight IS NULL \
        AND coalesce(public_from_us, ended_us) <= $3 ORDER BY ended_us, id LIMIT $1 OFFSET $2";
    let [limit, skip] = [limit, skip].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let uncounted = session.query(sql, &[&limit, &skip, &now.0]).await?;
    for row in &uncounted {
        let number: i64 = row.try_get("number")?;
        let game = readable(damaged, "games", row, games::read(row));
        let opening = game.as_ref().and_then(|game| opening_names::of_game(game.positions()));
        if let Some(game) = game {
            add(session, &counted_moves(&game), number).await?;
        }
        let sql = "UPDATE games SET explored = true, opening_name = $1 WHERE number = $2";
        session.execute(sql, &[&opening, &number]).await?;
    }
    Ok(uncounted.len())
}

/// The columns of counted moves, as arrays.
struct Columns {
    positions: Vec<Vec<u8>>,
    squares: Vec<i32>,
    movers: Vec<i32>,
    results: [Vec<i32>; 3],
}

impl Columns {
    fn of(moves: &[CountedMove]) -> Self {
        let result = |of: fn(&Results) -> u32| moves.iter().map(|counted| of(&counted.results).cast_signed()).collect();
        Self {
            positions: moves.iter().map(|counted| counted.position.bytes().to_vec()).collect(),
            squares: moves.iter().map(|counted| counted.square.index().into()).collect(),
            movers: moves.iter().map(|counted| counted.mover.0.into()).collect(),
            results: [result(|sum| sum.won), result(|sum| sum.drawn), result(|sum| sum.lost)],
        }
    }
}

const ADD: &str = "INSERT INTO explored_moves AS old (position, square, mover, won, drawn, lost, latest) \
    SELECT a.*, ARRAY[$7::bigint] FROM unnest($1::bytea[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[]) AS a \
    ON CONFLICT (position, square, mover) DO UPDATE SET won = old.won + excluded.won, \
    drawn = old.drawn + excluded.drawn, lost = old.lost + excluded.lost, \
    latest = (excluded.latest || old.latest)[1:$8::int]";

/// Adds the moves of one game, in which no position occurs twice.
async fn add(session: &Session, moves: &[CountedMove], game: i64) -> Result<(), Error> {
    let Columns { positions, squares, movers, results: [won, drawn, lost] } = Columns::of(moves);
    let kept = REMEMBERED_GAMES as i32;
    session.execute(ADD, &[&positions, &squares, &movers, &won, &drawn, &lost, &game, &kept]).await.map(drop)
}

const SUBTRACT: &str = "UPDATE explored_moves AS old SET won = old.won - a.won, drawn = old.drawn - a.drawn, \
    lost = old.lost - a.lost FROM unnest($1::bytea[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[]) \
    AS a (position, square, mover, won, drawn, lost) \
    WHERE old.position = a.position AND old.square = a.square AND old.mover = a.mover";

const DELETE: &str = "DELETE FROM explored_moves AS old USING unnest($1::bytea[], $2::int[], $3::int[]) \
    AS a (position, square, mover) \
    WHERE old.position = a.position AND old.square = a.square AND old.mover = a.mover AND won + drawn + lost <= 0";

/// Subtracts the moves of a game from the counts.
pub(super) async fn forget(session: &Session, game: &GameRecord) -> Result<(), Error> {
    let Columns { positions, squares, movers, results: [won, drawn, lost] } = Columns::of(&counted_moves(game));
    session.execute(SUBTRACT, &[&positions, &squares, &movers, &won, &drawn, &lost]).await?;
    session.execute(DELETE, &[&positions, &squares, &movers]).await.map(drop)
}

/// What was played in a position. A damaged game is left out.
pub(super) async fn explore(
    session: &Session,
    damaged: &DamagedRows,
    position: Position,
    filter: ExplorerFilter,
) -> Result<Exploration, ReadError> {
    let sql = "SELECT square, mover, won, drawn, lost, latest FROM explored_moves WHERE position = $1";
    let rows = session.query(sql, &[&&PositionKey::of(position).0.bytes()[..]]).await?;
    let counts = rows.iter().filter_map(|row| read_count(row).transpose()).collect::<Result<Vec<_>, _>>()?;
    let numbers: Vec<i64> = counts.iter().flat_map(|count| count.latest.iter().copied()).collect();
    let rows = session.query("SELECT * FROM games WHERE number = ANY($1)", &[&numbers]).await?;
    let mut games: HashMap<i64, Arc<GameRecord>> = HashMap::new();
    for row in &rows {
        let number = column(row, "number")?;
        games.extend(readable(damaged, "games", row, games::read(row)).map(|game| (number, Arc::new(game))));
    }
    let read = |number| Ok::<_, Infallible>(games.get(&number).cloned());
    let Ok([recent, best]) = shown_games(position, &counts, &filter, read);
    Ok(Exploration { moves: explored_moves(position, &counts, &filter), recent, best })
}

/// Reads a row; none if its square is not on the board.
fn read_count(row: &Row) -> Result<Option<MoveCount<i64>>, ReadError> {
    let number = |name| Ok::<_, ReadError>(u32::try_from(column::<i32>(row, name)?)?);
    let Some(square) = Square::new(column::<i32>(row, "square")?.try_into()?) else { return Ok(None) };
    Ok(Some(MoveCount {
        square,
        mover: Mover(column::<i32>(row, "mover")?.try_into()?),
        results: Results { won: number("won")?, drawn: number("drawn")?, lost: number("lost")? },
        latest: column(row, "latest")?,
    }))
}
