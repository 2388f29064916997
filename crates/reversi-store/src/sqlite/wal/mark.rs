//! A mark by which the write-ahead log of another file is recognised.
//!
//! SQLite replays any sound log that lies beside a file, also one of a file that a backup has replaced since; the
//! outcome is malformed. So the first commit after each complete checkpoint renews the mark in the table `wal_mark`.
//! The new mark names the one before, which the file then has:
//!
//! ```text
//!   log:  mark 8 after 7 ── mark 9 after 8       belongs to a file with mark 7, or with 8 or 9 after a part of a checkpoint
//! ```
//!
//! Both are read as bytes, since SQLite would open them together.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use metrics::gauge;
use rusqlite::{Connection, hooks::Wal};

use super::{Log, read_whole};
use crate::{
    journal::LOG_BYTES,
    sqlite::{error::OpenError, wal},
};

/// Pages of the log at which it is copied into the file: SQLite's own default.
const CHECKPOINT: i32 = 1_000;

/// Pages of a log that is logged as large, of 256 MiB: something reads the file for long, and so keeps the log from being
/// copied.
const LARGE: i32 = 65_536;

/// Bytes of a page: SQLite's default, which nothing changes.
const PAGE: f64 = 4_096.0;

/// How a mark begins. No text has these bytes, as they are no UTF-8.
const MAGIC: [u8; 8] = *b"\xffwalmark";

const LENGTH: usize = 36;

/// The bytes of SQLite's schema cookie in page 1, which each change of the schema increments. Copies by SQLite's tools
/// have another cookie.
const SCHEMA: std::ops::Range<usize> = 40..44;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    /// Random.
    id: [u8; 8],
    /// The id of the mark before; zeros for the first one of a file.
    before: [u8; 8],
    /// The number of the schema, and the one at the mark before.
    schema: [u8; 4],
    schema_before: [u8; 4],
}

impl Mark {
    fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let parts: [&[u8]; 5] = [&MAGIC, &self.id, &self.before, &self.schema, &self.schema_before];
        let (sealed, checksum) = bytes.split_at_mut(LENGTH - 4);
        sealed.copy_from_slice(&parts.concat());
        checksum.copy_from_slice(&crc32fast::hash(sealed).to_le_bytes());
        bytes
    }

    /// The mark at the end of these bytes: in its page it is the last value of the only row.
    fn at_end(bytes: &[u8]) -> Option<Self> {
        let mark: &[u8; LENGTH] = bytes.last_chunk()?;
        let id = *mark[8..].first_chunk()?;
        let before = *mark[16..].first_chunk()?;
        let [schema, schema_before] = [*mark[24..].first_chunk()?, *mark[28..].first_chunk()?];
        Some(Self { id, before, schema, schema_before }).filter(|found| found.to_bytes() == *mark)
    }
}

/// Renews the mark with this transaction, or creates it in a file without one. Returns true if it was created.
pub(in crate::sqlite) fn renew(connection: &Connection) -> rusqlite::Result<bool> {
    let table = "CREATE TABLE IF NOT EXISTS wal_mark (id INTEGER PRIMARY KEY CHECK (id = 1), mark BLOB NOT NULL)";
    connection.execute_batch(table)?;
    let select = "SELECT (SELECT mark FROM wal_mark), randomblob(8), schema_version FROM pragma_schema_version";
    let (last, id, schema): (Option<Vec<u8>>, _, u32) =
        connection.query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let last = last.and_then(|bytes| Mark::at_end(&bytes));
    let Mark { id: before, schema: schema_before, .. } = last.unwrap_or_default();
    let mark = Mark { id, before, schema: schema.to_be_bytes(), schema_before };
    let put = "INSERT INTO wal_mark (id, mark) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET mark = excluded.mark";
    connection.execute(put, [mark.to_bytes()])?;
    Ok(last.is_none())
}

/// Renews the mark as the first one of a file: one that this transaction has written before is never in the file.
pub(in crate::sqlite) fn renew_first(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM wal_mark", [])?;
    renew(connection).map(drop)
}

