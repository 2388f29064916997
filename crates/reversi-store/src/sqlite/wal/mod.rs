//! SQLite's write-ahead log, which SQLite reads up to the first frame with a wrong checksum. After a crash such a frame
//! is normal: it belongs to a commit that was not acknowledged. It is damage if a whole commit follows directly behind
//! its own, since SQLite begins a commit only when the one before is on the disk. Behind a failed commit there is none:
//! the next commit overwrites it from its first frame on, and the frames that remain behind that one continue the
//! checksum of an older commit.
//!
//! ```text
//!   header │ frame │ frame │ ...      a frame: page number, pages of the file after a commit or 0, salts, checksum, page
//! ```

pub(super) mod mark;

use std::{
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use crate::files::beside;

/// What the file of a database begins with.
pub(super) const FILE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

const HEADER: usize = 32;

/// Bytes of a frame before its page.
const FRAME: usize = 24;

/// Bytes that a disk writes as a whole. After a crash, a longer part may be old in one sector and new in another.
const SECTOR: usize = 512;

/// The first field of a log whose checksums are of big-endian numbers. For little-endian ones its last bit is 0.
const BIG_ENDIAN: u32 = 0x377f_0683;

/// A log with commits.
pub(super) struct Log {
    file: File,
    /// Bytes of a page.
    pub(super) page: usize,
    /// The frames that are certainly committed.
    frames: Vec<Frame>,
    has_damaged_header: bool,
}

pub(super) struct Frame {
    /// The page.
    pub(super) number: u32,
    is_commit: bool,
    pub(super) is_sound: bool,
}

/// The path of the log of a file.
pub(super) fn path_of(file: &Path) -> PathBuf {
    beside(file, "-wal")
}

/// True if there is a log beside a file, also one without commits.
pub(super) fn exists(file: &Path) -> bool {
    fs::metadata(path_of(file)).is_ok_and(|log| log.len() > 0)
}

/// The log of a file; none without commits.
pub(super) fn read(file: &Path) -> io::Result<Option<Log>> {
    let file = match File::open(path_of(file)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = BufReader::new(&file);
    let mut header = [0; HEADER];
    if !read_whole(&mut bytes, &mut header)? {
        return Ok(None);
    }
    // The page size of the files of this program, if it is damaged.
    let page = Some(field(&header, 8) as usize).filter(|page| page.is_power_of_two() && (512..=65_536).contains(page));
    let page = page.unwrap_or(4_096);
    let is_big = field(&header, 0) == BIG_ENDIAN;
    let is_header_sound = sum([0, 0], is_big, &header[..24]) == [field(&header, 24), field(&header, 28)];
    let (mut frames, mut salts, mut chain) =
        (Vec::new(), [field(&header, 16), field(&header, 20)], [field(&header, 24), field(&header, 28)]);
    let (mut frame, mut committed, mut is_whole) = (vec![0; FRAME + page], 0, true);
    while read_whole(&mut bytes, &mut frame)? {
        let own = [field(&frame, 8), field(&frame, 12)];
        if !is_header_sound && frames.is_empty() {
            // A header that a crash has cut off has both salts of a new log, and these frames are of an old one.
            if own != salts && own[0] != salts[0] && own[1] != salts[1] {
                return Ok(None);
            }
            salts = own;
        }
        let stored = [field(&frame, 16), field(&frame, 20)];
        let is_sound = own == salts && sum(sum(chain, is_big, &frame[..8]), is_big, &frame[FRAME..]) == stored;
        let is_commit = field(&frame, 4) > 0;
        let place = HEADER + frames.len() * frame.len();
        frames.push(Frame { number: field(&frame, 0), is_commit, is_sound });
        chain = stored;
        is_whole &= is_sound;
        if is_commit && is_whole {
            committed = frames.len();
        }
        // Otherwise the flag may be of another commit, in a sector that a crash has left there.
        let is_own = is_sound || own == salts && place % SECTOR + FRAME <= SECTOR;
        is_whole |= is_commit && is_own;
    }
    frames.truncate(committed);
    Ok((committed > 0).then_some(Log { file, page, frames, has_damaged_header: !is_header_sound }))
}

/// Fills `bytes`. Returns false if the file ends first.
pub(super) fn read_whole(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// Four bytes as a number; 0 beyond the end.
pub(super) fn field(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// SQLite's checksum of further bytes, whose number is a multiple of eight.
fn sum([mut one, mut other]: [u32; 2], is_big: bool, bytes: &[u8]) -> [u32; 2] {
    let word = |bytes| if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    let words = bytes.as_chunks::<4>().0;
    for [even, odd] in words.as_chunks::<2>().0 {
        one = one.wrapping_add(word(*even)).wrapping_add(other);
        other = other.wrapping_add(word(*odd)).wrapping_add(one);
    }
    [one, other]
}

impl Log {
    /// What is damaged; none if SQLite reads all of it.
    pub(super) fn damage(&self) -> Option<String> {
        let all = self.frames.len();
        if self.has_damaged_header {
            return Some(format!("its header is damaged; SQLite would leave out its {all} pages"));
        }
        let first = self.frames.iter().position(|frame| !frame.is_sound)?;
        let commits = self.frames[first..].iter().filter(|frame| frame.is_commit).count();
        let damaged = self.frames.iter().filter(|frame| !frame.is_sound).count();
        Some(format!(
            "{damaged} of its {all} pages are damaged; SQLite would leave out these and the last {commits} commits"
        ))
    }

    /// Passes each frame with its page, in the order of writing.
    pub(super) fn each(&self, mut visit: impl FnMut(&Frame, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut file = BufReader::new(&self.file);
        let (mut header, mut page) = ([0; FRAME], vec![0; self.page]);
        file.seek(SeekFrom::Start(HEADER as u64))?;
        for frame in &self.frames {
            file.read_exact(&mut header)?;
            file.read_exact(&mut page)?;
            visit(frame, &page)?;
        }
        Ok(())
    }
}
