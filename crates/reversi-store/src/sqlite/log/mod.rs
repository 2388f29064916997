//! The log: the appended events of all rooms in order, one row for each commit.
//!
//! Without it a move in each of many rooms writes a page for each of them; here a commit writes few pages, and the
//! events reach the tables of their rooms later, many at once ([`write_behind`]). An append costs SQLite 8.2 µs
//! of CPU instead of 22.3 with an events table, and that table reaches 0.63 of the durable moves a second
//! (`benches/README.md`).

pub(super) mod write_behind;

use prost::encoding::{decode_varint, encode_varint};
use reversi_room::{Fact, Request, RoomId, Seq, stored};
use rusqlite::Connection;
use smallvec::SmallVec;

use super::scan::{self, Gap};
use crate::journal::{Append, AppendError, DoneRequest, EndedGame};

/// The version of a row.
const VERSION: u8 = 1;

const CHECKSUM: usize = 4;

/// Prefix of the name of a log that was set aside.
pub(super) const SET_ASIDE: &str = "damaged_log_";

/// Approximate bytes of an entry with one move.
const MOVE_BYTES: usize = 48;

/// Maximum bytes of two varints.
const MAX_HEADER: usize = 20;

/// An encoded append.
pub(super) struct LogEntry {
    pub(super) room: RoomId,
    pub(super) expected: Seq,
    /// The room's last event after the append; 0 when it closes the room.
    pub(super) last: Seq,
    /// Empty when it closes the room.
    pub(super) run: Run,
    /// What is kept of the request that the append carries.
    pub(super) request: Option<Box<(Request, DoneRequest)>>,
    pub(super) games: Vec<EndedGame>,
    /// True if the games change the statistics of their players.
    pub(super) counts: bool,
}

impl LogEntry {
    /// Encodes an append, on the caller's thread rather than the writer's.
    pub(super) fn new(append: &Append<'_>) -> Result<Self, AppendError> {
        let begins = append.events.first().is_some_and(|event| matches!(event.fact, Fact::Created(_)));
        if append.expected == Seq(0) && !begins {
            return Err(AppendError::Unavailable("a room must begin with its creation".to_owned()));
        }
        let closed = append.events.iter().any(|event| matches!(event.fact, Fact::Closed(_)));
        let mut run = Run::default();
        let mut last = append.expected;
        for event in append.events.iter().filter(|_| !closed) {
            run.push(event.seq, &stored::encode_event(event));
            last = event.seq;
        }
        let last = if closed { Seq(0) } else { last };
        let &Append { room, expected, games, .. } = append;
        let request = append.done_request().map(Box::new);
        Ok(Self { room, expected, last, run, request, games: games.to_vec(), counts: true })
    }

    pub(super) fn closes(&self) -> bool {
        self.last == Seq(0)
    }
}

/// Consecutive events of a room, encoded. One move fits inline, so that the writer frees no memory of other threads.
#[derive(Clone, Default)]
pub(super) struct Run(SmallVec<[u8; 32]>);

impl Run {
    pub(super) fn push(&mut self, seq: Seq, event: &[u8]) {
        let mut header = [0; MAX_HEADER];
        let mut free = &mut header[..];
        encode_varint(seq.0, &mut free);
        encode_varint(event.len() as u64, &mut free);
        let length = MAX_HEADER - free.len();
        self.0.extend_from_slice(&header[..length]);
        self.0.extend_from_slice(event);
    }

