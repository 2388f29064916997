//! A folder on a disk that loses power: what SQLite has synced stays, and of the rest any part.
//!
//! The files are real, so that SQLite works as ever. What it writes is recorded as well (`sqlite_hooks`), and a power
//! cut replaces each file with its synced bytes and some of the sectors written since.

#![allow(dead_code, reason = "no test program uses all of it")]

mod sqlite_hooks;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::Thread,
};

use tempfile::TempDir;

/// A disk writes this many bytes completely or not at all.
const SECTOR: usize = 512;

/// SQLite's shared memory, which no power cut preserves.
const SHARED_MEMORY: &str = "-shm";

pub(crate) struct LossyFolder {
    path: PathBuf,
    state: Mutex<State>,
    gate_opened: Condvar,
    _dir: TempDir,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, LossyFile>,
    /// The number of accesses until the power fails; none if it does not.
    left: Option<usize>,
    off: bool,
    /// Whether syncs have no effect.
    ignores_syncs: bool,
    fails_syncs: bool,
    /// A file and an offset in it at which it cannot be read.
    unreadable: Option<(String, i64)>,
    gate: Gate,
    read_only: bool,
}

/// Where the writer thread waits for the test.
#[derive(Default)]
enum Gate {
    #[default]
    Open,
    /// The next write waits, and wakes this thread.
    Closed(Thread),
    /// A write waits.
    Reached,
}

/// The power is off, so that nothing more is written, or the disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PowerOff;

/// What an access does to a file.
pub(crate) enum Access<'a> {
    Open,
    Write { offset: usize, bytes: &'a [u8] },
    Truncate { len: usize },
    Sync,
    Delete { synced: bool },
}

#[derive(Default)]
struct LossyFile {
    /// The bytes that survive a power cut. None if the file itself does not.
    synced: Option<Vec<u8>>,
    unsynced: Vec<Change>,
}

enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { len: usize },
    Delete,
}

impl LossyFolder {
    pub(crate) fn create(ignores_syncs: bool) -> Arc<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        // As SQLite names it.
        let path = dir.path().canonicalize().expect("a path");
        let state = Mutex::new(State { ignores_syncs, ..State::default() });
        let folder = Arc::new(Self { path, state, gate_opened: Condvar::new(), _dir: dir });
        sqlite_hooks::add(&folder);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Switches the power off after this many accesses.
    pub(crate) fn cut_after(&self, accesses: Option<usize>) {
        self.state().left = accesses;
    }

    pub(crate) fn switch_off(&self) {
        self.state().off = true;
    }

    pub(crate) fn is_off(&self) -> bool {
        self.state().off
    }

    /// Makes the disk read-only, or writable again, for files that are opened from now on.
    pub(crate) fn set_read_only(&self, read_only: bool) {
        self.state().read_only = read_only;
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.state().read_only
    }

    /// Makes the disk fail syncs, or not any more.
    pub(crate) fn fail_syncs(&self, fails: bool) {
        self.state().fails_syncs = fails;
    }

    /// Makes the disk fail reads at this offset of a file.
    pub(crate) fn fail_reads(&self, name: &str, offset: i64) {
        self.state().unreadable = Some((name.to_owned(), offset));
    }

    pub(crate) fn can_read(&self, name: &str, offset: i64) -> bool {
        !matches!(&self.state().unreadable, Some((file, at)) if file == name && *at == offset)
    }

    /// Makes the next write wait, and wakes this thread when it does.
    pub(crate) fn close_gate(&self, wake: Thread) {
        self.state().gate = Gate::Closed(wake);
    }

    /// Whether a write waits.
    pub(crate) fn gate_is_reached(&self) -> bool {
        matches!(self.state().gate, Gate::Reached)
    }

    pub(crate) fn open_gate(&self) {
        self.state().gate = Gate::Open;
        self.gate_opened.notify_all();
    }

