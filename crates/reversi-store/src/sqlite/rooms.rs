//! Open rooms: a checkpoint of each, which is its state at one event, and the later events in runs. A checkpoint every
//! [`INTERVAL`] events bounds the size of rooms and the time to open them.

use std::{collections::BTreeMap, ops::Bound};

use reversi_room::{Event, Fact, Room, RoomId, Seq, Timestamp, stored};
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    damage::{DamagedRows, ReadError, is_damage, is_read_failure},
    log::{self, Events, Run},
    scan,
};
use crate::journal::History;

/// Maximum number of events in one run.
const MAX_RUN: usize = 256;

/// Events from one checkpoint to the next.
const INTERVAL: u64 = 256;

/// Minimum number of events kept before the latest, for watchers that resume.
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
    let (_, mut room) = state(connection, id)?.ok_or_else(|| format!("room {id} has events and no state"))?;
    read_runs(connection, id, &mut room, until, drop)?;
    let sql = "UPDATE states SET seq = ?, state = ? WHERE room = ?";
    connection.prepare_cached(sql)?.execute((number(room.seq()), stored::encode_room(&room), key(id)))?;
    let sql = "DELETE FROM runs WHERE room = ? AND last <= ?";
    connection.prepare_cached(sql)?.execute((key(id), number(room.seq())))?;
    Ok(())
}

/// The stored state of a room, with the sequence number in its row.
fn state(connection: &Connection, id: RoomId) -> Result<Option<(i64, Room)>, ReadError> {
    let sql = "SELECT seq, state FROM states WHERE room = ?";
    let row = connection.prepare_cached(sql)?.query_row([key(id)], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)));
    let Some((seq, state)) = row.optional()? else { return Ok(None) };
    let room = stored::decode_room(&state).map_err(|error| format!("room {id}: {error}"))?;
    if room.id() == id {
        Ok(Some((seq, room)))
    } else {
        Err(format!("room {id} has the state of room {}", room.id()).into())
    }
}

/// The stored part of a room, with its events that are only in the log; none if no such room is open.
pub(super) fn load(connection: &Connection, id: RoomId, pending: &Run) -> Result<Option<History>, ReadError> {
    let base = match (state(connection, id)?, pending.events().next()) {
        (Some((seq, room)), _) if seq == number(room.seq()) => room,
        (Some((seq, _)), _) => return Err(format!("room {id} has another state than that of event {seq}").into()),
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

/// Applies the events after the room's last one, of the runs that end at or before `until`. All such runs are read,
/// since the number of a run may be wrong.
fn read_runs(
    connection: &Connection,
    id: RoomId,
    room: &mut Room,
    until: Seq,
    mut visit: impl FnMut(Event),
) -> Result<(), ReadError> {
    let sql = "SELECT last, events FROM runs WHERE room = ? AND last <= ? ORDER BY last";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((key(id), number(until)))?;
    while let Some(row) = rows.next()? {
        let mut end = None;
        for (seq, event) in Events(row.get_ref(1)?.as_blob()?) {
            let event = decode(id, event)?;
            if event.seq != seq {
                return Err(format!("room {id}: event {} has the number {seq} beside it", event.seq).into());
            }
            // The first event is also part of the first state, and earlier ones that could not be removed may be left.
            if seq > room.seq() {
                visit(follow(room, event)?);
            }
            end = Some(seq);
        }
        let (last, end): (i64, _) = (row.get(0)?, end.unwrap_or(room.seq()));
        if number(end) != last {
            return Err(format!("room {id}: the run of events up to {last} ends at {end}").into());
        }
    }
    Ok(())
}

/// Decodes the next event of a room and applies it.
fn next(room: &mut Room, event: &[u8]) -> Result<Event, ReadError> {
    let event = decode(room.id(), event)?;
    follow(room, event)
}

fn decode(id: RoomId, event: &[u8]) -> Result<Event, ReadError> {
    Ok(stored::decode_event(event).map_err(|error| format!("room {id}: {error}"))?)
}

/// Applies an event if it is the next one.
fn follow(room: &mut Room, event: Event) -> Result<Event, ReadError> {
    room.check_next(&event).map_err(|error| format!("room {} after event {}: {error}", room.id(), room.seq()))?;
    room.apply(&event);
    Ok(event)
}

/// What can be used of a damaged room: its state or its first event, and the events that follow without a gap.
pub(super) struct Salvage {
    base: Room,
    room: Room,
    /// The events from the first one, or after `base`.
    run: Run,
    /// The runs as they were stored, if not all of their events can be used.
    damaged: Option<Vec<u8>>,
}

impl Salvage {
    /// What the damage means, for people.
    pub(super) fn describe(&self) -> String {
        match self.damaged {
            Some(_) => cut_after(self.room.seq()),
            None => "it has lost nothing, and goes on".to_owned(),
        }
    }

    /// Writes it as the whole room.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.run.first() != Some(Seq(1)) {
            restore(connection, &self.base)?;
        }
        append_run(connection, self.room.id(), self.run.events())?;
        if self.damaged.is_some() { append_credit(connection, &self.room) } else { Ok(()) }
    }
}

