//! What requests with ids did.

use reversi_room::{RoomId, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::journal::{DoneRequest, REQUEST_LIFETIME};

/// Maximum number of rows that an insert removes: more than it adds, so that the table shrinks.
const MAX_REMOVED: i64 = 8;

/// Inserts a request that is not known, and removes old ones.
pub(super) fn insert(connection: &Connection, key: u64, done: &DoneRequest) -> rusqlite::Result<()> {
    let DoneRequest { digest, room, seq, game, at } = *done;
    let sql = "DELETE FROM done_requests WHERE key IN (SELECT key FROM done_requests WHERE done_us <= ? \
        ORDER BY done_us LIMIT ?)";
    connection.prepare_cached(sql)?.execute((at.before(REQUEST_LIFETIME).0, MAX_REMOVED))?;
    let sql = "INSERT OR REPLACE INTO done_requests (key, digest, room, seq, game, done_us) VALUES (?, ?, ?, ?, ?, ?)";
    let (key, digest, room) = (key.cast_signed(), digest.cast_signed(), room.bits().cast_signed());
    connection.prepare_cached(sql)?.execute((key, digest, room, seq.0.cast_signed(), game, at.0)).map(drop)
}

/// What a request did within [`REQUEST_LIFETIME`] before `now`.
pub(super) fn get(connection: &Connection, key: u64, now: Timestamp) -> rusqlite::Result<Option<DoneRequest>> {
    let sql = "SELECT digest, room, seq, game, done_us FROM done_requests WHERE key = ? AND done_us > ?";
    let read = |row: &Row<'_>| {
        Ok(DoneRequest {
            digest: row.get::<_, i64>(0)?.cast_unsigned(),
            room: RoomId::from_random(row.get::<_, i64>(1)?.cast_unsigned()),
            seq: Seq(row.get::<_, i64>(2)?.cast_unsigned()),
            game: row.get(3)?,
            at: Timestamp(row.get(4)?),
        })
    };
    let after = now.before(REQUEST_LIFETIME);
    connection.prepare_cached(sql)?.query_row((key.cast_signed(), after.0), read).optional()
}
