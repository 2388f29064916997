//! A store in one SQLite file.
//!
//! ```text
//!   actors ──append──▶ queue ──▶ writer thread ── one commit for all that waits ──▶ file ◀── reader threads ◀── questions
//! ```
//!
//! The writer alone writes: it takes what has gathered while it wrote, and commits it together, so that the disk is
//! waited for once. Before that it lets others that can run go first, while that brings it more. Any SQLite tool may look
//! into the file, also while the server runs.
//!
//! ```text
//!   append ──▶ log (one row a commit) ──when it is long, a part with each commit──▶ states, runs
//! ```
//!
//! What is appended goes to the log first, where moves in a thousand rooms lie side by side, and is moved to the tables,
//! where those of a room that move together lie in one row, when there is much of each. Until then the writer has it in
//! memory, too: it tells those who read, and knows the last event of a room without looking it up.

mod backlog;
mod games;
mod log;
mod players;
mod reader;
mod rooms;
mod schema;
mod writer;

use std::{
    fs::{self, File, TryLockError},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::Connection;

pub use schema::OpenError;
pub use writer::COMMIT_WRITES;

use super::{
    archive::{Archive, GameFilter, GameKey, GamePage},
    journal::{Append, AppendFuture, BoxFuture, FaultHook, History, Journal, Unavailable},
    player_stats::{Contestant, PlayerStats},
    player_store::{PlayerStore, StoredPlayer},
};
use crate::room::{GameId, GameRecord, PlayerId, Room, RoomId, Timestamp};
use backlog::Backlog;
use log::Entry;
use reader::Reader;
use writer::Writer;

/// Bytes of the log after which it is moved into the tables: so much is read when a server starts behind one that died,
/// and so many events of a room are found together when they are moved.
const LOG: usize = 4 << 20;

/// Keeps everything in one file. Its threads end when it is dropped, with what was asked of them done.
pub struct SqliteStore {
    writer: Writer,
    /// Rooms that are waited for do not wait for those who go through the archive.
    rooms: Reader,
    archive: Reader,
    /// Held as long as the file is used.
    _lock: File,
}

impl SqliteStore {
    /// The file's name in its folder.
    pub const FILE: &str = "reversi.db";

    /// Opens the store in a folder, or makes both.
    ///
    /// # Errors
    /// When another server has it, or it cannot be used: the error says why.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Self::with_faults(folder, Box::new(|_, _| None))
    }

    /// As [`SqliteStore::open`], with appends that fail as `fault` says; for tests.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn with_faults(folder: &Path, fault: FaultHook) -> Result<Self, OpenError> {
        Self::start(folder, fault, LOG)
    }

    /// As [`SqliteStore::open`], with a log that may have so many bytes before it is moved into the tables; for tests.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn with_log(folder: &Path, most: usize) -> Result<Self, OpenError> {
        Self::start(folder, Box::new(|_, _| None), most)
    }

    fn start(folder: &Path, fault: FaultHook, most: usize) -> Result<Self, OpenError> {
        make(folder)?;
        let lock = File::create(folder.join("reversi.lock"))?;
        take(&lock)?;
        let path = folder.join(Self::FILE);
        begin(&path)?;
        let mut connection = schema::create(&path)?;
        Backlog::read(&connection, most)?.settle(&mut connection)?;
        Ok(Self {
            writer: Writer::start(&path, connection, fault, most)?,
            rooms: Reader::start(&path, "store-rooms")?,
            archive: Reader::start(&path, "store-archive")?,
            _lock: lock,
        })
    }

    /// Puts games into the archive that were played elsewhere, all of them or none; they change nobody's standing. How
    /// many of them were not there yet.
    ///
    /// # Errors
    /// When nothing was written.
    pub async fn import(&self, games: Vec<GameRecord>) -> Result<usize, Unavailable> {
        let added = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&added);
        let write = move |connection: &Connection| -> rusqlite::Result<()> {
            let mut new = 0;
            for game in &games {
                new += usize::from(games::enter(connection, game)?);
            }
            // Not added up: what was rolled back is carried out once more.
            count.store(new, Ordering::Relaxed);
            Ok(())
        };
        self.writer.write(write).await?;
        Ok(added.load(Ordering::Relaxed))
    }
}

/// Makes the folder for its owner's eyes only: chats and private games are in it.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Takes the lock, for which a server that is just ending is waited for.
fn take(lock: &File) -> Result<(), OpenError> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(schema::PATIENCE / TRIES),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(OpenError::InUse)
}

/// Makes an empty file that nobody else can read, if there is none. What SQLite puts beside it is as private.
fn begin(path: &Path) -> std::io::Result<()> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.write(true).create_new(true).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

impl Journal for SqliteStore {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        Entry::of(&append).map_or_else(|error| Err(error).into(), |entry| self.writer.append(entry))
    }

    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, Unavailable>> {
        Box::pin(async move {
            let waiting = self.writer.look(move |backlog| backlog.waiting(room)).await?;
            self.rooms.ask(move |connection| rooms::load(connection, room, &waiting)).await
        })
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, Unavailable>> {
        Box::pin(async move {
            let waiting = self.writer.look(move |backlog| backlog.all_waiting(after)).await?;
            self.rooms.ask(move |connection| rooms::page(connection, after, limit, &waiting)).await
        })
    }

    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), Unavailable>> {
        self.writer.write(move |connection| rooms::mark_alive(connection, now))
    }

    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, Unavailable>> {
        self.rooms.ask(rooms::last_alive)
    }
}

impl Archive for SqliteStore {
    fn games(
        &self,
        filter: GameFilter,
        after: Option<GameKey>,
        limit: usize,
    ) -> BoxFuture<'_, Result<GamePage, Unavailable>> {
        self.archive.ask(move |connection| games::page(connection, &filter, after, limit))
    }

    fn game(&self, id: GameId) -> BoxFuture<'_, Result<Option<Arc<GameRecord>>, Unavailable>> {
        self.archive.ask(move |connection| games::get(connection, id))
    }

    fn player_stats(&self, who: Contestant) -> BoxFuture<'_, Result<PlayerStats, Unavailable>> {
        self.archive.ask(move |connection| Ok(games::standing(connection, &who)?))
    }
}

impl PlayerStore for SqliteStore {
    fn players(&self) -> BoxFuture<'_, Result<Vec<StoredPlayer>, Unavailable>> {
        self.rooms.ask(players::all)
    }

    fn insert_player(&self, player: StoredPlayer) -> BoxFuture<'_, Result<(), Unavailable>> {
        self.writer.write(move |connection| players::insert(connection, &player))
    }

    fn remove_player(&self, player: PlayerId) -> BoxFuture<'_, Result<(), Unavailable>> {
        self.writer.write(move |connection| players::remove(connection, player))
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> BoxFuture<'_, Result<(), Unavailable>> {
        self.writer.write(move |connection| players::record_seen(connection, &seen))
    }
}
