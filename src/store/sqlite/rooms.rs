//! Open rooms: a checkpoint of each, which is its state at one event, and the later events in runs. A checkpoint every
//! [`INTERVAL`] events bounds the size of rooms and the time to open them.

use std::{collections::BTreeMap, ops::Bound};

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    damage::{DamagedRows, ReadError, is_damage},
    log::{Events, Run},
};
use crate::{
    room::{Event, Room, RoomId, Seq, Timestamp, stored},
    store::journal::History,
};

/// Maximum number of events in one run.
const MAX_RUN: usize = 256;

/// Events from one checkpoint to the next.
const INTERVAL: u64 = 256;

/// Least number of events kept before the latest, for watchers that resume.
const TAIL: u64 = 256;

/// Appends the events that are not in the tables yet.
pub(super) fn append_run<'a>(
    connection: &Connection,
    id: RoomId,
    events: impl Iterator<Item = (Seq, &'a [u8])>,
) -> rusqlite::Result<()> {
    let at = last(connection, id)?;
    let (mut newest, mut run, mut count) = (at, Run::default(), 0);
    for (seq, event) in events {
        // The log may contain an event twice, if its room could not be flushed for a while.
        if seq <= newest {
            continue;
        }
        if seq == Seq(1) {
            insert_first_state(connection, id, event)?;
        }
        if count == MAX_RUN {
            insert(connection, key(id), number(newest), &run)?;
            (run, count) = (Run::default(), 0);
        }
        run.push(seq, event);
        (newest, count) = (seq, count + 1);
    }
    if !run.is_empty() {
        insert(connection, key(id), number(newest), &run)?;
    }
    if newest.0 / INTERVAL > at.0 / INTERVAL {
        checkpoint(connection, id, newest);
    }
    Ok(())
}

fn insert(connection: &Connection, room: i64, last: i64, run: &Run) -> rusqlite::Result<()> {
    let sql = "INSERT INTO runs (room, last, events) VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute((room, last, run.bytes())).map(|_| ())
}

/// Inserts a room in its latest state, without earlier events.
pub(super) fn restore(connection: &Connection, room: &Room) -> rusqlite::Result<()> {
    let (id, seq) = (key(room.id()), number(room.seq()));
    let sql = "INSERT INTO states (room, seq, state) VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute((id, seq, stored::encode_room(room)))?;
    // An empty run has the number of the last event.
    insert(connection, id, seq, &Run::default())
}

/// Makes a run of each event of versions 1 and 2. Part of the schema's migration, which must not change.
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

/// Inserts the state after a room's first event. Without it the room cannot be read.
fn insert_first_state(connection: &Connection, id: RoomId, event: &[u8]) -> rusqlite::Result<()> {
    match first_state(id, event) {
        Ok(room) => {
            let sql = "INSERT OR IGNORE INTO states (room, seq, state) VALUES (?, 1, ?)";
            connection.prepare_cached(sql)?.execute((key(id), stored::encode_room(&room)))?;
        }
        Err(error) => tracing::error!(%error, "the first event of a room cannot be read"),
    }
    Ok(())
}

fn first_state(id: RoomId, event: &[u8]) -> Result<Room, ReadError> {
    let event = stored::decode_event(event).map_err(|error| format!("room {id}: {error}"))?;
    let room = Room::replay([&event]).filter(|room| room.id() == id);
    Ok(room.ok_or_else(|| format!("room {id} does not begin with its creation"))?)
}

/// A room's last event in the tables; 0 if none.
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

/// Moves a room's checkpoint to at least [`TAIL`] events before the newest, and deletes the runs before it. A failure
/// is logged; the room then keeps more events than needed.
fn checkpoint(connection: &Connection, room: RoomId, newest: Seq) {
    if let Err(error) = try_checkpoint(connection, room, Seq(newest.0.saturating_sub(TAIL))) {
        tracing::error!(%room, %error, "the checkpoint of a room could not be moved");
    }
}

