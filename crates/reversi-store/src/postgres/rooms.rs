//! Open rooms: a state of each, and the later events in a tail, the newest first.
//!
//! ```text
//!   append ──▶ event ─┬─ event ─ event ─ ... ─ event        tail
//!                     └─ past FOLD bytes: all but the latest go into the state
//! ```

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use prost::encoding::{decode_varint, encode_varint};
use reversi_room::{Event, Fact, JoinCode, Request, Room, RoomId, Seq, stored};
use tokio_postgres::{Error, Row, types::ToSql};

use super::{
    cluster::fence::Fence,
    games::{self, NewGame},
    session::{Session, column},
};
use crate::{
    damage::{DamagedRows, ReadError},
    journal::{Append, AppendError, DoneRequest, History},
};

/// Bytes of a tail beyond which it is folded: some 100 moves.
pub(super) const FOLD: i32 = 3 << 10;

/// Events that stay in a tail that is folded, for watchers that resume.
const KEPT: usize = 16;

/// An encoded append.
pub(super) struct RoomWrite {
    pub(super) room: RoomId,
    pub(super) expected: Seq,
    /// The room's last event after the append.
    pub(super) last: Seq,
    /// The encoded events, which are put in front of the stored tail.
    pub(super) tail: Vec<u8>,
    /// For a room that begins.
    pub(super) beginning: Option<Beginning>,
    /// True if the room closes.
    pub(super) closes: bool,
    /// True if the room's members or their seats may change.
    pub(super) changes_members: bool,
    /// The request that it carries, with what is kept of it.
    pub(super) request: Option<(Request, DoneRequest)>,
    /// The games that end.
    pub(super) games: Vec<NewGame>,
}

/// What is stored of a room when it begins.
pub(super) struct Beginning {
    code: JoinCode,
    state: Vec<u8>,
}

impl Beginning {
    fn of(room: &Room) -> Self {
        Self { code: room.code(), state: stored::encode_room(room) }
    }
}

impl RoomWrite {
    /// Encodes an append, on the caller's thread rather than the writer's.
    pub(super) fn new(append: &Append<'_>) -> Result<Self, AppendError> {
        let Append { room, expected, mut events, games } = *append;
        let last = events.last().map_or(expected, |event| event.seq);
        let closes = events.iter().any(|event| matches!(event.fact, Fact::Closed(_)));
        let changes_members = events.iter().any(|event| event.fact.changes_members());
        let (mut beginning, request) = (None, append.done_request());
        if expected == Seq(0) {
            let (first, later) = events.split_at(events.len().min(1));
            let begun = Room::replay(first).filter(|room| room.id() == append.room);
            let begun =
                begun.ok_or_else(|| AppendError::Unavailable("a room must begin with its creation".to_owned()))?;
            (beginning, events) = (Some(Beginning::of(&begun)), later);
        }
        let (tail, games) = (encode(events), games.iter().map(NewGame::ended).collect());
        Ok(Self { room, expected, last, tail, beginning, closes, changes_members, request, games })
    }

    /// The id of the room as a column.
    pub(super) fn key(&self) -> i64 {
        key(self.room)
    }

    /// True if it only adds to the tail of a room, and perhaps to the archive.
    pub(super) fn is_simple(&self) -> bool {
        let is_move = self.beginning.is_none() && !self.closes && !self.changes_members;
        is_move && self.request.is_none()
    }
}

/// The id of a room, of 60 bits, as a column.
pub(super) fn key(room: RoomId) -> i64 {
    room.bits().cast_signed()
}

pub(super) fn number(seq: Seq) -> i64 {
    seq.0.cast_signed()
}

pub(super) fn id(row: &Row) -> Result<RoomId, ReadError> {
    Ok(RoomId::from_random(column::<i64>(row, "id")?.cast_unsigned()))
}

