//! Open rooms: a state of each, and every event since.

use rusqlite::{Connection, OptionalExtension as _};

use super::reader::ReadError;
use crate::{
    room::{Event, Fact, GameRecord, Room, RoomId, Seq, Timestamp, stored},
    store::journal::{Append, AppendError, History},
};

/// Events after which a state takes older ones in.
const FOLD: u64 = 256;

/// Events that stay behind a state, for watchers who come back after an absence.
const TAIL: u64 = 256;

/// An append as it is written.
pub(super) struct Entry {
    pub(super) room: RoomId,
    pub(super) expected: Seq,
    /// The room as its first event makes it, when these are its first events.
    begun: Option<Vec<u8>>,
    events: Vec<(Seq, Vec<u8>)>,
    closed: bool,
    games: Vec<GameRecord>,
}

impl Entry {
    /// Encodes it, away from the thread for which everybody waits.
    pub(super) fn of(append: &Append<'_>) -> Result<Self, AppendError> {
        let begun = match append.expected {
            Seq(0) => Some(
                Room::replay(append.events.first())
                    .ok_or_else(|| AppendError::Unavailable("a room must begin with its creation".to_owned()))?,
            ),
            _ => None,
        };
        Ok(Self {
            room: append.room,
            expected: append.expected,
            begun: begun.map(|room| stored::encode_room(&room)),
            events: append.events.iter().map(|event| (event.seq, stored::encode_event(event))).collect(),
            closed: append.events.iter().any(|event| matches!(event.fact, Fact::Closed(_))),
            games: append.games.to_vec(),
        })
    }

    fn last(&self) -> Seq {
        self.events.last().map_or(self.expected, |(seq, _)| *seq)
    }
}

pub(super) fn append(connection: &Connection, entry: &Entry) -> Result<(), AppendError> {
    let at = last(connection, entry.room)?;
    if at != entry.expected {
        return Err(AppendError::Conflict(at));
    }
    for game in &entry.games {
        super::games::keep(connection, game)?;
    }
    if entry.closed {
        return Ok(remove(connection, entry.room)?);
    }
    let room = key(entry.room);
    if let Some(begun) = &entry.begun {
        let sql = "INSERT INTO states (room, seq, state) VALUES (?, 1, ?)";
        connection.prepare_cached(sql)?.execute((room, begun))?;
    }
    let mut insert = connection.prepare_cached("INSERT INTO events (room, seq, event) VALUES (?, ?, ?)")?;
    for (seq, event) in &entry.events {
        insert.execute((room, number(*seq), event))?;
    }
    if entry.last().0 / FOLD > entry.expected.0 / FOLD {
        fold(connection, entry.room);
    }
    Ok(())
}

fn last(connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
    let sql = "SELECT seq FROM events WHERE room = ? ORDER BY seq DESC LIMIT 1";
    let seq = connection.prepare_cached(sql)?.query_row([key(room)], |row| row.get::<_, i64>(0)).optional()?;
    Ok(Seq(seq.map_or(0, i64::cast_unsigned)))
}

fn remove(connection: &Connection, room: RoomId) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM events WHERE room = ?")?.execute([key(room)])?;
    connection.prepare_cached("DELETE FROM states WHERE room = ?")?.execute([key(room)])?;
    Ok(())
}

/// Lets the state take in the older events, so that a long-lived room does not grow. A room in which that fails goes on
/// without.
fn fold(connection: &Connection, room: RoomId) {
    if let Err(error) = try_fold(connection, room) {
        tracing::error!(%room, %error, "a room's older events could not be taken in");
    }
}

fn try_fold(connection: &Connection, room: RoomId) -> Result<(), ReadError> {
    let Some(History { mut base, events }) = load(connection, room)? else { return Ok(()) };
    let older = events.len().saturating_sub(usize::try_from(TAIL)?);
    events[..older].iter().for_each(|event| base.apply(event));
    let sql = "UPDATE states SET seq = ?, state = ? WHERE room = ?";
    connection.prepare_cached(sql)?.execute((number(base.seq()), stored::encode_room(&base), key(room)))?;
    let sql = "DELETE FROM events WHERE room = ? AND seq <= ?";
    connection.prepare_cached(sql)?.execute((key(room), number(base.seq())))?;
    Ok(())
}

pub(super) fn load(connection: &Connection, room: RoomId) -> Result<Option<History>, ReadError> {
    let sql = "SELECT state FROM states WHERE room = ?";
    let state: Option<Vec<u8>> = connection.prepare_cached(sql)?.query_row([key(room)], |row| row.get(0)).optional()?;
    state.map(|state| history(connection, room, &state)).transpose()
}

/// The room with its events; an error when one does not fit, which would be a damaged file.
fn history(connection: &Connection, id: RoomId, state: &[u8]) -> Result<History, ReadError> {
    let base = stored::decode_room(state).map_err(|error| format!("room {id}: {error}"))?;
    let sql = "SELECT event FROM events WHERE room = ? AND seq > ? ORDER BY seq";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((key(id), number(base.seq())))?;
    let (mut room, mut events) = (base.clone(), Vec::new());
    while let Some(row) = rows.next()? {
        let event: Event = stored::decode_event(row.get_ref(0)?.as_blob()?)
            .and_then(|event| room.check_next(&event).map(|()| event))
            .map_err(|error| format!("room {id} behind event {}: {error}", room.seq()))?;
        room.apply(&event);
        events.push(event);
    }
    Ok(History { base, events })
}

/// A room that cannot be read stays in the file, and out of the way of all others.
pub(super) fn page(connection: &Connection, after: Option<RoomId>, limit: usize) -> Result<Vec<Room>, ReadError> {
    let mut select = connection.prepare_cached("SELECT room, state FROM states WHERE room > ? ORDER BY room")?;
    let mut rows = select.query([after.map_or(-1, key)])?;
    let mut rooms = Vec::new();
    while rooms.len() < limit
        && let Some(row) = rows.next()?
    {
        let id = RoomId::from_random(u64::try_from(row.get::<_, i64>(0)?)?);
        match history(connection, id, row.get_ref(1)?.as_blob()?) {
            Ok(history) => rooms.push(history.latest()),
            Err(error) => tracing::error!(%error, "a room cannot be read, and is left as it is"),
        }
    }
    Ok(rooms)
}

pub(super) fn mark_alive(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT INTO alive (id, us) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET us = excluded.us";
    connection.prepare_cached(sql)?.execute([now.0]).map(|_| ())
}

pub(super) fn last_alive(connection: &Connection) -> Result<Option<Timestamp>, ReadError> {
    let us = connection.query_row("SELECT us FROM alive", [], |row| row.get(0)).optional()?;
    Ok(us.map(Timestamp))
}

/// An id has 60 bits, so that it fits.
fn key(room: RoomId) -> i64 {
    room.bits().cast_signed()
}

fn number(seq: Seq) -> i64 {
    seq.0.cast_signed()
}
