//! The rooms of players and the places reserved for them, for quotas that all nodes share. No statement waits for a
//! lock of another node, since a batch of moves may wait for the statement.

use reversi_room::{PlayerId, Room, RoomId};
use tokio_postgres::Error;

use super::{
    rooms::{self, key},
    session::{Session, column},
};
use crate::{
    damage::{DamagedRows, ReadError},
    player_store::{PlaceRequest, RoomPlace},
};

/// What a change of a player's quota counts.
pub(super) const REFUSED: usize = 0;
pub(super) const DONE: usize = 1;
/// Another node is changing the player's quota.
pub(super) const BUSY: usize = 2;

/// One node at a time looks at a player's quota and changes it.
const LOCK_PLAYER: &str =
    "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()::text || '.quota'), hashtext($1))";

/// Locks the player's quota until this transaction ends. Returns false if another node has locked it.
pub(super) async fn lock_player(session: &Session, player: PlayerId) -> Result<bool, Error> {
    let locked = session.row(LOCK_PLAYER, &[&player.to_string()]).await?;
    Ok(locked.is_some_and(|row| row.get(0)))
}

const OUTDATED: &str = "DELETE FROM member WHERE room = ANY($1) AND (player, room, seated) NOT IN \
    (SELECT * FROM unnest($2::text[], $3::bigint[], $4::bool[]))";

const NEW: &str = "INSERT INTO member (player, room, seated) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bool[]) \
    ON CONFLICT DO NOTHING";

/// Records the members of these rooms, as read from the rooms. A damaged room keeps its recorded members.
pub(super) async fn renew(session: &Session, damaged: &DamagedRows, changed: &[i64]) -> Result<(), Error> {
    if changed.is_empty() {
        return Ok(());
    }
    put(session, &rooms::latest(session, damaged, changed).await?).await
}

/// Records the members of these rooms.
pub(super) async fn put(session: &Session, rooms: &[Room]) -> Result<(), Error> {
    let ids: Vec<i64> = rooms.iter().map(|room| key(room.id())).collect();
    let (mut players, mut held, mut seated) = (Vec::new(), Vec::new(), Vec::new());
    for room in rooms {
        for member in room.members() {
            players.push(member.profile.id.to_string());
            held.push(key(room.id()));
            seated.push(room.seat_of(member.profile.id).is_some());
        }
    }
    session.execute(OUTDATED, &[&ids, &players, &held, &seated]).await?;
    session.execute(NEW, &[&players, &held, &seated]).await.map(drop)
}

/// Removes the members of closed rooms.
pub(super) async fn remove(session: &Session, closed: &[i64]) -> Result<(), Error> {
    session.execute("DELETE FROM member WHERE room = ANY($1)", &[&closed]).await.map(drop)
}

/// The rooms of a player, by their ids.
pub(super) async fn room_places(session: &Session, player: PlayerId) -> Result<Vec<RoomPlace>, ReadError> {
    let sql = "SELECT room, seated FROM member WHERE player = $1 ORDER BY room";
    let rows = session.query(sql, &[&player.to_string()]).await?;
    let read = |row| {
        let room = RoomId::from_random(column::<i64>(row, "room")?.cast_unsigned());
        Ok(RoomPlace { room, seated: column(row, "seated")? })
    };
    rows.iter().map(read).collect()
}

/// Inserts if fewer rooms count than the limit, or this room counts already.
const RESERVE: &str = "WITH counted AS ( \
        SELECT room FROM member WHERE player = $2 AND (seated OR NOT $4) \
        UNION SELECT room FROM place_request WHERE player = $2 AND seat = $4 AND until > clock_timestamp()) \
    INSERT INTO place_request (number, player, room, seat, until) \
    SELECT $1, $2, $3, $4, clock_timestamp() + interval '2 min' \
    WHERE (SELECT count(*) FROM counted) < $5 OR EXISTS (SELECT FROM counted WHERE room = $3) \
    ON CONFLICT (number) DO UPDATE SET until = excluded.until";

pub(super) async fn reserve(session: &Session, place: &PlaceRequest) -> Result<usize, Error> {
    if !lock_player(session, place.player).await? {
        return Ok(BUSY);
    }
    let PlaceRequest { number, player, room, is_seat, limit } = *place;
    let (number, player, limit) = (number.cast_signed(), player.to_string(), i64::try_from(limit).unwrap_or(i64::MAX));
    let reserved = session.execute(RESERVE, &[&number, &player, &key(room), &is_seat, &limit]).await?;
    Ok(if reserved > 0 { DONE } else { REFUSED })
}

/// By an array: a join that was planned for an empty table reads the table again for each row.
const RELEASE: &str = "DELETE FROM place_request WHERE number = ANY(ARRAY( \
    SELECT number FROM place_request WHERE number = $1 FOR UPDATE SKIP LOCKED))";

/// Reservations of nodes that have ended. By `now()`: PostgreSQL uses no index to compare with `clock_timestamp()`.
const RELEASE_ENDED: &str = "DELETE FROM place_request WHERE number = ANY(ARRAY( \
    SELECT number FROM place_request WHERE until < now() FOR UPDATE SKIP LOCKED))";

pub(super) async fn release(session: &Session, number: u64) -> Result<(), Error> {
    let number = number.cast_signed();
    let release = async { session.execute(RELEASE, &[&number]).await };
    tokio::try_join!(release, session.execute(RELEASE_ENDED, &[])).map(drop)
}