/// Encodes events, the newest first.
fn encode(events: &[Event]) -> Vec<u8> {
    let mut tail = Vec::new();
    for event in events.iter().rev() {
        let event = stored::encode_event(event);
        encode_varint(event.len() as u64, &mut tail);
        tail.extend_from_slice(&event);
    }
    tail
}

/// The events of a tail, encoded, the oldest first.
fn split(mut tail: &[u8]) -> Result<Vec<&[u8]>, ReadError> {
    let mut events = Vec::new();
    while !tail.is_empty() {
        let length = usize::try_from(decode_varint(&mut tail)?)?;
        let (event, rest) = tail.split_at_checked(length).ok_or("the tail of events ends within one")?;
        events.push(event);
        tail = rest;
    }
    events.reverse();
    Ok(events)
}

/// The stored part of a room, by its columns `id`, `seq`, `tail` and `state`.
fn history(row: &Row) -> Result<History, ReadError> {
    let (id, seq) = (id(row)?, column::<i64>(row, "seq")?);
    let wrong = |error: &dyn std::fmt::Display| format!("room {id}: {error}");
    let base = stored::decode_room(column(row, "state")?).map_err(|error| wrong(&error))?;
    let (mut room, mut events) = (base.clone(), Vec::new());
    for event in split(column(row, "tail")?).map_err(|error| wrong(&error))? {
        let event = stored::decode_event(event).and_then(|event| room.check_next(&event).map(|()| event));
        let event = event.map_err(|error| wrong(&error))?;
        room.apply(&event);
        events.push(event);
    }
    if number(room.seq()) != seq {
        return Err(wrong(&format_args!("its events end at {} instead of {seq}", room.seq())).into());
    }
    Ok(History { base, events })
}

const ROOM: &str = "SELECT room.id, room.seq, room.tail, room_state.state FROM room \
    LEFT JOIN room_state ON room_state.room = room.id WHERE room.id = $1";

const ROOMS: &str = "SELECT room.id, room.seq, room.tail, room_state.state FROM room \
    LEFT JOIN room_state ON room_state.room = room.id WHERE room.id > $1 ORDER BY room.id LIMIT $2";

const ROOMS_OF: &str = "SELECT room.id, room.seq, room.tail, room_state.state FROM room \
    LEFT JOIN room_state ON room_state.room = room.id WHERE room.id = ANY($1)";

pub(super) async fn load(session: &Session, damaged: &DamagedRows, id: RoomId) -> Result<Option<History>, ReadError> {
    let row = session.row(ROOM, &[&key(id)]).await?;
    row.as_ref().map(history).transpose().inspect_err(|error| note(damaged, id, error))
}

/// Rooms in their latest states. Damaged ones are passed over.
pub(super) async fn latest(session: &Session, damaged: &DamagedRows, rooms: &[i64]) -> Result<Vec<Room>, Error> {
    let rows = session.query(ROOMS_OF, &[&rooms]).await?;
    let read = |row| {
        let note_row = |error: &ReadError| id(row).iter().for_each(|id| note(damaged, *id, error));
        history(row).inspect_err(note_row).ok().map(History::latest)
    };
    Ok(rows.iter().filter_map(read).collect())
}

fn note(damaged: &DamagedRows, id: RoomId, error: &ReadError) {
    damaged.note("open rooms", &id.to_string(), &error.to_string(), "a room is damaged");
}

/// The open room of a join code.
pub(super) async fn of_code(session: &Session, code: JoinCode) -> Result<Option<RoomId>, ReadError> {
    let row = session.row("SELECT id FROM room WHERE code = $1", &[&code.bits().cast_signed()]).await?;
    row.as_ref().map(id).transpose()
}

