//! The write-behind table: in memory, by room, the events of the log that are not in the tables yet.
//!
//! It answers reads of those events and of a room's last event. It flushes the log into the tables, a part with each
//! commit, so that no commit takes long. Without it each append writes a page of its room: 25,660 durable moves a
//! second, 0.40 of ephemeral (4d5166e), instead of 47,758 and 0.71.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use rusqlite::Connection;

use super::{
    damage::is_damage_of_file,
    log::{self, LogEntry, LogRow, ReadableLog, Run},
    rooms,
    scan::Gap,
};
use crate::room::{RoomId, Seq};

/// Events flushed by a commit, and more for each of its writes, so that the log shrinks under any load.
const EVENTS_PER_COMMIT: usize = 64;
const EVENTS_PER_WRITE: usize = 4;

/// Maximum number of events of one room that a commit flushes.
const MAX_ROOM_EVENTS: usize = 1_024;

/// Maximum number of rows that a commit deletes; it inserts one.
const MAX_DELETED_ROWS: i64 = 64;

/// Maximum number of rooms without unflushed events whose last event stays in memory. Others are read from the tables.
const MAX_FLUSHED_ROOMS: usize = 16_384;

pub(super) struct WriteBehind {
    rooms: HashMap<RoomId, PendingRoom, RandomState>,
    /// Bytes of the log at which a flush starts.
    pub(super) limit: usize,
    /// Bytes of the rows since the last flush started.
    bytes: usize,
    /// The first and the last row of the log.
    first: i64,
    last: i64,
    /// Ids of rows with a wrong checksum.
    damaged: Vec<i64>,
    /// The part of the log that cannot be read.
    gap: Option<Gap>,
    /// Rooms whose events after this one are missing because of the gap.
    cut: BTreeMap<RoomId, Seq>,
    flush: Option<Flush>,
}

struct PendingRoom {
    last: Seq,
    /// Empty when all events are in the tables.
    run: Run,
}

/// A part of the log that is being flushed into the tables.
struct Flush {
    /// Its last row.
    last: i64,
    /// Rooms with unflushed events, by descending id: the next is last, and ascending inserts are cheap.
    rooms: Vec<RoomId>,
}

/// The change to the table by a commit, applied once that has succeeded.
pub(super) struct Change {
    /// The row that the commit adds to the log.
    pub(super) row: LogRow,
    /// The last event of each room after the commit; 0 if it has closed.
    lasts: HashMap<RoomId, Seq, RandomState>,
    /// Rooms with flushed events, and the bytes of their runs that were not flushed.
    flushed: Vec<(RoomId, usize)>,
    /// Rooms left by the flush.
    left: usize,
    /// The first row of the log.
    first: i64,
}

impl WriteBehind {
    /// Reads the log.
    pub(super) fn read(connection: &Connection, limit: usize) -> rusqlite::Result<Self> {
        let log = log::read(connection)?;
        if let Some(Gap { after, before, read }) = log.gap {
            tracing::error!(after, before, read, "rows of the log between these are lost; see `reversi doctor`");
        }
        let write_behind = Self::of(connection, &log, limit)?;
        for (room, last) in &write_behind.cut {
            tracing::error!(%room, %last, "the events of a room after its last one were in the lost rows");
        }
        Ok(write_behind)
    }

    /// The table of a log. A room with events in the gap goes on from those before it.
    pub(super) fn of(connection: &Connection, log: &ReadableLog, limit: usize) -> rusqlite::Result<Self> {
        let (rooms, damaged, gap, cut) = (HashMap::default(), Vec::new(), log.gap, BTreeMap::new());
        let mut write_behind = Self { rooms, limit, bytes: 0, first: 1, last: 0, damaged, gap, cut, flush: None };
        for (id, bytes) in &log.rows {
            if write_behind.last == 0 {
                write_behind.first = *id;
            }
            write_behind.last = *id;
            write_behind.bytes += bytes.len();
            let (entries, whole) = log::read_row(bytes);
            if !whole {
                tracing::error!(
                    id,
                    "a row of the log is damaged; for each room the events after its last one are used, and the row is kept"
                );
                write_behind.damaged.push(*id);
            }
            let is_behind_gap = gap.is_some_and(|gap| *id > gap.after);
            for (room, mut run) in entries {
                // A damaged row closes no room.
                if whole && run.is_empty() {
                    write_behind.rooms.remove(&room);
                    continue;
                }
                if !whole || is_behind_gap {
                    let at = write_behind.last_readable(connection, room)?;
                    if is_behind_gap && run.first() > Some(at.next()) {
                        write_behind.cut.insert(room, at);
                    }
                    // Otherwise undamaged events of other rows could look like repeats.
                    run = run.next_after(at);
                }
                if let Some((last, _)) = run.events().last() {
                    write_behind.add(room, &run, last);
                }
            }
        }
        Ok(write_behind)
    }

