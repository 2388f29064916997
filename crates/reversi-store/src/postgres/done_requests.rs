//! What requests with ids did. No statement waits for what another node has locked, since a batch of moves may wait for
//! the statement.

use reversi_room::{Request, RoomId, Seq, Timestamp};
use tokio_postgres::Error;

use super::{
    rooms::{key, number},
    session::{Session, column},
};
use crate::{
    damage::ReadError,
    journal::{DoneRequest, REQUEST_LIFETIME},
};

/// Inserts nothing for a request that was done within [`REQUEST_LIFETIME`], or that another node is doing now.
const INSERT: &str = "INSERT INTO done_requests AS old (key, digest, room, seq, game, done_us) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS new (key) \
    WHERE pg_try_advisory_xact_lock(hashtext(current_schema()::text || '.request'), hashint8(key)) \
    ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, room = excluded.room, seq = excluded.seq, \
        game = excluded.game, done_us = excluded.done_us WHERE old.done_us <= excluded.done_us - $7";

/// Removes old rows: at most 64, or twice as many as the batch adds, so that the table shrinks.
const TRIM: &str = "DELETE FROM done_requests WHERE key = ANY(ARRAY( \
    SELECT key FROM done_requests WHERE done_us <= $1 ORDER BY done_us LIMIT greatest(64, 2 * $2::bigint) FOR UPDATE SKIP LOCKED))";

/// Inserts requests. Returns false if one of them is done already: then the transaction must be rolled back.
pub(super) async fn insert(session: &Session, done: &[(Request, DoneRequest)]) -> Result<bool, Error> {
    let Some(latest) = done.iter().map(|(_, done)| done.at).max() else { return Ok(true) };
    let column = |value: fn(&(Request, DoneRequest)) -> i64| done.iter().map(value).collect::<Vec<_>>();
    let keys = column(|(request, _)| request.key.cast_signed());
    let digests = column(|(_, done)| done.digest.cast_signed());
    let rooms = column(|(_, done)| key(done.room));
    let seqs = column(|(_, done)| number(done.seq));
    let games = column(|(_, done)| done.game.into());
    let times = column(|(_, done)| done.at.0);
    let lifetime = latest.0 - latest.before(REQUEST_LIFETIME).0;
    let inserted = session.execute(INSERT, &[&keys, &digests, &rooms, &seqs, &games, &times, &lifetime]).await?;
    let added = i64::try_from(done.len()).unwrap_or(i64::MAX / 2);
    session.execute(TRIM, &[&latest.before(REQUEST_LIFETIME).0, &added]).await?;
    Ok(inserted == done.len() as u64)
}

/// What a request did within [`REQUEST_LIFETIME`] before `now`.
pub(super) async fn get(session: &Session, key: u64, now: Timestamp) -> Result<Option<DoneRequest>, ReadError> {
    let sql = "SELECT digest, room, seq, game, done_us FROM done_requests WHERE key = $1 AND done_us > $2";
    let row = session.row(sql, &[&key.cast_signed(), &now.before(REQUEST_LIFETIME).0]).await?;
    let read = |row| {
        Ok(DoneRequest {
            digest: column::<i64>(row, "digest")?.cast_unsigned(),
            room: RoomId::from_random(column::<i64>(row, "room")?.cast_unsigned()),
            seq: Seq(column::<i64>(row, "seq")?.cast_unsigned()),
            game: column::<i64>(row, "game")?.try_into()?,
            at: Timestamp(column(row, "done_us")?),
        })
    };
    row.as_ref().map(read).transpose()
}