/// At most `limit` rooms after `after`, by id. A damaged room is passed over, and stays as it is.
pub(super) async fn page(
    session: &Session,
    damaged: &DamagedRows,
    after: Option<RoomId>,
    limit: usize,
) -> Result<Vec<Room>, ReadError> {
    let (mut after, mut rooms) = (after.map_or(-1, key), Vec::new());
    while rooms.len() < limit {
        let wanted = limit - rooms.len();
        let rows = session.query(ROOMS, &[&after, &i64::try_from(wanted)?]).await?;
        for row in &rows {
            let id = id(row)?;
            match history(row) {
                Ok(history) => rooms.push(history.latest()),
                Err(error) => note(damaged, id, &error),
            }
            after = key(id);
        }
        if rows.len() < wanted {
            break;
        }
    }
    Ok(rooms)
}

/// The columns of rooms, as arrays.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<i64>,
    expected: Vec<i64>,
    last: Vec<i64>,
    tails: Vec<&'a [u8]>,
    codes: Vec<i64>,
    states: Vec<&'a [u8]>,
    /// The games that end.
    games: Vec<&'a NewGame>,
}

impl<'a> Columns<'a> {
    fn of(writes: impl Iterator<Item = &'a RoomWrite>) -> Self {
        let mut columns = Self::default();
        for write in writes {
            columns.ids.push(write.key());
            columns.expected.push(number(write.expected));
            columns.last.push(number(write.last));
            columns.tails.push(&write.tail);
            columns.games.extend(&write.games);
            if let Some(Beginning { code, state }) = &write.beginning {
                columns.codes.push(code.bits().cast_signed());
                columns.states.push(state);
            }
        }
        columns
    }
}

const FENCE: &str = "WITH me AS (SELECT 1 FROM fence WHERE node = $5 AND session = $6 FOR SHARE)";

/// One statement for all rooms, which changes nothing without the fence, nor rooms of other nodes' shards. Their new
/// events go in front of the tails.
const EXTEND: &str = "UPDATE room SET seq = a.last, tail = a.tail || room.tail \
    FROM me, unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS a (id, expected, last, tail) \
    JOIN shard ON shard.id = (a.id >> 48)::int AND shard.node = $5 \
    WHERE room.id = a.id AND room.seq = a.expected RETURNING room.id, octet_length(room.tail)";

static MOVE: LazyLock<String> = LazyLock::new(|| format!("{FENCE} {EXTEND}"));

/// The games that end in these rooms are inserted by the same statement.
static MOVE_AND_END: LazyLock<String> = LazyLock::new(|| {
    let games = games::insertion(7, "JOIN written ON written.id = game.key");
    format!("{FENCE}, written AS ({EXTEND}), {games} SELECT * FROM written")
});

/// Appends to rooms at the expected event; to none without the fence. Returns these rooms, with the bytes of their
/// tails.
pub(super) async fn extend(
    session: &Session,
    fence: Fence,
    writes: impl Iterator<Item = &RoomWrite>,
) -> Result<Vec<(i64, i32)>, Error> {
    let Columns { ids, expected, last, tails, games, .. } = Columns::of(writes);
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&ids, &expected, &last, &tails, &fence.node, &fence.session];
    let ended = games::columns(&games);
    let sql: &'static str = if games.is_empty() {
        &MOVE
    } else {
        parameters.extend(ended.iter().map(|column| &**column as &(dyn ToSql + Sync)));
        &MOVE_AND_END
    };
    let rows = session.query(sql, &parameters).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

static BEGIN: LazyLock<String> = LazyLock::new(|| {
    let games = games::insertion(7, "JOIN written ON written.id = game.key");
    format!("{ROOMS_AND_STATES}, {games} SELECT id FROM written")
});

const ROOMS_AND_STATES: &str = "WITH a AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[]) \
    AS t (id, code, seq, tail, state)), \
    written AS (INSERT INTO room (id, code, seq, tail) SELECT a.id, code, seq, tail FROM a \
        JOIN shard ON shard.id = (a.id >> 48)::int AND shard.node = $6 ON CONFLICT DO NOTHING RETURNING id), \
    states AS (INSERT INTO room_state (room, state) SELECT id, state FROM a JOIN written USING (id))";