    pub(super) fn extend(&mut self, later: &Self) {
        self.0.extend_from_slice(&later.0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn first(&self) -> Option<Seq> {
        self.events().next().map(|(seq, _)| seq)
    }

    pub(super) fn last(&self) -> Option<Seq> {
        self.events().last().map(|(seq, _)| seq)
    }

    pub(super) fn events(&self) -> Events<'_> {
        Events(&self.0)
    }

    /// The events that follow event `at` without a gap.
    pub(super) fn next_after(&self, mut at: Seq) -> Self {
        let mut next = Self::default();
        for (seq, event) in self.events() {
            if seq.0.checked_sub(1) == Some(at.0) {
                next.push(seq, event);
                at = seq;
            }
        }
        next
    }

    /// Removes all but the last `bytes` bytes.
    pub(super) fn keep_last(&mut self, bytes: usize) {
        // A new buffer, so that many rooms do not keep the capacity of their longest run.
        self.0 = SmallVec::from_slice(&self.0[self.0.len() - bytes..]);
    }
}

/// The events of a run; ends early at damaged bytes.
#[derive(Clone)]
pub(super) struct Events<'a>(pub(super) &'a [u8]);

impl Events<'_> {
    pub(super) fn bytes_left(&self) -> usize {
        self.0.len()
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = (Seq, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let seq = decode_varint(&mut self.0).ok()?;
        let event = part(&mut self.0)?;
        Some((Seq(seq), event))
    }
}

/// Reads a length and that many bytes.
fn part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(decode_varint(bytes).ok()?).ok()?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

/// The row of the log that a commit adds.
pub(super) struct LogRow(Vec<u8>);

impl LogRow {
    /// An empty row with capacity for `moves` moves.
    pub(super) fn with_capacity(moves: usize) -> Self {
        let mut row = Vec::with_capacity(1 + moves * MOVE_BYTES + CHECKSUM);
        row.push(VERSION);
        Self(row)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Adds events of a room; an empty run means that the room has closed.
    pub(super) fn add(&mut self, room: RoomId, run: &Run) {
        self.0.extend_from_slice(&room.bits().to_le_bytes());
        encode_varint(run.0.len() as u64, &mut self.0);
        self.0.extend_from_slice(&run.0);
    }

    pub(super) fn write(&mut self, connection: &Connection, id: i64) -> rusqlite::Result<()> {
        let checksum = crc32fast::hash(&self.0);
        self.0.extend_from_slice(&checksum.to_le_bytes());
        let sql = "INSERT INTO log (id, entries) VALUES (?, ?)";
        connection.prepare_cached(sql)?.execute((id, &self.0)).map(|_| ())
    }
}

/// What can be read of a log.
pub(super) struct ReadableLog {
    /// By ascending id.
    pub(super) rows: Vec<(i64, Vec<u8>)>,
    /// The part with damaged pages.
    pub(super) gap: Option<Gap>,
}

/// Reads the log, without the damaged rows that are kept under negative ids.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<ReadableLog> {
    let mut rows = Vec::new();
    let gap = scan::each(connection, "log", "entries", &mut |id, row| {
        if id > 0 {
            // What is not a blob is damaged as well.
            rows.push((id, row.get(1).unwrap_or_default()));
        }
        Ok(())
    })?;
    rows.sort_unstable();
    Ok(ReadableLog { rows, gap })
}

/// Begins a new log. The old one stays under another name, since damaged pages can neither be read nor removed.
pub(super) fn set_aside(connection: &Connection) -> rusqlite::Result<()> {
    let sql = format!("SELECT count(*) FROM sqlite_schema WHERE name LIKE '{SET_ASIDE}%'");
    let before: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
    let rename = format!("ALTER TABLE log RENAME TO {SET_ASIDE}{}", before + 1);
    connection.execute_batch(&format!("{rename}; CREATE TABLE log (id INTEGER PRIMARY KEY, entries BLOB NOT NULL)"))
}

/// The entries of a row, and whether its checksum is right. If not, they are those of [`sound_entries`].
pub(super) fn read_row(bytes: &[u8]) -> (Vec<(RoomId, Run)>, bool) {
    let sealed = bytes.split_last_chunk::<CHECKSUM>();
    let sealed = sealed.filter(|(sealed, checksum)| crc32fast::hash(sealed) == u32::from_le_bytes(**checksum));
    match sealed.map(|(sealed, _)| sealed.split_first()) {
        Some(Some((&VERSION, rest))) => {
            let whole = |(room, Events(events))| (room, Run(SmallVec::from_slice(events)));
            (framed(rest).map(whole).collect(), true)
        }
        Some(_) => (Vec::new(), false),
        None => (sound_entries(bytes.get(1..).unwrap_or_default()), false),
    }
}

