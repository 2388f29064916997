//! The write-behind table: in memory, by room, the events of the log that are not in the tables yet.
//!
//! It answers reads of those events and of a room's last event. It flushes the log into the tables, a part with each
//! commit, so that no commit takes long. Without it each append writes a page of its room: 25,660 durable moves a
//! second, 0.40 of ephemeral (4d5166e), instead of 47,758 and 0.71.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use reversi_room::{RoomId, Seq};
use rusqlite::Connection;

use super::{LogEntry, LogRow, ReadableLog, Run};
use crate::sqlite::{
    damage::{DamagedRows, is_damage_of_file},
    log, rooms,
    scan::Gap,
};

/// Maximum events flushed by a commit, and further ones for each of its writes, so that the log shrinks under any load.
const EVENTS_PER_COMMIT: usize = 64;
const EVENTS_PER_WRITE: usize = 4;

/// Maximum number of events of one room that a commit flushes.
const MAX_ROOM_EVENTS: usize = 1_024;

/// Maximum number of rows that a commit deletes; it inserts one.
const MAX_DELETED_ROWS: i64 = 64;

/// Maximum number of rooms without unflushed events whose last event stays in memory. Others are read from the tables.
const MAX_FLUSHED_ROOMS: usize = 16_384;

pub(in crate::sqlite) struct WriteBehind {
    rooms: HashMap<RoomId, PendingRoom, RandomState>,
    /// Bytes of the log at which a flush starts.
    pub(in crate::sqlite) limit: usize,
    /// Bytes of the rows since the last flush started.
    bytes: usize,
    /// The first and the last row of the log.
    first: i64,
    last: i64,
    /// Ids of rows with a wrong checksum.
    damaged: Vec<i64>,
    /// The part of the log that cannot be read.
    gap: Option<Gap>,
    /// Rooms whose events after this one are lost, because of the gap or of damaged rows; 0 for a room that is lost.
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
pub(in crate::sqlite) struct Change {
    /// The row that the commit adds to the log.
    pub(in crate::sqlite) row: LogRow,
    /// The last event of each room after the commit; 0 if it has closed.
    lasts: HashMap<RoomId, Seq, RandomState>,
    /// Rooms with flushed events, and the bytes of their runs that were not flushed.
    flushed: Vec<(RoomId, usize)>,
    /// Number of rooms that the flush has left.
    left: usize,
    /// The first row of the log.
    first: i64,
}

impl WriteBehind {
    /// Reads the log. Says what of it is lost.
    pub(in crate::sqlite) fn read(
        connection: &Connection,
        limit: usize,
        damaged: &DamagedRows,
    ) -> rusqlite::Result<Self> {
        let log = log::read(connection)?;
        if let Some(Gap { after, before, .. }) = log.gap {
            let rows = format!("{after} to {before}");
            damaged.note("log", &rows, "damaged pages", "rows of the log between these are lost; see `reversi doctor`");
        }
        let write_behind = Self::of(connection, &log, limit)?;
        for id in &write_behind.damaged {
            damaged.note("log", &id.to_string(), "wrong checksum", "a row of the log is damaged, and is kept");
        }
        for (room, last) in &write_behind.cut {
            damaged.note("open rooms", &room.to_string(), "damage in the log", &rooms::cut_after(*last));
        }
        Ok(write_behind)
    }

