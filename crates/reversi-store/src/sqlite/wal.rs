//! SQLite's write-ahead log, which it reads up to the first frame with a wrong checksum: as after a crash, when the rest was not
//! on the disk yet and nobody was told of it. Damage looks the same, but a whole commit behind the next one is proof of it:
//! it was begun when the commits before it were on the disk.
//!
//! ```text
//!   header │ frame │ frame │ ...      a frame: page number, pages of the file after a commit or 0, salts, checksum, page
//! ```

use std::{
    fs::File,
    io::{self, BufReader, ErrorKind, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

const HEADER: usize = 32;

/// Bytes of a frame before its page.
const FRAME: usize = 24;

/// What a log begins with, if its checksums are of numbers with the highest byte first, and otherwise without the last bit.
const BIG_ENDIAN: u32 = 0x377f_0683;

/// A log that is there.
pub(super) struct Log {
    file: File,
    page: usize,
    frames: Vec<Frame>,
    has_damaged_header: bool,
}

struct Frame {
    number: u32,
    is_commit: bool,
    is_sound: bool,
}

/// The path of the log of a file.
pub(super) fn path_of(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// The log of a file; none if there is no frame.
pub(super) fn read(file: &Path) -> io::Result<Option<Log>> {
    let file = match File::open(path_of(file)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = BufReader::new(&file);
    let mut header = [0; HEADER];
    if read_whole(&mut bytes, &mut header)?.is_none() {
        return Ok(None);
    }
    let field = |at| number(&header, at);
    // The page size of the files of this program, if it is damaged.
    let page = Some(field(8) as usize).filter(|page| page.is_power_of_two() && (512..=65_536).contains(page));
    let page = page.unwrap_or(4_096);
    let is_big = field(0) == BIG_ENDIAN;
    let is_header_sound = sum([0, 0], is_big, &header[..24]) == [field(24), field(28)];
    let (mut frames, mut salts, mut chain) = (Vec::new(), [field(16), field(20)], [field(24), field(28)]);
    let mut frame = vec![0; FRAME + page];
    while read_whole(&mut bytes, &mut frame)?.is_some() {
        let own = [number(&frame, 8), number(&frame, 12)];
        if !is_header_sound && frames.is_empty() {
            // A header that a crash has cut off has both salts of a new log, and these frames are of an old one.
            if own != salts && own[0] != salts[0] && own[1] != salts[1] {
                return Ok(None);
            }
            salts = own;
        }
        let stored = [number(&frame, 16), number(&frame, 20)];
        let is_sound = own == salts && sum(sum(chain, is_big, &frame[..8]), is_big, &frame[FRAME..]) == stored;
        frames.push(Frame { number: number(&frame, 0), is_commit: number(&frame, 4) > 0, is_sound });
        chain = stored;
    }
    Ok(Some(Log { file, page, frames, has_damaged_header: !is_header_sound }).filter(|log| !log.frames.is_empty()))
}

/// Fills the bytes; none at the end.
fn read_whole(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<Option<()>> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
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
    /// The frames that are committed for sure.
    fn committed(&self) -> &[Frame] {
        let mut commits = (0..self.frames.len()).rev().filter(|&frame| {
            let Frame { is_commit, is_sound, .. } = self.frames[frame];
            is_commit && is_sound
        });
        let Some(last) = commits.next() else { return &[] };
        let before = commits.next().map_or(0, |commit| commit + 1);
        let is_whole = self.frames[before..=last].iter().all(|frame| frame.is_sound);
        &self.frames[..if is_whole { last + 1 } else { before }]
    }

    /// What is damaged; none if SQLite reads all of it.
    pub(super) fn damage(&self) -> Option<String> {
        let committed = self.committed();
        if self.has_damaged_header && !committed.is_empty() {
            return Some(format!("its header is damaged; SQLite would leave out its {} pages", committed.len()));
        }
        let first = committed.iter().position(|frame| !frame.is_sound)?;
        let commits = committed[first..].iter().filter(|frame| frame.is_commit).count();
        let damaged = committed.iter().filter(|frame| !frame.is_sound).count();
        Some(format!(
            "{damaged} of its {} pages are damaged; SQLite would leave out these and the last {commits} commits",
            committed.len()
        ))
    }

    /// Passes each sound page that is committed for sure, with its number, in the order of writing.
    pub(super) fn pages(&self, mut visit: impl FnMut(u32, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut file = &self.file;
        let mut page = vec![0; self.page];
        for (place, frame) in self.committed().iter().enumerate().filter(|(_, frame)| frame.is_sound) {
            file.seek(SeekFrom::Start((HEADER + place * (FRAME + self.page) + FRAME) as u64))?;
            file.read_exact(&mut page)?;
            visit(frame.number, &page)?;
        }
        Ok(())
    }
}