/// What it means that a room has lost its events after this one.
pub(super) fn cut_after(last: Seq) -> String {
    match last {
        Seq(0) => "it is lost: its first events were there".to_owned(),
        last => format!("it has lost its events after {last}, and goes on from there"),
    }
}

/// Credits the clocks of a room that goes back to an earlier state, with the time from then until the server last ran.
pub(super) fn append_credit(connection: &Connection, room: &Room) -> rusqlite::Result<()> {
    let Ok(Some(at)) = last_alive(connection) else { return Ok(()) };
    let micros = at.0.saturating_sub(room.last_activity().0);
    if micros <= 0 {
        return Ok(());
    }
    let credit = Event { seq: room.seq().next(), at, fact: Fact::ClockCredited { micros } };
    append_run(connection, room.id(), [(credit.seq, &*stored::encode_event(&credit))].into_iter())
}

/// As [`load`], for a damaged room. Rows may be in a wrong order, so events are taken by their own numbers.
pub(super) fn salvage(connection: &Connection, id: RoomId, pending: &Run) -> Result<Salvage, ReadError> {
    let (mut bytes, mut newest) = (Vec::new(), Seq(0));
    let sql = "SELECT last, events FROM runs WHERE room = ? ORDER BY last";
    let is_readable = scan::rows(connection, sql, [key(id)], &mut |row| {
        let run = row.get_ref(1)?.as_bytes().unwrap_or_default();
        let mut sound = Run::default();
        log::sound_events(run).into_iter().for_each(|(seq, event)| sound.push(seq, event));
        if sound.bytes() != run {
            newest = newest.max(Seq(i64::cast_unsigned(row.get(0).unwrap_or(0))));
        }
        bytes.extend_from_slice(run);
        Ok(())
    })?;
    let events: BTreeMap<_, _> = log::sound_events(&bytes).into_iter().chain(pending.events()).collect();
    let first = events.get(&Seq(1)).and_then(|event| first_state(id, event).ok());
    let base = state(connection, id).ok().flatten().map(|(_, room)| room).or(first).ok_or("it has no sound state")?;
    let (mut room, mut run) = (base.clone(), Run::default());
    if base.seq() == Seq(1)
        && let Some(event) = events.get(&Seq(1))
    {
        run.push(Seq(1), event);
    }
    while let Some(event) = events.get(&room.seq().next())
        && next(&mut room, event).is_ok()
    {
        run.push(room.seq(), event);
    }
    let newest = events.last_key_value().map_or(newest, |(last, _)| newest.max(*last));
    let is_cut = newest > room.seq() || !is_readable;
    Ok(Salvage { base, room, run, damaged: is_cut.then_some(bytes) })
}

/// Replaces a damaged room by what can be used of it; if that is not all, what there was is kept in the log, which must
/// have no other events of the room. Returns what the damage means.
pub(super) fn mend(connection: &Connection, id: RoomId) -> Result<String, ReadError> {
    let salvage = salvage(connection, id, &Run::default())?;
    remove(connection, id)?;
    salvage.write(connection)?;
    if let Some(damaged) = &salvage.damaged {
        log::keep_damaged(connection, id, damaged)?;
    }
    Ok(salvage.describe())
}

/// Rooms, and those that are damaged, with the reasons.
pub(super) type RoomsPage = (Vec<Room>, Vec<(RoomId, String)>);

/// At most `limit` rooms after `after`, by id, without the damaged ones among them.
pub(super) fn page(
    connection: &Connection,
    rows: &DamagedRows,
    mut after: Option<RoomId>,
    limit: usize,
    pending: &BTreeMap<RoomId, Run>,
) -> Result<RoomsPage, ReadError> {
    let none = Run::default();
    let (mut rooms, mut damaged) = (Vec::new(), Vec::new());
    loop {
        let mut ids = ids(connection, rows, after, limit)?;
        // A full page may have a successor, so only rooms of the log within the page are added.
        let last = ids.last().copied().filter(|_| ids.len() == limit);
        let until = last.map_or(Bound::Unbounded, Bound::Included);
        ids.extend(pending.range((after.map_or(Bound::Unbounded, Bound::Excluded), until)).map(|(id, _)| *id));
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            if rooms.len() == limit {
                return Ok((rooms, damaged));
            }
            match load(connection, id, pending.get(&id).unwrap_or(&none)) {
                Ok(history) => rooms.extend(history.map(History::latest)),
                Err(error) if is_read_failure(&error) => {
                    let meaning = "the disk cannot read a room, which is left as it is";
                    rows.note("rooms", &id.to_string(), &error.to_string(), meaning);
                }
                Err(error) if is_damage(&error) => damaged.push((id, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        if last.is_none() {
            return Ok((rooms, damaged));
        }
        after = last;
    }
}

/// The ids of at most `limit` rooms after `after`. Each room has a state and a run, so pages of one table may be
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

/// The id of a room, of 60 bits, as a column.
fn key(room: RoomId) -> i64 {
    room.bits().cast_signed()
}

fn number(seq: Seq) -> i64 {
    seq.0.cast_signed()
}
