//! The size of the archive, and its bound.

use reversi_room::Timestamp;
use tokio_postgres::{Error, Row};

use super::{
    explorer, games,
    session::{Session, column},
};
use crate::{
    archive::{ArchiveSize, Retention},
    damage::ReadError,
};

const SIZE: &str = "SELECT games + (SELECT count(*) FROM games WHERE unsettled_weight IS NOT NULL) AS games, (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class \
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r') AS bytes FROM archive";

/// The number of stored games, and the bytes of all tables and indexes.
pub(super) async fn size(session: &Session) -> Result<ArchiveSize, ReadError> {
    let row = session.row(SIZE, &[]).await?.ok_or("the table archive is empty")?;
    let number = |name| Ok::<_, ReadError>(u64::try_from(column::<i64>(&row, name)?)?);
    Ok(ArchiveSize { games: number("games")?, bytes: number("bytes")? })
}

const EXCESS: &str = "SELECT count(*) FROM (SELECT 1 FROM games WHERE (SELECT games FROM archive) > $1 \
    ORDER BY ended_us DESC, id DESC LIMIT $2 OFFSET $1) AS beyond";

const UNRATED: &str = "DELETE FROM games WHERE number IN (SELECT number FROM games WHERE NOT rated AND ended_us < $1 \
    AND unsettled_weight IS NULL ORDER BY ended_us, id LIMIT $2) RETURNING *";

const OLDEST: &str = "DELETE FROM games WHERE number IN (SELECT number FROM games WHERE unsettled_weight IS NULL \
    ORDER BY ended_us, id LIMIT $1) RETURNING *";

/// Removes at most `limit` settled games that the retention does not keep, and returns how many.
pub(super) async fn trim(
    session: &Session,
    retention: Retention,
    now: Timestamp,
    limit: usize,
) -> Result<usize, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    match retention {
        Retention::Age(age) => {
            let before = now.shifted(-i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
            clear(session, session.query(UNRATED, &[&before.0, &limit]).await?).await
        }
        Retention::Games(most) => {
            // Games are only counted when the stored number says that there are too many.
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let excess: i64 = session.row(EXCESS, &[&most, &limit]).await?.map_or(0, |row| row.get(0));
            if excess == 0 {
                return Ok(0);
            }
            let unrated = clear(session, session.query(UNRATED, &[&i64::MAX, &excess]).await?).await?;
            let excess = excess - i64::try_from(unrated).unwrap_or(i64::MAX);
            Ok(unrated + clear(session, session.query(OLDEST, &[&excess]).await?).await?)
        }
    }
}

const UNLIST: &str = "DELETE FROM played USING unnest($1::text[], $2::bigint[], $3::text[]) AS a (contestant, ended, game) \
    WHERE played.contestant = a.contestant AND played.ended_us = a.ended AND played.game = a.game";

/// Removes the other rows of games that were removed. Returns the number of games.
async fn clear(session: &Session, removed: Vec<Row>) -> Result<usize, Error> {
    let (mut contestants, mut ended, mut ids) = (Vec::new(), Vec::<i64>::new(), Vec::new());
    for row in &removed {
        for side in ["black", "white"] {
            contestants.push(row.try_get::<_, &str>(side)?);
            ended.push(row.try_get("ended_us")?);
            ids.push(row.try_get::<_, &str>("id")?);
        }
        // A damaged game stays counted.
        if let (true, Ok(game)) = (row.try_get("explored")?, games::read(row)) {
            explorer::forget(session, &game).await?;
        }
    }
    let gone = -i64::try_from(removed.len()).unwrap_or(i64::MAX);
    session.execute(UNLIST, &[&contestants, &ended, &ids]).await?;
    session.execute(games::ADDED, &[&gone]).await?;
    Ok(removed.len())
}