    /// As [`WriteBehind::last_of`]; 0 if damage hides it.
    fn last_readable(&self, connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
        self.last_of(connection, room).or_else(|error| if is_damage_of_file(&error) { Ok(Seq(0)) } else { Err(error) })
    }

    /// Rooms that have lost their events after this one; 0 for a room that is lost.
    pub(super) fn cut(&self) -> &BTreeMap<RoomId, Seq> {
        &self.cut
    }

    fn add(&mut self, room: RoomId, run: &Run, last: Seq) {
        let pending = self.rooms.entry(room).or_insert_with(|| PendingRoom { last, run: Run::default() });
        if run.first() <= pending.run.first() {
            pending.run = Run::default();
        }
        pending.run.extend(run);
        pending.last = last;
    }

    pub(super) fn has_damaged_rows(&self) -> bool {
        !self.damaged.is_empty()
    }

    /// The events of a room that are only in the log.
    pub(super) fn pending(&self, room: RoomId) -> Run {
        self.rooms.get(&room).map(|pending| pending.run.clone()).unwrap_or_default()
    }

    /// The same for all rooms after `after`.
    pub(super) fn all_pending(&self, after: Option<RoomId>) -> BTreeMap<RoomId, Run> {
        let has_events = |(room, pending): (&RoomId, &PendingRoom)| {
            (Some(*room) > after && !pending.run.is_empty()).then(|| (*room, pending.run.clone()))
        };
        self.rooms.iter().filter_map(has_events).collect()
    }

    /// The last event of a room, including those of the commit; 0 if there is no such room.
    pub(super) fn last(&self, connection: &Connection, change: &Change, room: RoomId) -> rusqlite::Result<Seq> {
        change.lasts.get(&room).map_or_else(|| self.last_of(connection, room), |last| Ok(*last))
    }

    /// As [`WriteBehind::last`], without the events of the commit.
    fn last_of(&self, connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
        self.rooms.get(&room).map_or_else(|| rooms::last(connection, room), |pending| Ok(pending.last))
    }

    /// Starts a commit of `writes` writes by flushing its part of the log.
    pub(super) fn begin_commit(&mut self, connection: &Connection, writes: usize) -> rusqlite::Result<Change> {
        if self.flush.is_none() && self.bytes > self.limit {
            let has_events = |(room, pending): (&RoomId, &PendingRoom)| (!pending.run.is_empty()).then_some(*room);
            let mut rooms: Vec<_> = self.rooms.iter().filter_map(has_events).collect();
            rooms.sort_unstable_by(|one, other| other.cmp(one));
            self.flush = Some(Flush { last: self.last, rooms });
            self.bytes = 0;
        }
        let lasts = HashMap::with_capacity_and_hasher(writes, RandomState::default());
        let mut change =
            Change { row: LogRow::with_capacity(writes), lasts, flushed: Vec::new(), left: 0, first: self.first };
        if let Some(flush) = &self.flush {
            self.flush_part(connection, flush, &mut change, EVENTS_PER_COMMIT + EVENTS_PER_WRITE * writes)?;
        }
        Ok(change)
    }

    fn flush_part(
        &self,
        connection: &Connection,
        flush: &Flush,
        change: &mut Change,
        mut budget: usize,
    ) -> rusqlite::Result<()> {
        change.left = flush.rooms.len();
        while budget > 0
            && let Some(room) = flush.rooms[..change.left].last()
        {
            // The room may have closed or been flushed already.
            let Some(pending) = self.rooms.get(room).filter(|pending| !pending.run.is_empty()) else {
                change.left -= 1;
                continue;
            };
            let mut rest = pending.run.events();
            let count = rest.by_ref().take(MAX_ROOM_EVENTS).count();
            if flush_room(connection, *room, pending.run.events().take(count))? {
                change.flushed.push((*room, rest.bytes_left()));
            } else {
                // Moved to the end of the log, so that the rows of other rooms can be deleted.
                change.row.add(*room, &pending.run);
                rest.by_ref().for_each(drop);
            }
            if rest.bytes_left() > 0 {
                // The rest follows when this commit has succeeded.
                break;
            }
            change.left -= 1;
            budget = budget.saturating_sub(count);
        }
        if change.left == 0 {
            let to = flush.last.min(self.first + MAX_DELETED_ROWS - 1);
            log::remove(connection, self.first, to, &self.damaged)?;
            change.first = to + 1;
        }
        Ok(())
    }