/// Inserts new rooms of the node's shards. Returns those that were inserted.
pub(super) async fn begin(
    session: &Session,
    fence: Fence,
    writes: impl Iterator<Item = &RoomWrite>,
) -> Result<Vec<i64>, Error> {
    let columns = Columns::of(writes);
    if columns.ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = insert(session, fence, &columns).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Inserts rooms in their latest states, without earlier events.
pub(super) async fn restore(session: &Session, fence: Fence, rooms: &[Room]) -> Result<(), Error> {
    let ids: Vec<_> = rooms.iter().map(|room| key(room.id())).collect();
    let codes: Vec<_> = rooms.iter().map(|room| room.code().bits().cast_signed()).collect();
    let seqs: Vec<_> = rooms.iter().map(|room| number(room.seq())).collect();
    let states: Vec<_> = rooms.iter().map(stored::encode_room).collect();
    let (tails, states) = (vec![&[][..]; rooms.len()], states.iter().map(Vec::as_slice).collect());
    let columns = Columns { ids, codes, last: seqs, tails, states, ..Columns::default() };
    insert(session, fence, &columns).await.map(drop)
}

async fn insert(session: &Session, fence: Fence, columns: &Columns<'_>) -> Result<Vec<Row>, Error> {
    let Columns { ids, codes, last, tails, states, games, .. } = columns;
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![ids, codes, last, tails, states, &fence.node];
    let ended = games::columns(games);
    parameters.extend(ended.iter().map(|column| &**column as &(dyn ToSql + Sync)));
    session.query(&BEGIN, &parameters).await
}

/// Deletes rooms that have closed.
pub(super) async fn remove(session: &Session, ids: &[i64]) -> Result<(), Error> {
    session.execute("DELETE FROM room WHERE id = ANY($1)", &[&ids]).await.map(drop)
}

/// The last event of each of these rooms that is open, by id.
pub(super) async fn lasts(session: &Session, ids: &[i64]) -> Result<HashMap<i64, i64>, Error> {
    let rows = session.query("SELECT id, seq FROM room WHERE id = ANY($1)", &[&ids]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Which of these rooms are in shards of other nodes, or of no node.
pub(super) async fn of_others(session: &Session, fence: Fence, ids: &[i64]) -> Result<HashSet<i64>, Error> {
    let sql = "SELECT a.id FROM unnest($1::bigint[]) AS a (id) JOIN shard ON shard.id = (a.id >> 48)::int \
        WHERE shard.node IS DISTINCT FROM $2";
    let rows = session.query(sql, &[&ids, &fence.node]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

const FOLDED: &str = "WITH a AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) \
    AS t (id, seq, tail, state)), \
    folded AS (UPDATE room SET tail = a.tail FROM a WHERE room.id = a.id AND room.seq = a.seq RETURNING room.id) \
    UPDATE room_state SET state = a.state FROM a JOIN folded USING (id) WHERE room_state.room = a.id";

/// Applies all but the latest [`KEPT`] events of rooms to their states. A room that is damaged, or has meanwhile grown
/// at another node, is left as it is.
pub(super) async fn fold(session: &Session, damaged: &DamagedRows, rooms: &[i64]) -> Result<(), Error> {
    let rows = session.query(ROOMS_OF, &[&rooms]).await?;
    let (mut ids, mut seqs, mut tails, mut states) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        match history(row) {
            Ok(History { mut base, events }) => {
                let (older, kept) = events.split_at(events.len().saturating_sub(KEPT));
                older.iter().for_each(|event| base.apply(event));
                ids.push(key(base.id()));
                seqs.push(events.last().map_or(number(base.seq()), |event| number(event.seq)));
                tails.push(encode(kept));
                states.push(stored::encode_room(&base));
            }
            Err(error) => {
                let row = id(row).map_or_else(|error| error.to_string(), |id| id.to_string());
                damaged.note("open rooms", &row, &error.to_string(), "a room is damaged, and grows");
            }
        }
    }
    session.execute(FOLDED, &[&ids, &seqs, &tails, &states]).await.map(drop)
}
