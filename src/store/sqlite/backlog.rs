//! What the log holds that is not in the tables yet, in memory, and how it gets there: a part with each commit, so that
//! none takes long.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use rusqlite::Connection;

use super::{
    log::{self, Entry, Row, Run},
    rooms,
};
use crate::room::{RoomId, Seq};

/// How much of it is moved with a commit: so many events, and more with each write that the commit has anyway, so that
/// the log shrinks however busy the server is.
const EVENTS: usize = 64;
const EVENTS_OF_A_WRITE: usize = 4;

/// The most events of one room at a time.
const EVENTS_OF_A_ROOM: usize = 1_024;

/// Rows that are removed with a commit, which adds one.
const ROWS: i64 = 64;

/// Rooms whose last event is remembered when all of theirs is in the tables. Others are looked up once.
const REMEMBERED: usize = 16_384;

/// The log's part that is in no table, by rooms.
pub(super) struct Backlog {
    rooms: HashMap<RoomId, Kept, RandomState>,
    /// Bytes of the log after which it is moved.
    pub(super) most: usize,
    /// Bytes of the rows that came since then.
    bytes: usize,
    /// The rows.
    first: i64,
    last: i64,
    /// Those of them that are not as they were written.
    damaged: Vec<i64>,
    moving: Option<Moving>,
}

struct Kept {
    last: Seq,
    /// Empty when all is in the tables.
    run: Run,
}

/// A part of the log that is on its way into the tables.
struct Moving {
    /// Its last row.
    last: i64,
    /// Those of whom something is not moved yet. The next is at the end, and has the lowest number: what is inserted in
    /// order is inserted cheaply.
    rooms: Vec<RoomId>,
}

/// What a commit changes in the backlog once it is certain.
pub(super) struct Change {
    /// What the commit adds to the log.
    pub(super) row: Row,
    /// Where it leaves rooms: the last event, 0 if it is closed.
    lasts: HashMap<RoomId, Seq, RandomState>,
    /// Rooms whose events were moved, except for their last so many bytes.
    moved: Vec<(RoomId, usize)>,
    /// How many rooms of those that are moved are left.
    left: usize,
    /// The first row of the log.
    first: i64,
}