/// Sets `is_due` after each complete checkpoint. Takes the place of SQLite's own checkpoints after commits.
pub(in crate::sqlite) fn note_checkpoints(
    connection: &mut Connection,
    is_due: &Arc<AtomicBool>,
) -> rusqlite::Result<()> {
    let is_due = Arc::clone(is_due);
    let mut next_large = LARGE;
    connection.wal_hook(Some(move |wal: &mut Wal, pages| {
        gauge!(LOG_BYTES).set(f64::from(pages) * PAGE);
        if is_newly_large(pages, &mut next_large) {
            tracing::warn!(
                mib = pages / 256,
                "the write-ahead log grows: another program may have read the file for long; end it, or the disk fills"
            );
        }
        // The default mode does not wait for readers. A failed checkpoint is repeated after the next commit.
        if pages >= CHECKPOINT
            && let Ok((log, copied)) = wal.checkpoint_v2(Default::default())
            && log == copied
        {
            is_due.store(true, Ordering::Relaxed);
        }
        Ok(())
    }))
}

/// True if a log has this many pages for the first time: [`LARGE`], or twice as many as the last time.
fn is_newly_large(pages: i32, next: &mut i32) -> bool {
    if pages < LARGE {
        *next = LARGE;
    }
    let is_large = pages >= *next;
    if is_large {
        *next = pages.saturating_mul(2);
    }
    is_large
}

/// Checks the log beside a file, if there is one. The file must not be open. Returns false if the log may be another
/// file's: earlier versions of this program wrote no marks, and damage may have taken the mark of the file.
///
/// # Errors
/// If the log is damaged or certainly another file's, or the file is cut so short that SQLite would remove its log.
pub(in crate::sqlite) fn check(path: &Path) -> Result<bool, OpenError> {
    let Some(log) = wal::read(path)? else { return Ok(true) };
    let cut_off = || OpenError::Damaged("it is cut off, and its write-ahead log is there".to_owned());
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OpenError::StrayLog),
        file => file?,
    };
    let is_certain = belongs_to(&log, &file)?.ok_or_else(cut_off)?;
    match log.damage() {
        None => Ok(is_certain),
        Some(damage) => Err(OpenError::Damaged(format!("write-ahead log: {damage}"))),
    }
}

/// True if a log certainly belongs to a file, false if it may not; none if the file is cut off.
fn belongs_to(log: &Log, mut file: &File) -> Result<Option<bool>, OpenError> {
    let mut header = [0; SCHEMA.end];
    if !read_whole(&mut file, &mut header)? {
        return Ok(None);
    }
    // The marks with their pages, and the numbers of the schema in the versions of page 1.
    let (mut marks, mut schemas) = (Vec::new(), Vec::new());
    log.each(|frame, page| {
        if frame.number == 1 {
            schemas.extend(page[SCHEMA].first_chunk::<4>().copied());
        }
        marks.extend(Mark::at_end(page).map(|mark| (u64::from(frame.number), mark)));
        Ok(())
    })?;
    let Some((page, first)) = marks.first() else { return Ok(Some(false)) };
    let mut bytes = vec![0; log.page];
    file.seek(SeekFrom::Start(page.saturating_sub(1) * log.page as u64))?;
    let mark = if read_whole(&mut file, &mut bytes)? { Mark::at_end(&bytes) } else { None };
    // Another program may have changed the schema before the first mark.
    let is_copy = header.starts_with(wal::FILE_MAGIC)
        && first.schema == first.schema_before
        && header[SCHEMA] != first.schema
        && !schemas.iter().any(|schema| header[SCHEMA] == *schema);
    let is_known = |id| id == first.before || marks.iter().any(|(_, mark)| mark.id == id);
    if mark.is_some_and(|mark| is_copy || !is_known(mark.id)) {
        return Err(OpenError::StrayLog);
    }
    // Without a mark, the file has none yet, or the page of the mark is damaged.
    Ok(Some(is_known(mark.unwrap_or_default().id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grows_is_logged_each_time_that_it_has_doubled() {
        let mut next = LARGE;
        let sizes = [LARGE - 1, LARGE, LARGE + 1, 2 * LARGE, 3 * LARGE, 10, LARGE];
        let logged = sizes.map(|pages| is_newly_large(pages, &mut next));
        assert_eq!(logged, [false, true, false, true, false, false, true]);
    }
}