    /// Ends a flush, which may have caused a failed commit, until the log grows by its limit; false if there was none.
    pub(super) fn postpone_flush(&mut self) -> bool {
        let flushed = self.flush.take().is_some();
        if flushed {
            self.bytes = 0;
        }
        flushed
    }

    /// Writes the commit's row of the log.
    pub(super) fn write(&self, connection: &Connection, change: &mut Change) -> rusqlite::Result<()> {
        if change.row.is_empty() { Ok(()) } else { change.row.write(connection, self.last + 1) }
    }

    /// Applies a commit that has succeeded.
    pub(super) fn apply<'a>(&mut self, change: Change, entries: impl Iterator<Item = &'a LogEntry>) {
        for (room, rest) in change.flushed {
            if let Some(pending) = self.rooms.get_mut(&room) {
                pending.run.keep_last(rest);
            }
        }
        for entry in entries {
            if entry.closes() {
                self.rooms.remove(&entry.room);
            } else {
                let pending =
                    self.rooms.entry(entry.room).or_insert_with(|| PendingRoom { last: Seq(0), run: Run::default() });
                pending.run.extend(&entry.run);
                pending.last = entry.last;
            }
        }
        if !change.row.is_empty() {
            self.last += 1;
            self.bytes += change.row.bytes();
        }
        self.first = change.first;
        if let Some(flush) = &mut self.flush {
            flush.rooms.truncate(change.left);
            if self.first > flush.last {
                self.flush = None;
                self.forget();
            }
        }
    }

    fn forget(&mut self) {
        if self.rooms.len() > MAX_FLUSHED_ROOMS {
            self.rooms.retain(|_, pending| !pending.run.is_empty());
        }
    }

    /// Flushes all rooms; those that fail stay in the log.
    pub(super) fn flush_all(self, connection: &mut Connection) -> rusqlite::Result<()> {
        if self.last == 0 && self.gap.is_none() {
            return Ok(());
        }
        let transaction = connection.transaction()?;
        let mut rooms: Vec<_> = self.rooms.into_iter().collect();
        rooms.sort_unstable_by_key(|(room, _)| *room);
        let mut left = LogRow::with_capacity(0);
        for (room, pending) in rooms {
            if !flush_room(&transaction, room, pending.run.events())? {
                left.add(room, &pending.run);
            }
        }
        match self.gap {
            None => log::remove(&transaction, self.first, self.last, &self.damaged)?,
            Some(_) => log::set_aside(&transaction)?,
        }
        if !left.is_empty() {
            left.write(&transaction, self.last + 1)?;
        }
        transaction.commit()
    }
}

impl Change {
    /// Adds an append whose expected event was right.
    pub(super) fn add(&mut self, entry: &LogEntry) {
        if entry.closes() || !entry.run.is_empty() {
            self.row.add(entry.room, &entry.run);
        }
        self.lasts.insert(entry.room, entry.last);
    }
}

/// Moves events of a room into the tables. A failure flushes nothing, returns false, and fails no write.
fn flush_room<'a>(
    connection: &Connection,
    room: RoomId,
    events: impl Iterator<Item = (Seq, &'a [u8])>,
) -> rusqlite::Result<bool> {
    let run = |sql| connection.prepare_cached(sql)?.execute([]);
    run("SAVEPOINT room")?;
    let flushed = rooms::append_run(connection, room, events);
    if let Err(error) = &flushed {
        tracing::error!(%room, %error, "a room's events could not be flushed out of the log");
        // Some errors end the whole transaction; this statement then fails, and so does the commit.
        run("ROLLBACK TO room")?;
    }
    run("RELEASE room")?;
    Ok(flushed.is_ok())
}
