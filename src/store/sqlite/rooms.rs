//! Open rooms: a state of each, and every event since.

use std::{collections::BTreeMap, ops::Bound};

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    log::{Events, Run},
    reader::ReadError,
};
use crate::{
    room::{Event, Room, RoomId, Seq, Timestamp, stored},
    store::journal::History,
};

/// The most events in one run.
const RUN: usize = 256;

/// Events after which a state takes older ones in.
const FOLD: u64 = 256;

/// Events that stay behind a state at least, for watchers who come back after an absence.
const TAIL: u64 = 256;

/// Takes events in that are not there yet.
pub(super) fn take_in<'a>(
    connection: &Connection,
    id: RoomId,
    events: impl Iterator<Item = (Seq, &'a [u8])>,
) -> rusqlite::Result<()> {
    let at = last(connection, id)?;
    let (mut newest, mut run, mut count) = (at, Run::default(), 0);
    for (seq, event) in events {
        // The log may hold some of them twice, where a room could not be moved for a while and the log was then read again.
        if seq <= newest {
            continue;
        }
        if seq == Seq(1) {
            begin(connection, id, event)?;
        }
        if count == RUN {
            insert(connection, key(id), number(newest), &run)?;
            (run, count) = (Run::default(), 0);
        }
        run.push(seq, event);
        (newest, count) = (seq, count + 1);
    }
    if !run.is_empty() {
        insert(connection, key(id), number(newest), &run)?;
    }
    if newest.0 / FOLD > at.0 / FOLD {
        fold(connection, id, newest);
    }
    Ok(())
}

fn insert(connection: &Connection, room: i64, last: i64, run: &Run) -> rusqlite::Result<()> {
    let sql = "INSERT INTO runs (room, last, events) VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute((room, last, run.bytes())).map(|_| ())
}

/// Makes runs of the single events that older versions wrote. This is a step of the file's, and stays what it is.
pub(super) fn make_runs(connection: &Connection) -> rusqlite::Result<()> {
    let mut select = connection.prepare("SELECT room, seq, CAST(event AS BLOB) FROM events")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(1)?;
        let mut run = Run::default();
        run.push(Seq(seq.cast_unsigned()), row.get_ref(2)?.as_blob()?);
        insert(connection, row.get(0)?, seq, &run)?;
    }
    Ok(())
}

/// Makes the state of a room of its first event. Without one it is a room that cannot be read.
fn begin(connection: &Connection, id: RoomId, event: &[u8]) -> rusqlite::Result<()> {
    match begun(id, event) {
        Ok(room) => {
            let sql = "INSERT OR IGNORE INTO states (room, seq, state) VALUES (?, 1, ?)";
            connection.prepare_cached(sql)?.execute((key(id), stored::encode_room(&room)))?;
        }
        Err(error) => tracing::error!(%error, "a room that was made cannot be read, and is left as it is"),
    }
    Ok(())
}

fn begun(id: RoomId, event: &[u8]) -> Result<Room, ReadError> {
    let event = stored::decode_event(event).map_err(|error| format!("room {id}: {error}"))?;
    let room = Room::replay([&event]).filter(|room| room.id() == id);
    Ok(room.ok_or_else(|| format!("room {id} does not begin with its creation"))?)
}

/// A room's last event in the tables; 0 when it is not there.
pub(super) fn last(connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
    let sql = "SELECT last FROM runs WHERE room = ? ORDER BY last DESC LIMIT 1";
    let seq = connection.prepare_cached(sql)?.query_row([key(room)], |row| row.get::<_, i64>(0)).optional()?;
    Ok(Seq(seq.map_or(0, i64::cast_unsigned)))
}

pub(super) fn remove(connection: &Connection, room: RoomId) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM runs WHERE room = ?")?.execute([key(room)])?;
    connection.prepare_cached("DELETE FROM states WHERE room = ?")?.execute([key(room)])?;
    Ok(())
}

/// Lets the state take in the older runs, so that a long-lived room does not grow. A room in which that fails goes on
/// without.
fn fold(connection: &Connection, room: RoomId, newest: Seq) {
    if let Err(error) = try_fold(connection, room, Seq(newest.0.saturating_sub(TAIL))) {
        tracing::error!(%room, %error, "a room's older events could not be taken in");
    }
}

fn try_fold(connection: &Connection, id: RoomId, until: Seq) -> Result<(), ReadError> {
    let mut room = state(connection, id)?.ok_or_else(|| format!("room {id} has events and no state"))?;
    read_runs(connection, id, &mut room, until, drop)?;
    let sql = "UPDATE states SET seq = ?, state = ? WHERE room = ?";
    connection.prepare_cached(sql)?.execute((number(room.seq()), stored::encode_room(&room), key(id)))?;
    let sql = "DELETE FROM runs WHERE room = ? AND last <= ?";
    connection.prepare_cached(sql)?.execute((key(id), number(room.seq())))?;
    Ok(())
}