    /// Records an access, before it is made.
    pub(crate) fn access(&self, name: &str, access: Access<'_>) -> Result<(), PowerOff> {
        let mut state = self.state();
        if let (Access::Write { .. }, Gate::Closed(_)) = (&access, &state.gate) {
            state = self.wait_at_gate(state);
        }
        if let Some(left) = &mut state.left {
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => state.off = true,
            }
        }
        if state.off || (state.fails_syncs && matches!(access, Access::Sync)) {
            return Err(PowerOff);
        }
        let ignores_syncs = state.ignores_syncs;
        let file = state.files.entry(name.to_owned()).or_default();
        match access {
            Access::Open => self.find(name, file),
            Access::Write { offset, bytes } => file.unsynced.push(Change::Write { offset, bytes: bytes.to_vec() }),
            Access::Truncate { len } => file.unsynced.push(Change::Truncate { len }),
            Access::Delete { synced: false } => file.unsynced.push(Change::Delete),
            Access::Delete { synced: true } => *file = LossyFile::default(),
            Access::Sync if ignores_syncs => {}
            Access::Sync => {
                let is_new = file.synced.is_none();
                file.sync(|| true);
                if is_new {
                    // SQLite then syncs the folder too.
                    state.files.values_mut().for_each(LossyFile::forget_deleted);
                }
            }
        }
        Ok(())
    }

    /// Adds a file that exists and was not written through SQLite.
    fn find(&self, name: &str, file: &mut LossyFile) {
        // A file system that has the new file has lost the old one.
        file.forget_deleted();
        if file.synced.is_none() && file.unsynced.is_empty() {
            file.synced = fs::read(self.path.join(name)).ok();
        }
    }

    fn wait_at_gate<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if let Gate::Closed(wake) = std::mem::replace(&mut state.gate, Gate::Reached) {
            wake.unpark();
        }
        let waits = |state: &mut State| matches!(state.gate, Gate::Reached);
        self.gate_opened.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches the power on again, with the files that the disk has. No connection may be open.
    /// `kept` says of each sector and file that was not synced whether it stays.
    pub(crate) fn restore(&self, mut kept: impl FnMut() -> bool) {
        let mut state = self.state();
        (state.off, state.left) = (false, None);
        for (name, file) in &mut state.files {
            // A file that was never synced may not exist.
            if file.synced.is_some() || (!file.unsynced.is_empty() && kept()) {
                file.sync(&mut kept);
            }
            file.unsynced.clear();
            let path = self.path.join(name);
            match &file.synced {
                Some(bytes) => fs::write(path, bytes).expect("written"),
                None if path.exists() => fs::remove_file(path).expect("removed"),
                None => {}
            }
        }
        for entry in fs::read_dir(&self.path).expect("a folder").flatten() {
            if entry.file_name().to_string_lossy().ends_with(SHARED_MEMORY) {
                fs::remove_file(entry.path()).expect("removed");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LossyFile {
    /// Makes a deletion permanent.
    fn forget_deleted(&mut self) {
        if matches!(self.unsynced.last(), Some(Change::Delete)) {
            *self = Self::default();
        }
    }

    /// Makes the changes permanent, of a write the sectors for which `keeps` is true. The rest is lost.
    fn sync(&mut self, mut keeps: impl FnMut() -> bool) {
        let bytes = self.synced.get_or_insert_default();
        let mut deleted = false;
        for change in std::mem::take(&mut self.unsynced) {
            match change {
                Change::Write { mut offset, bytes: written } => {
                    let mut rest = &written[..];
                    while !rest.is_empty() {
                        let (sector, others) = rest.split_at(rest.len().min(SECTOR - offset % SECTOR));
                        let end = offset + sector.len();
                        if keeps() {
                            bytes.resize(bytes.len().max(end), 0);
                            bytes[offset..end].copy_from_slice(sector);
                        }
                        (offset, rest) = (end, others);
                    }
                }
                Change::Truncate { len } if keeps() => bytes.resize(len, 0),
                Change::Truncate { .. } => {}
                Change::Delete => deleted = keeps(),
            }
        }
        if deleted {
            self.synced = None;
        }
    }
}