    /// Builds the table from the log. After damage a room keeps only the events before its first missing one.
    pub(in crate::sqlite) fn of(connection: &Connection, log: &ReadableLog, limit: usize) -> rusqlite::Result<Self> {
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
                write_behind.damaged.push(*id);
            }
            let is_in_doubt = !write_behind.damaged.is_empty() || gap.is_some_and(|gap| *id > gap.after);
            for (room, mut run) in entries {
                // A damaged row closes no room.
                if whole && run.is_empty() {
                    write_behind.rooms.remove(&room);
                    write_behind.cut.remove(&room);
                    continue;
                }
                if is_in_doubt {
                    let claimed = run.last();
                    run = run.next_after(write_behind.last_readable(connection, room)?);
                    write_behind.add(room, &run);
                    write_behind.miss(connection, room, claimed, whole)?;
                } else {
                    write_behind.add(room, &run);
                }
            }
            if !whole {
                for (room, last) in log::claimed(bytes) {
                    write_behind.miss(connection, room, Some(last), false)?;
                }
            }
        }
        for (room, claimed) in std::mem::take(&mut write_behind.cut) {
            let at = write_behind.last_readable(connection, room)?;
            if at < claimed {
                write_behind.cut.insert(room, at);
            }
        }
        Ok(write_behind)
    }

    /// Notes that a room should have events up to `claimed`, unless that number or the room may be wrong.
    fn miss(
        &mut self,
        connection: &Connection,
        room: RoomId,
        claimed: Option<Seq>,
        is_certain: bool,
    ) -> rusqlite::Result<()> {
        let at = self.last_readable(connection, room)?;
        if let Some(claimed) = claimed.filter(|claimed| *claimed > at && (is_certain || at > Seq(0))) {
            let most = self.cut.entry(room).or_insert(claimed);
            *most = claimed.max(*most);
        }
        Ok(())
    }

    /// As [`WriteBehind::last_of`]; 0 if damage hides it.
    fn last_readable(&self, connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
        self.last_of(connection, room).or_else(|error| if is_damage_of_file(&error) { Ok(Seq(0)) } else { Err(error) })
    }

    pub(in crate::sqlite) fn cut(&self) -> &BTreeMap<RoomId, Seq> {
        &self.cut
    }

    fn add(&mut self, room: RoomId, run: &Run) {
        let Some(last) = run.last() else { return };
        let pending = self.rooms.entry(room).or_insert_with(|| PendingRoom { last, run: Run::default() });
        if run.first() <= pending.run.first() {
            pending.run = Run::default();
        }
        pending.run.extend(run);
        pending.last = last;
    }

    pub(in crate::sqlite) fn has_damaged_rows(&self) -> bool {
        !self.damaged.is_empty()
    }

    /// The events of a room that are only in the log.
    pub(in crate::sqlite) fn pending(&self, room: RoomId) -> Run {
        self.rooms.get(&room).map(|pending| pending.run.clone()).unwrap_or_default()
    }

    /// The same for all rooms after `after`.
    pub(in crate::sqlite) fn all_pending(&self, after: Option<RoomId>) -> BTreeMap<RoomId, Run> {
        let has_events = |(room, pending): (&RoomId, &PendingRoom)| {
            (Some(*room) > after && !pending.run.is_empty()).then(|| (*room, pending.run.clone()))
        };
        self.rooms.iter().filter_map(has_events).collect()
    }

    /// The last event of a room, including those of the commit; 0 if there is no such room.
    pub(in crate::sqlite) fn last(
        &self,
        connection: &Connection,
        change: &Change,
        room: RoomId,
    ) -> rusqlite::Result<Seq> {
        change.lasts.get(&room).map_or_else(|| self.last_of(connection, room), |last| Ok(*last))
    }

    /// As [`WriteBehind::last`], without the events of the commit.
    fn last_of(&self, connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
        self.rooms.get(&room).map_or_else(|| rooms::last(connection, room), |pending| Ok(pending.last))
    }

    /// Starts a commit of `writes` writes by flushing its part of the log.
    pub(in crate::sqlite) fn begin_commit(
        &mut self,
        connection: &Connection,
        writes: usize,
    ) -> rusqlite::Result<Change> {
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

    /// Ends a flush, which may have made a commit fail, until the log has grown by its limit. False if there was none.
    pub(in crate::sqlite) fn postpone_flush(&mut self) -> bool {
        let flushed = self.flush.take().is_some();
        if flushed {
            self.bytes = 0;
        }
        flushed
    }

    /// Writes the commit's row of the log.
    pub(in crate::sqlite) fn write(&self, connection: &Connection, change: &mut Change) -> rusqlite::Result<()> {
        if change.row.is_empty() { Ok(()) } else { change.row.write(connection, self.last + 1) }
    }

    /// Applies a commit that has succeeded.
    pub(in crate::sqlite) fn apply<'a>(&mut self, change: Change, entries: impl Iterator<Item = &'a LogEntry>) {
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
    pub(in crate::sqlite) fn flush_all(self, connection: &mut Connection) -> rusqlite::Result<()> {
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
        for room in self.cut.into_keys() {
            if let Ok(Some(history)) = rooms::load(&transaction, room, &Run::default()) {
                rooms::append_credit(&transaction, &history.latest())?;
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
    pub(in crate::sqlite) fn add(&mut self, entry: &LogEntry) {
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
