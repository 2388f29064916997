//! The rooms in which a player waits for any opponent, which the nodes of a cluster share.

use tokio_postgres::Error;

use super::{
    rooms::{id, key},
    session::Session,
};
use crate::{room::RoomId, store::damage::ReadError};

/// By the database's clock, so that the end of a node does not keep them. More than a match takes.
const TAKE: &str = "UPDATE matching SET node = $1, until = clock_timestamp() + interval '5 s' \
    WHERE until < clock_timestamp() OR node = $1";

/// Takes the rooms for a node. Counts one if no other node has them.
pub(super) async fn take(session: &Session, node: i64) -> Result<usize, Error> {
    Ok(usize::from(session.execute(TAKE, &[&node]).await? > 0))
}

/// The oldest, at most `limit`.
pub(super) async fn all(session: &Session, limit: usize) -> Result<Vec<RoomId>, ReadError> {
    let sql = "SELECT room AS id FROM waiting ORDER BY number LIMIT $1";
    let rows = session.query(sql, &[&i64::try_from(limit)?]).await?;
    rows.iter().map(id).collect()
}

pub(super) async fn give_back(session: &Session, node: i64, gone: &[RoomId], new: &[RoomId]) -> Result<(), Error> {
    if !gone.is_empty() {
        let gone: Vec<_> = gone.iter().copied().map(key).collect();
        session.execute("DELETE FROM waiting WHERE room = ANY($1)", &[&gone]).await?;
    }
    add(session, new).await?;
    session.execute("UPDATE matching SET until = '-infinity' WHERE node = $1", &[&node]).await.map(drop)
}

/// Rooms that have been closed meanwhile are passed over.
const ADD: &str = "INSERT INTO waiting (room) SELECT id FROM room WHERE id = ANY($1) ON CONFLICT DO NOTHING";

pub(super) async fn add(session: &Session, rooms: &[RoomId]) -> Result<(), Error> {
    if rooms.is_empty() {
        return Ok(());
    }
    let rooms: Vec<_> = rooms.iter().copied().map(key).collect();
    session.execute(ADD, &[&rooms]).await.map(drop)
}