fn state(connection: &Connection, id: RoomId) -> Result<Option<Room>, ReadError> {
    let sql = "SELECT state FROM states WHERE room = ?";
    let state: Option<Vec<u8>> = connection.prepare_cached(sql)?.query_row([key(id)], |row| row.get(0)).optional()?;
    let room = state.map(|state| stored::decode_room(&state).map_err(|error| format!("room {id}: {error}")));
    Ok(room.transpose()?)
}

/// What is kept of a room, with the events that wait for being moved.
pub(super) fn load(connection: &Connection, id: RoomId, waiting: &Run) -> Result<Option<History>, ReadError> {
    let base = match (state(connection, id)?, waiting.events().next()) {
        (Some(room), _) => room,
        (None, Some((Seq(1), event))) => begun(id, event)?,
        // It has closed just now, if something of it waited.
        (None, _) if last(connection, id)? == Seq(0) => return Ok(None),
        (None, _) => return Err(format!("room {id} has events and no state").into()),
    };
    history(connection, id, base, waiting).map(Some)
}

/// The room with its events; an error when one does not fit, which would be a damaged file.
fn history(connection: &Connection, id: RoomId, base: Room, waiting: &Run) -> Result<History, ReadError> {
    let (mut room, mut events) = (base.clone(), Vec::new());
    read_runs(connection, id, &mut room, Seq(i64::MAX.cast_unsigned()), |event| events.push(event))?;
    for (seq, event) in waiting.events() {
        if seq > room.seq() {
            events.push(next(&mut room, event)?);
        }
    }
    Ok(History { base, events })
}

/// Applies the runs that a room has not taken in yet, as far as they end at one event or before it.
fn read_runs(
    connection: &Connection,
    id: RoomId,
    room: &mut Room,
    until: Seq,
    mut hear: impl FnMut(Event),
) -> Result<(), ReadError> {
    let sql = "SELECT last, events FROM runs WHERE room = ? AND last > ? AND last <= ? ORDER BY last";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((key(id), number(room.seq()), number(until)))?;
    while let Some(row) = rows.next()? {
        for (seq, event) in Events(row.get_ref(1)?.as_blob()?) {
            // A state is made of a first event that lies in a run, too.
            if seq > room.seq() {
                hear(next(room, event)?);
            }
        }
        let last: i64 = row.get(0)?;
        if number(room.seq()) != last {
            return Err(format!("room {id}: the run of events up to {last} ends at {}", room.seq()).into());
        }
    }
    Ok(())
}

/// The next event of a room, which is applied to it.
fn next(room: &mut Room, event: &[u8]) -> Result<Event, ReadError> {
    let event: Event = stored::decode_event(event)
        .and_then(|event| room.check_next(&event).map(|()| event))
        .map_err(|error| format!("room {} behind event {}: {error}", room.id(), room.seq()))?;
    room.apply(&event);
    Ok(event)
}

/// A room that cannot be read stays in the file, and out of the way of all others.
pub(super) fn page(
    connection: &Connection,
    mut after: Option<RoomId>,
    limit: usize,
    waiting: &BTreeMap<RoomId, Run>,
) -> Result<Vec<Room>, ReadError> {
    let none = Run::default();
    let mut rooms = Vec::new();
    loop {
        let mut ids = ids(connection, after, limit)?;
        // There may be more when it has as many as were asked for. What waits is taken as far as they go.
        let last = ids.last().copied().filter(|_| ids.len() == limit);
        let until = last.map_or(Bound::Unbounded, Bound::Included);
        ids.extend(waiting.range((after.map_or(Bound::Unbounded, Bound::Excluded), until)).map(|(id, _)| *id));
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            if rooms.len() == limit {
                return Ok(rooms);
            }
            match load(connection, id, waiting.get(&id).unwrap_or(&none)) {
                Ok(history) => rooms.extend(history.map(History::latest)),
                Err(error) => tracing::error!(%error, "a room cannot be read, and is left as it is"),
            }
        }
        if last.is_none() {
            return Ok(rooms);
        }
        after = last;
    }
}

fn ids(connection: &Connection, after: Option<RoomId>, limit: usize) -> Result<Vec<RoomId>, ReadError> {
    let mut select = connection.prepare_cached("SELECT room FROM states WHERE room > ? ORDER BY room LIMIT ?")?;
    let mut rows = select.query((after.map_or(-1, key), i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(RoomId::from_random(row.get::<_, i64>(0)?.cast_unsigned()));
    }
    Ok(ids)
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
