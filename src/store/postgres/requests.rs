//! The last requests of players that carried an id, which the nodes of a cluster share. No statement waits for what another node has
//! locked, since a batch of moves may wait for the statement.

use tokio_postgres::Error;

use super::{
    members::{BUSY, DONE, lock_player},
    rooms::key,
    session::{Session, column},
};
use crate::{
    room::{PlayerId, RoomId},
    store::{damage::ReadError, player_store::RequestTarget},
};

/// Requests of a player that are kept.
const KEPT: i64 = 64;

const NOTE: &str = "INSERT INTO request (player, id, room, last_game) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";

const TRIM: &str = "DELETE FROM request WHERE (player, id) IN (SELECT player, id FROM request WHERE player = $1 \
    ORDER BY number DESC OFFSET $2 FOR UPDATE SKIP LOCKED)";

/// Records a request, unless one with that id is recorded.
pub(super) async fn note(
    session: &Session,
    player: PlayerId,
    id: &str,
    RequestTarget { room, last_game, .. }: RequestTarget,
) -> Result<usize, Error> {
    if !lock_player(session, player).await? {
        return Ok(BUSY);
    }
    let player = player.to_string();
    if session.execute(NOTE, &[&player, &id, &key(room), &i64::from(last_game)]).await? > 0 {
        session.execute(TRIM, &[&player, &KEPT]).await?;
    }
    Ok(DONE)
}

pub(super) async fn get(session: &Session, player: PlayerId, id: &str) -> Result<Option<RequestTarget>, ReadError> {
    let sql = "SELECT room, last_game, closed FROM request WHERE player = $1 AND id = $2";
    let row = session.row(sql, &[&player.to_string(), &id]).await?;
    let read = |row| {
        Ok(RequestTarget {
            room: RoomId::from_random(column::<i64>(row, "room")?.cast_unsigned()),
            last_game: column::<i64>(row, "last_game")?.try_into()?,
            is_closed: column(row, "closed")?,
        })
    };
    row.as_ref().map(read).transpose()
}

/// One that is locked is being removed.
const CLOSE: &str = "UPDATE request SET closed = true FROM (SELECT player, id FROM request WHERE room = ANY($1) \
    FOR UPDATE SKIP LOCKED) AS a WHERE request.player = a.player AND request.id = a.id";

/// Records that rooms have closed.
pub(super) async fn note_closed(session: &Session, closed: &[i64]) -> Result<(), Error> {
    session.execute(CLOSE, &[&closed]).await.map(drop)
}

const REMOVE: &str = "DELETE FROM request WHERE (player, id) IN \
    (SELECT player, id FROM request WHERE player = $1 FOR UPDATE SKIP LOCKED)";

/// Removes the requests of a player.
pub(super) async fn remove(session: &Session, player: PlayerId) -> Result<(), Error> {
    session.execute(REMOVE, &[&player.to_string()]).await.map(drop)
}