impl Backlog {
    /// What the file holds. Nothing is known of other rooms.
    pub(super) fn read(connection: &Connection, most: usize) -> rusqlite::Result<Self> {
        let (rooms, damaged) = (HashMap::default(), Vec::new());
        let mut backlog = Self { rooms, most, bytes: 0, first: 1, last: 0, damaged, moving: None };
        let mut select = connection.prepare("SELECT id, entries FROM log WHERE id > 0 ORDER BY id")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob()?;
            let id = row.get(0)?;
            if backlog.last == 0 {
                backlog.first = id;
            }
            backlog.last = id;
            backlog.bytes += bytes.len();
            let (entries, whole) = log::read_row(bytes);
            if !whole {
                tracing::error!(
                    id,
                    "a row of the log is damaged; of each room what comes next is taken, and the row stays"
                );
                backlog.damaged.push(id);
            }
            for (room, mut run) in entries {
                if !whole {
                    // By anything else, sound events of other rows could be taken for repeats.
                    run = run.behind(backlog.last_of(connection, room)?);
                }
                match run.events().last() {
                    Some((last, _)) => backlog.add(room, &run, last),
                    // What is damaged closes nothing.
                    None if whole => drop(backlog.rooms.remove(&room)),
                    None => {}
                }
            }
        }
        Ok(backlog)
    }

    fn add(&mut self, room: RoomId, run: &Run, last: Seq) {
        let kept = self.rooms.entry(room).or_insert_with(|| Kept { last, run: Run::default() });
        if run.first() <= kept.run.first() {
            kept.run = Run::default();
        }
        kept.run.extend(run);
        kept.last = last;
    }

    /// What is in the log only of a room.
    pub(super) fn waiting(&self, room: RoomId) -> Run {
        self.rooms.get(&room).map(|kept| kept.run.clone()).unwrap_or_default()
    }

    /// The same of all rooms behind one.
    pub(super) fn all_waiting(&self, after: Option<RoomId>) -> BTreeMap<RoomId, Run> {
        let waits = |(room, kept): (&RoomId, &Kept)| {
            (Some(*room) > after && !kept.run.is_empty()).then(|| (*room, kept.run.clone()))
        };
        self.rooms.iter().filter_map(waits).collect()
    }

    /// The last event of a room, with what a commit has added so far; 0 when there is none.
    pub(super) fn last(&self, connection: &Connection, change: &Change, room: RoomId) -> rusqlite::Result<Seq> {
        change.lasts.get(&room).map_or_else(|| self.last_of(connection, room), |last| Ok(*last))
    }

    /// The same without what a commit adds.
    fn last_of(&self, connection: &Connection, room: RoomId) -> rusqlite::Result<Seq> {
        self.rooms.get(&room).map_or_else(|| rooms::last(connection, room), |kept| Ok(kept.last))
    }

    /// Begins a commit of so many writes with what it is to move of the log.
    pub(super) fn begin(&mut self, connection: &Connection, writes: usize) -> rusqlite::Result<Change> {
        if self.moving.is_none() && self.bytes > self.most {
            let waits = |(room, kept): (&RoomId, &Kept)| (!kept.run.is_empty()).then_some(*room);
            let mut rooms: Vec<_> = self.rooms.iter().filter_map(waits).collect();
            rooms.sort_unstable_by(|one, other| other.cmp(one));
            self.moving = Some(Moving { last: self.last, rooms });
            self.bytes = 0;
        }
        let lasts = HashMap::with_capacity_and_hasher(writes, RandomState::default());
        let mut change = Change { row: Row::of(writes), lasts, moved: Vec::new(), left: 0, first: self.first };
        if let Some(moving) = &self.moving {
            self.advance(connection, moving, &mut change, EVENTS + EVENTS_OF_A_WRITE * writes)?;
        }
        Ok(change)
    }

    fn advance(
        &self,
        connection: &Connection,
        moving: &Moving,
        change: &mut Change,
        mut budget: usize,
    ) -> rusqlite::Result<()> {
        change.left = moving.rooms.len();
        while budget > 0
            && let Some(room) = moving.rooms[..change.left].last()
        {
            // It can have closed, or have been moved in an earlier round.
            let Some(kept) = self.rooms.get(room).filter(|kept| !kept.run.is_empty()) else {
                change.left -= 1;
                continue;
            };
            let mut rest = kept.run.events();
            let count = rest.by_ref().take(EVENTS_OF_A_ROOM).count();
            if take_in(connection, *room, kept.run.events().take(count))? {
                change.moved.push((*room, rest.bytes_left()));
            } else {
                // It goes to the log's other end, out of the way of all others.
                change.row.add(*room, &kept.run);
                rest.by_ref().for_each(drop);
            }
            if rest.bytes_left() > 0 {
                // The rest of it is known when this is certain.
                break;
            }
            change.left -= 1;
            budget = budget.saturating_sub(count);
        }
        if change.left == 0 {
            let to = moving.last.min(self.first + ROWS - 1);
            log::remove(connection, self.first, to, &self.damaged)?;
            change.first = to + 1;
        }
        Ok(())
    }

    /// Lets the log grow by as much again, if the commit that has failed moved something of it: perhaps it was for that.
    /// Whether it did.
    pub(super) fn pause(&mut self) -> bool {
        let moved = self.moving.take().is_some();
        if moved {
            self.bytes = 0;
        }
        moved
    }

    /// Ends a commit by writing what it adds to the log.
    pub(super) fn write(&self, connection: &Connection, change: &mut Change) -> rusqlite::Result<()> {
        if change.row.is_empty() { Ok(()) } else { change.row.write(connection, self.last + 1) }
    }

    /// Makes true what was committed.
    pub(super) fn apply<'a>(&mut self, change: Change, entries: impl Iterator<Item = &'a Entry>) {
        for (room, rest) in change.moved {
            if let Some(kept) = self.rooms.get_mut(&room) {
                kept.run.keep(rest);
            }
        }
        for entry in entries {
            if entry.closes() {
                self.rooms.remove(&entry.room);
            } else {
                let kept = self.rooms.entry(entry.room).or_insert_with(|| Kept { last: Seq(0), run: Run::default() });
                kept.run.extend(&entry.run);
                kept.last = entry.last;
            }
        }
        if !change.row.is_empty() {
            self.last += 1;
            self.bytes += change.row.bytes();
        }
        self.first = change.first;
        if let Some(moving) = &mut self.moving {
            moving.rooms.truncate(change.left);
            if self.first > moving.last {
                self.moving = None;
                self.forget();
            }
        }
    }

    fn forget(&mut self) {
        if self.rooms.len() > REMEMBERED {
            self.rooms.retain(|_, kept| !kept.run.is_empty());
        }
    }

    /// Moves everything that can be, and leaves only the rest in the log.
    pub(super) fn settle(self, connection: &mut Connection) -> rusqlite::Result<()> {
        if self.last == 0 {
            return Ok(());
        }
        let transaction = connection.transaction()?;
        let mut rooms: Vec<_> = self.rooms.into_iter().collect();
        rooms.sort_unstable_by_key(|(room, _)| *room);
        let mut left = Row::of(0);
        for (room, kept) in rooms {
            if !take_in(&transaction, room, kept.run.events())? {
                left.add(room, &kept.run);
            }
        }
        log::remove(&transaction, self.first, self.last, &self.damaged)?;
        if !left.is_empty() {
            left.write(&transaction, self.last + 1)?;
        }
        transaction.commit()
    }
}

impl Change {
    /// Adds an append that was found to be in its place.
    pub(super) fn add(&mut self, entry: &Entry) {
        if entry.closes() || !entry.run.is_empty() {
            self.row.add(entry.room, &entry.run);
        }
        self.lasts.insert(entry.room, entry.last);
    }
}

/// Moves events of a room, or nothing when something is wrong with it, which is no reason for a write to fail. Whether
/// that was done.
fn take_in<'a>(
    connection: &Connection,
    room: RoomId,
    events: impl Iterator<Item = (Seq, &'a [u8])>,
) -> rusqlite::Result<bool> {
    let run = |sql| connection.prepare_cached(sql)?.execute([]);
    run("SAVEPOINT room")?;
    let taken = rooms::take_in(connection, room, events);
    if let Err(error) = &taken {
        tracing::error!(%room, %error, "a room's events could not be moved out of the log");
        // Some errors end the transaction, and with it all that was to be committed: this one then fails, too.
        run("ROLLBACK TO room")?;
    }
    run("RELEASE room")?;
    Ok(taken.is_ok())
}