/// The entries between the version of a row and its checksum, as far as their lengths fit.
fn framed(mut rest: &[u8]) -> impl Iterator<Item = (RoomId, Events<'_>)> {
    std::iter::from_fn(move || {
        let (room, run) = rest.split_first_chunk()?;
        rest = run;
        Some((RoomId::from_random(u64::from_le_bytes(*room)), Events(part(&mut rest)?)))
    })
}

/// The entries of a damaged row. Only events have a checksum of their own: an entry is wherever a sound event follows a
/// room and a length, and ends before the first event that is not sound. Numbers, and the room of a creation, are taken
/// from the events themselves; the room of any other entry may be wrong.
fn sound_entries(mut rest: &[u8]) -> Vec<(RoomId, Run)> {
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (room, run, behind) = sound_entry(rest).unwrap_or((RoomId::from_random(0), Run::default(), &rest[1..]));
        if !run.is_empty() {
            entries.push((room, run));
        }
        rest = behind;
    }
    entries
}

/// The entry at the start of `bytes`, and the bytes behind its last sound event.
fn sound_entry(bytes: &[u8]) -> Option<(RoomId, Run, &[u8])> {
    let (room, mut behind) = bytes.split_first_chunk()?;
    let (mut room, mut run) = (RoomId::from_random(u64::from_le_bytes(*room)), Run::default());
    decode_varint(&mut behind).ok()?;
    let mut events = Events(behind);
    while let Some((_, encoded)) = events.next()
        && let Ok(event) = stored::decode_event(encoded)
    {
        if let Fact::Created(creation) = &event.fact {
            room = creation.id;
        }
        run.push(event.seq, encoded);
        behind = events.0;
    }
    (!run.is_empty()).then_some((room, run, behind))
}

/// The last event of each entry of a damaged row, as far as its lengths and numbers are right.
pub(super) fn claimed(bytes: &[u8]) -> impl Iterator<Item = (RoomId, Seq)> {
    framed(bytes.get(1..).unwrap_or_default()).filter_map(|(room, events)| Some((room, events.last()?.0)))
}

/// The sound events among damaged bytes, whatever is between them, with their own numbers.
pub(super) fn sound_events(mut bytes: &[u8]) -> Vec<(Seq, &[u8])> {
    let mut sound = Vec::new();
    while !bytes.is_empty() {
        let mut events = Events(bytes);
        let event = events.next().and_then(|(_, event)| Some((stored::decode_event(event).ok()?.seq, event)));
        bytes = if event.is_some() { events.0 } else { &bytes[1..] };
        sound.extend(event);
    }
    sound
}

/// Keeps the damaged events of a room, as a row with a negative id and without a checksum.
pub(super) fn keep_damaged(connection: &Connection, room: RoomId, events: &[u8]) -> rusqlite::Result<()> {
    let mut row = LogRow::with_capacity(0);
    row.add(room, &Run(SmallVec::from_slice(events)));
    let sql = "INSERT INTO log (id, entries) SELECT min(0, coalesce(min(id), 0)) - 1, ? FROM log";
    connection.prepare_cached(sql)?.execute([&row.0]).map(drop)
}

/// Deletes the rows `from` to `to`, inclusive. Damaged rows are kept under negative ids.
pub(super) fn remove(connection: &Connection, from: i64, to: i64, damaged: &[i64]) -> rusqlite::Result<()> {
    for id in damaged.iter().filter(|id| (from..=to).contains(id)) {
        let sql = "UPDATE log SET id = (SELECT min(0, min(id)) - 1 FROM log) WHERE id = ?";
        connection.prepare_cached(sql)?.execute([id])?;
    }
    connection.prepare_cached("DELETE FROM log WHERE id BETWEEN ? AND ?")?.execute((from, to)).map(|_| ())
}