fn try_checkpoint(connection: &Connection, id: RoomId, until: Seq) -> Result<(), ReadError> {
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

/// The stored part of a room, with its events that are only in the log.
pub(super) fn load(connection: &Connection, id: RoomId, pending: &Run) -> Result<Option<History>, ReadError> {
    let base = match (state(connection, id)?, pending.events().next()) {
        (Some(room), _) => room,
        (None, Some((Seq(1), event))) => first_state(id, event)?,
        // The room may have had events in the log, and have closed since they were read.
        (None, _) if last(connection, id)? == Seq(0) => return Ok(None),
        (None, _) => return Err(format!("room {id} has events and no state").into()),
    };
    history(connection, id, base, pending).map(Some)
}

/// A room with its events; an error if one is damaged or missing.
fn history(connection: &Connection, id: RoomId, base: Room, pending: &Run) -> Result<History, ReadError> {
    let (mut room, mut events) = (base.clone(), Vec::new());
    read_runs(connection, id, &mut room, Seq(i64::MAX.cast_unsigned()), |event| events.push(event))?;
    for (seq, event) in pending.events() {
        if seq > room.seq() {
            events.push(next(&mut room, event)?);
        }
    }
    Ok(History { base, events })
}

/// Applies the runs after a room's last event that end at or before `until`.
fn read_runs(
    connection: &Connection,
    id: RoomId,
    room: &mut Room,
    until: Seq,
    mut visit: impl FnMut(Event),
) -> Result<(), ReadError> {
    let sql = "SELECT last, events FROM runs WHERE room = ? AND last > ? AND last <= ? ORDER BY last";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((key(id), number(room.seq()), number(until)))?;
    while let Some(row) = rows.next()? {
        for (seq, event) in Events(row.get_ref(1)?.as_blob()?) {
            // The first event is also part of the first state.
            if seq > room.seq() {
                visit(next(room, event)?);
            }
        }
        let last: i64 = row.get(0)?;
        if number(room.seq()) != last {
            return Err(format!("room {id}: the run of events up to {last} ends at {}", room.seq()).into());
        }
    }
    Ok(())
}

/// Decodes the next event of a room and applies it.
fn next(room: &mut Room, event: &[u8]) -> Result<Event, ReadError> {
    let event: Event = stored::decode_event(event)
        .and_then(|event| room.check_next(&event).map(|()| event))
        .map_err(|error| format!("room {} after event {}: {error}", room.id(), room.seq()))?;
    room.apply(&event);
    Ok(event)
}

/// At most `limit` rooms after `after`, by id. A damaged room is passed over, and stays as it is.
pub(super) fn page(
    connection: &Connection,
    damaged: &DamagedRows,
    mut after: Option<RoomId>,
    limit: usize,
    pending: &BTreeMap<RoomId, Run>,
) -> Result<Vec<Room>, ReadError> {
    let none = Run::default();
    let mut rooms = Vec::new();
    loop {
        let mut ids = ids(connection, damaged, after, limit)?;
        // A full page may have a successor, so only rooms of the log within the page are added.
        let last = ids.last().copied().filter(|_| ids.len() == limit);
        let until = last.map_or(Bound::Unbounded, Bound::Included);
        ids.extend(pending.range((after.map_or(Bound::Unbounded, Bound::Excluded), until)).map(|(id, _)| *id));
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            if rooms.len() == limit {
                return Ok(rooms);
            }
            match load(connection, id, pending.get(&id).unwrap_or(&none)) {
                Ok(history) => rooms.extend(history.map(History::latest)),
                Err(error) => damaged.pass_over("open rooms", &id.to_string(), error)?,
            }
        }
        if last.is_none() {
            return Ok(rooms);
        }
        after = last;
    }
}

/// The ids of at most `limit` rooms after `after`. Each room has a state and a run, so that pages of one table may be
/// damaged.
fn ids(
    connection: &Connection,
    damaged: &DamagedRows,
    after: Option<RoomId>,
    limit: usize,
) -> Result<Vec<RoomId>, ReadError> {
    match ids_in(connection, "states", after, limit) {
        Err(error) if is_damage(&error) => {
            damaged.note_malformed(&error);
            ids_in(connection, "runs", after, limit)
        }
        ids => ids,
    }
}

fn ids_in(connection: &Connection, table: &str, after: Option<RoomId>, limit: usize) -> Result<Vec<RoomId>, ReadError> {
    let sql = format!("SELECT DISTINCT room FROM {table} WHERE room > ? ORDER BY room LIMIT ?");
    let mut select = connection.prepare_cached(&sql)?;
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

/// The column of an id of 60 bits.
fn key(room: RoomId) -> i64 {
    room.bits().cast_signed()
}

fn number(seq: Seq) -> i64 {
    seq.0.cast_signed()
}
