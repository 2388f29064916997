//! The last requests of players that carried an id, which the nodes of a cluster share. No statement waits for what another node has
//! locked, since a batch of moves may wait for the statement.

use reversi_room::{PlayerId, RoomId};
use tokio_postgres::Error;

use super::{
    members::{BUSY, DONE, lock_player},
    rooms::key,
    session::{Session, column},
};
use crate::{
    damage::ReadError,
    player_store::{ForgetWhen, RequestTarget},
};

/// Requests of a player that are kept.
const KEPT: i64 = 64;

/// Needs the lock of the player: two nodes would otherwise both insert. Inserts nothing for a player without a token.
const RECORD: &str = "INSERT INTO request (player, id, room, last_game) SELECT $1, $2, $3, $4 \
    WHERE NOT EXISTS (SELECT FROM request WHERE player = $1 AND id = $2) \
    AND EXISTS (SELECT FROM players WHERE id = $1 AND token IS NOT NULL)";

/// Locks only what it removes.
const TRIM: &str = "DELETE FROM request WHERE player = $1 AND id IN (SELECT id FROM request WHERE player = $1 \
    AND number <= (SELECT number FROM request WHERE player = $1 ORDER BY number DESC OFFSET $2 LIMIT 1) \
    FOR UPDATE SKIP LOCKED)";

/// Records a request, unless one with that id is recorded.
pub(super) async fn record(
    session: &Session,
    player: PlayerId,
    id: &str,
    RequestTarget { room, last_game, .. }: RequestTarget,
) -> Result<usize, Error> {
    if !lock_player(session, player).await? {
        return Ok(BUSY);
    }
    let player = player.to_string();
    if session.execute(RECORD, &[&player, &id.as_bytes(), &key(room), &i64::from(last_game)]).await? > 0 {
        session.execute(TRIM, &[&player, &KEPT]).await?;
    }
    Ok(DONE)
}

pub(super) async fn get(session: &Session, player: PlayerId, id: &str) -> Result<Option<RequestTarget>, ReadError> {
    let sql = "SELECT room, last_game, was_open FROM request WHERE player = $1 AND id = $2";
    let row = session.row(sql, &[&player.to_string(), &id.as_bytes()]).await?;
    let read = |row| {
        Ok(RequestTarget {
            room: RoomId::from_random(column::<i64>(row, "room")?.cast_unsigned()),
            last_game: column::<i64>(row, "last_game")?.try_into()?,
            was_open: column(row, "was_open")?,
        })
    };
    row.as_ref().map(read).transpose()
}

/// If the new room closes at the same time, `CLOSE` does not see this row; therefore this sets `was_open`.
const REDIRECT: &str = "UPDATE request SET room = $3, was_open = true \
    FROM (SELECT number FROM request WHERE player = $1 AND id = $2 FOR UPDATE SKIP LOCKED) AS a \
    WHERE request.number = a.number AND request.player = $1 AND request.id = $2";

/// Records that a request is about another room, which was open.
pub(super) async fn redirect(session: &Session, player: PlayerId, id: &str, room: RoomId) -> Result<usize, Error> {
    if !lock_player(session, player).await? {
        return Ok(BUSY);
    }
    session.execute(REDIRECT, &[&player.to_string(), &id.as_bytes(), &key(room)]).await.map(|_| DONE)
}

const FORGET: &str = "DELETE FROM request WHERE player = $1 AND id IN (SELECT id FROM request WHERE player = $1 \
    AND id = $2 AND ($3 OR ((was_open OR $4) AND NOT EXISTS (SELECT FROM room WHERE room.id = request.room))) \
    FOR UPDATE SKIP LOCKED)";

/// Forgets a request that has failed.
pub(super) async fn forget(session: &Session, player: PlayerId, id: &str, when: ForgetWhen) -> Result<(), Error> {
    let (always, not_open) = (when == ForgetWhen::Always, when == ForgetWhen::NotOpen);
    session.execute(FORGET, &[&player.to_string(), &id.as_bytes(), &always, &not_open]).await.map(drop)
}

/// One that is locked is being removed, or its player enters another room.
const CLOSE: &str = "UPDATE request SET was_open = true FROM (SELECT player, id FROM request WHERE room = ANY($1) \
    FOR UPDATE SKIP LOCKED) AS a WHERE request.player = a.player AND request.id = a.id";

/// Records that rooms have closed.
pub(super) async fn note_closed(session: &Session, closed: &[i64]) -> Result<(), Error> {
    session.execute(CLOSE, &[&closed]).await.map(drop)
}

const REMOVE: &str = "DELETE FROM request WHERE player = $1 AND id IN \
    (SELECT id FROM request WHERE player = $1 FOR UPDATE SKIP LOCKED)";

/// Removes the requests of a player.
pub(super) async fn remove(session: &Session, player: PlayerId) -> Result<(), Error> {
    session.execute(REMOVE, &[&player.to_string()]).await.map(drop)
}
