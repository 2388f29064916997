//! Open rooms of files of earlier versions. The doctor reads such files as they are, since a migration reads whole
//! tables, and damage would end it.

use std::path::Path;

use reversi_room::Seq;
use rusqlite::{Connection, Row};

use crate::sqlite::{
    error::OpenError,
    log::Run,
    scan::{self, Gap},
    schema,
};

/// The first versions with a log, with runs instead of single events, with the keys of names, with the number of games,
/// and with bans.
pub(super) const LOG: i32 = 2;
pub(super) const RUNS: i32 = 3;
pub(super) const NAME_KEYS: i32 = 4;
pub(super) const COUNT: i32 = 5;
pub(super) const BANS: i32 = 9;

/// The open rooms of a file without runs, as tables of the present version in memory.
pub(super) struct OlderRooms {
    pub(super) tables: Connection,
    /// True if pages of events are damaged.
    pub(super) is_damaged: bool,
}

impl OlderRooms {
    pub(super) fn read(old: &Connection) -> Result<Self, OpenError> {
        let tables = schema::create(Path::new(":memory:"))?.connection;
        let _: Option<Gap> = scan::each(old, "states", "seq, state", &mut |room, row| {
            let sql = "INSERT OR IGNORE INTO states (room, seq, state) VALUES (?, ?, ?)";
            let (Ok(seq), Ok(state)) = (row.get::<_, i64>(1), row.get::<_, Vec<u8>>(2)) else { return Ok(()) };
            tables.prepare_cached(sql)?.execute((room, seq, state)).map(drop)
        })?;
        let mut make_run = |row: &Row<'_>| {
            let (Ok(room), Ok(seq), Ok(event)) = (row.get(0), row.get(1), row.get::<_, Vec<u8>>(2)) else {
                return Ok(());
            };
            let mut run = Run::default();
            run.push(Seq(i64::cast_unsigned(seq)), &event);
            let sql = "INSERT OR IGNORE INTO runs (room, last, events) VALUES (?, ?, ?)";
            tables.prepare_cached(sql)?.execute::<(i64, i64, &[u8])>((room, seq, run.bytes())).map(drop)
        };
        let events = "SELECT room, seq, CAST(event AS BLOB) FROM events ORDER BY";
        let is_damaged = !scan::rows(old, &format!("{events} room, seq"), (), &mut make_run)?;
        if is_damaged {
            scan::rows(old, &format!("{events} room DESC, seq DESC"), (), &mut make_run)?;
        }
        Ok(Self { tables, is_damaged })
    }
}
