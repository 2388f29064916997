//! The list of rooms in which a player waits for any opponent, which all nodes share. No statement waits for a row that
//! another node has locked, since a batch of moves may wait for the statement; but adding a room waits for its removal.

use reversi_room::RoomId;
use tokio_postgres::Error;

use super::{
    rooms::{id, key},
    session::Session,
};
use crate::damage::ReadError;

/// By the database's clock, so that a node that has ended does not keep the list.
const TAKE: &str = "WITH free AS (SELECT FROM matching WHERE until < clock_timestamp() OR node = $1 FOR UPDATE SKIP LOCKED) \
    UPDATE matching SET node = $1, until = clock_timestamp() + interval '5 s' FROM free";

/// Takes the list for a node. Returns 1 if no other node has it, else 0.
pub(super) async fn take(session: &Session, node: i64) -> Result<usize, Error> {
    Ok(usize::from(session.execute(TAKE, &[&node]).await? > 0))
}

/// At most `limit` rooms of the list, the oldest first.
pub(super) async fn all(session: &Session, limit: usize) -> Result<Vec<RoomId>, ReadError> {
    let sql = "SELECT room AS id FROM waiting ORDER BY number LIMIT $1";
    let rows = session.query(sql, &[&i64::try_from(limit)?]).await?;
    rows.iter().map(id).collect()
}

/// By an array: a join that was planned for an empty table reads the table again for each row.
const REMOVE: &str = "DELETE FROM waiting WHERE room = ANY(ARRAY( \
    SELECT room FROM waiting WHERE room = ANY($1) FOR UPDATE SKIP LOCKED))";

/// If this changes no row, another node has taken the list, or is taking it because its time is over.
const GIVE_BACK: &str = "WITH mine AS (SELECT FROM matching WHERE node = $1 FOR UPDATE SKIP LOCKED) \
    UPDATE matching SET until = '-infinity' FROM mine";

pub(super) async fn give_back(session: &Session, node: i64, gone: &[RoomId], new: &[RoomId]) -> Result<(), Error> {
    if !gone.is_empty() {
        session.execute(REMOVE, &[&keys(gone)]).await?;
    }
    add(session, new).await?;
    session.execute(GIVE_BACK, &[&node]).await.map(drop)
}

/// In the order of their ids, so that two nodes that add rooms do not wait for each other.
pub(super) async fn add(session: &Session, rooms: &[RoomId]) -> Result<(), Error> {
    if rooms.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO waiting (room) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING";
    let mut keys = keys(rooms);
    keys.sort_unstable();
    session.execute(sql, &[&keys]).await.map(drop)
}

fn keys(rooms: &[RoomId]) -> Vec<i64> {
    rooms.iter().copied().map(key).collect()
}
