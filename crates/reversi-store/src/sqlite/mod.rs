//! A store in one SQLite file.
//!
//! ```text
//!   actors ──append──▶ queue ──▶ writer thread ── one commit for all that waits ──▶ file ◀── reader threads ◀── questions
//! ```
//!
//! The writer thread commits together all writes queued during the previous commit. SQLite tools may read the file
//! while the server runs.
//!
//! ```text
//!   append ──▶ log (a row a commit) ──when it is long, a part with each commit──▶ states, runs (a row a room and flush)
//! ```
//!
//! Appends go to the log first, where moves of a thousand rooms share a page. A long log is flushed into the tables,
//! where a room's events of one flush share a row. Until then the write-behind table also holds them.

pub(super) mod backup;
mod damage;
pub(super) mod doctor;
mod done_requests;
mod error;
mod explorer;
mod games;
mod log;
mod players;
mod reader;
mod retention;
mod rooms;
mod scan;
mod schema;
mod tournaments;
mod transfer;
mod wal;
mod writer;

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::Connection;

pub use error::OpenError;

use damage::{DamagedRows, found_by, is_damage_of_file, is_read_failure};
use log::{LogEntry, write_behind::WriteBehind};
use reader::{Open, Reader};
use reversi_engine::rules::Position;
use reversi_room::{DisplayName, GameId, GameRecord, PlayerId, Profile, Room, RoomId, Seq, Timestamp, TournamentId};
use schema::{OpenedFile, is_unwritable};
use writer::Writer;

use super::{
    archive::{Archive, ArchiveSize, GameFilter, GameKey, GamePage, RankingFilter, RankingKey, RankingPage, Retention},
    ban::Ban,
    contestant::Contestant,
    explorer::{Exploration, ExplorerFilter},
    files::{beside, private},
    journal::{
        Append, AppendError, AppendFuture, BoxFuture, DoneRequest, FaultHook, History, Journal, StoreError, StoreFuture,
    },
    player_stats::PlayerStats,
    player_store::{PlayerKey, PlayerStore, StoredPlayer},
    shard::Shard,
    tournament::{StoredTournament, TournamentAppend, TournamentJournal, TournamentKey, TournamentRows},
    transfer::{FormerPlayer, Restored, Standing, Transfer},
};

/// Bytes at which the log is flushed into the tables. More makes longer runs, and a longer start after a crash.
const LOG_LIMIT: usize = 4 << 20;

/// A store in one file. Dropping it completes all queued writes and ends its threads.
pub struct SqliteStore {
    writer: Writer,
    /// Separate from the archive's, so that reading a room does not wait for a long query.
    rooms: Reader,
    archive: Reader,
    damaged: Arc<DamagedRows>,
    /// Locked while the file is in use. The last field, as it must be closed after SQLite's connections: closing any
    /// descriptor of the file releases SQLite's own locks.
    _lock: File,
}

impl SqliteStore {
    /// The name of the file in its folder.
    pub const FILE: &str = "reversi.db";

    /// Opens the store in a folder; creates both if necessary.
    ///
    /// # Errors
    /// When another server uses the file, or the folder or file cannot be used.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Self::with_faults(folder, Box::new(|_, _| None))
    }

    /// As [`SqliteStore::open`], with appends that fail as `fault` returns; for tests.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub fn with_faults(folder: &Path, fault: FaultHook) -> Result<Self, OpenError> {
        Self::start(folder, fault, LOG_LIMIT)
    }

    /// As [`SqliteStore::open`], with a flush of the log at `log_limit` bytes; for tests.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub fn with_log_limit(folder: &Path, log_limit: usize) -> Result<Self, OpenError> {
        Self::start(folder, Box::new(|_, _| None), log_limit)
    }

    fn start(folder: &Path, fault: FaultHook, log_limit: usize) -> Result<Self, OpenError> {
        create_folder(folder)?;
        let path = folder.join(Self::FILE);
        let copy = unfinished(&path);
        if copy.join(Self::FILE).exists() && require(&path).is_err() {
            return Err(OpenError::Unfinished(copy));
        }
        if !path.exists() {
            wal::mark::check(&path)?;
        }
        create_file(&path)?;
        let lock = lock(folder)?;
        let has_own_log = wal::mark::check(&path)?;
        let mut file = schema::create(&path)?;
        let damaged: Arc<DamagedRows> = Arc::default();
        if !(has_own_log && file.marks)
            && let Some(damage) = found_by(&file.connection, "quick_check")
        {
            damaged.set_malformed(&damage);
        }
        if file.unwritable.is_none() {
            let log = WriteBehind::read(&file.connection, log_limit, &damaged)?;
            file.unwritable = match log.flush_all(&mut file.connection) {
                Ok(()) => None,
                // What is in the log can be read all the same.
                Err(error) if is_damage_of_file(&error) => {
                    damaged.note_malformed_file(&error);
                    tracing::error!(%error, "the log could not be flushed into the tables; see `reversi doctor`");
                    None
                }
                Err(error) if is_unwritable(&error) => Some(error),
                Err(error) => return Err(error.into()),
            };
        }
        if let Some(reason) = &file.unwritable {
            tracing::warn!(%reason, "the file can be read but not written; changes are refused until it can be written");
        }
        let writer = Writer::start(&path, file, fault, log_limit, Arc::clone(&damaged))?;
        Self::with_readers(&path, schema::read, writer, damaged, lock)
    }

    /// Opens the store in a folder to copy from it. Upgrades an older file, and does not change one of the present
    /// version.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`], and when there is none; then nothing is created.
    pub fn open_source(folder: &Path) -> Result<Self, OpenError> {
        let path = folder.join(Self::FILE);
        require(&path)?;
        let lock = lock(folder)?;
        wal::mark::check(&path)?;
        let connection = schema::read_source(&path)?.connection;
        match schema::version(&connection)? {
            0 => return Err(OpenError::Missing),
            version if schema::is_older(version) => {
                drop((connection, lock));
                return Self::open(folder);
            }
            _ => {}
        }
        let file = OpenedFile { connection, unwritable: None, is_source: true, marks: false };
        let damaged = Arc::default();
        let writer = Writer::start(&path, file, Box::new(|_, _| None), LOG_LIMIT, Arc::clone(&damaged))?;
        Self::with_readers(&path, schema::read_source, writer, damaged, lock)
    }

    fn with_readers(
        path: &Path,
        open: Open,
        writer: Writer,
        damaged: Arc<DamagedRows>,
        lock: File,
    ) -> Result<Self, OpenError> {
        let reader = |name| Reader::start(path, name, open, Arc::clone(&damaged));
        Ok(Self { writer, rooms: reader("store-rooms")?, archive: reader("store-archive")?, damaged, _lock: lock })
    }

    async fn read_room(&self, room: RoomId) -> Result<Option<History>, StoreError> {
        let pending = self.writer.read_pending(move |write_behind| write_behind.pending(room)).await?;
        let load = move |connection: &Connection| match rooms::load(connection, room, &pending) {
            // Not `Damaged`, for which a room is mended.
            Err(error) if is_read_failure(&error) => Ok(Err(StoreError::Unavailable(error.to_string()))),
            read => read.map(Ok),
        };
        self.rooms.ask(load).await?
    }

    async fn read_rooms(&self, after: Option<RoomId>, limit: usize) -> Result<rooms::RoomsPage, StoreError> {
        let pending = self.writer.read_pending(move |write_behind| write_behind.all_pending(after)).await?;
        let rows = Arc::clone(&self.damaged);
        self.rooms.ask(move |connection| rooms::page(connection, &rows, after, limit, &pending)).await
    }

    /// Replaces a damaged room by what can be used of it, and logs what is lost. Returns false if nothing can be used.
    async fn mend(&self, room: RoomId, error: &str) -> bool {
        let name = room.to_string();
        // Another try would flush the log for each query.
        if self.damaged.has("lost rooms", &name) {
            return false;
        }
        let mended = self.writer.mend(room).await;
        match &mended {
            Ok(meaning) => self.damaged.note("open rooms", &name, error, &format!("a room is damaged: {meaning}")),
            Err(_) => self.damaged.note("lost rooms", &name, error, "a row is damaged, and its room cannot be opened"),
        }
        mended.is_ok()
    }

    /// Executes a write, and returns what it counts.
    async fn count(
        &self,
        write: impl Fn(&Connection) -> rusqlite::Result<usize> + Send + 'static,
    ) -> Result<usize, StoreError> {
        let counted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&counted);
        // Stored, not added: after a rollback this is executed again.
        let write = move |connection: &Connection| {
            count.store(write(connection)?, Ordering::Relaxed);
            Ok(())
        };
        self.writer.write(write).await?;
        Ok(counted.load(Ordering::Relaxed))
    }
}

/// Creates the folder, readable only by its owner: it contains chats and private games.
fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The file that a server locks while it uses the folder. On Linux it is the database itself: its `flock` is
/// independent of SQLite's locks, and the lock cannot be removed without the data. On other systems a lock of the
/// database would block SQLite, so it is a file of its own.
const LOCKED_FILE: &str = if cfg!(target_os = "linux") { SqliteStore::FILE } else { "reversi.lock" };

/// Locks the folder. Waits up to [`schema::PATIENCE`] for a server that is about to end.
fn lock(folder: &Path) -> Result<File, OpenError> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        match try_lock(folder) {
            Err(OpenError::InUse) => std::thread::sleep(schema::PATIENCE / TRIES),
            locked => return locked,
        }
    }
    Err(OpenError::InUse)
}

fn try_lock(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(LOCKED_FILE);
    create_file(&path)?;
    // Opened again each time: a backup may have replaced the file.
    let file = File::open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Fails without a file with data.
fn require(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(file) if file.is_file() && file.len() > 0 => Ok(()),
        Err(error) if ![ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Err(error.into()),
        _ => Err(OpenError::Missing),
    }
}

/// The folder of a store that is to become this file.
fn unfinished(file: &Path) -> PathBuf {
    beside(file, ".unfinished")
}

/// Creates an empty file, readable only by its owner, if there is none. SQLite gives its other files the same mode.
fn create_file(path: &Path) -> std::io::Result<()> {
    match private().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

impl Journal for SqliteStore {
    fn is_malformed(&self) -> bool {
        self.damaged.is_malformed.load(Ordering::Relaxed)
    }

    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        LogEntry::new(&append).map_or_else(|error| Err(error).into(), |entry| self.writer.append(entry))
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        Box::pin(self.read_room(room))
    }

    fn recover(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        Box::pin(async move {
            match self.read_room(room).await {
                Err(StoreError::Damaged(error)) if self.mend(room, &error).await => self.read_room(room).await,
                read => read,
            }
        })
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        self.rooms.ask(move |connection| Ok(done_requests::get(connection, key, now)?))
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        Box::pin(async move {
            let (rooms, damaged) = self.read_rooms(after, limit).await?;
            let mut is_mended = false;
            for (room, error) in damaged {
                is_mended |= self.mend(room, &error).await;
            }
            if is_mended { Ok(self.read_rooms(after, limit).await?.0) } else { Ok(rooms) }
        })
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| rooms::mark_alive(connection, now))
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |connection| {
            rooms::last_alive(connection).or_else(|error| damaged.pass_over("alive", "1", error).map(|()| None))
        })
    }
}

impl Archive for SqliteStore {
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| games::page(connection, &damaged, &filter, after, limit))
    }

    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| damaged.noted("games", id, games::get(connection, id)))
    }

    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats> {
        let damaged = Arc::clone(&self.damaged);
        let read = |connection: &Connection, who: &Contestant| Ok(games::standing(connection, who)?);
        self.archive.ask(move |connection| damaged.noted("standings", &who, read(connection, &who)))
    }

    fn size(&self) -> StoreFuture<'_, ArchiveSize> {
        self.archive.ask(|connection| Ok(retention::size(connection)?))
    }

    fn ranking(&self, filter: RankingFilter, after: Option<RankingKey>, limit: usize) -> StoreFuture<'_, RankingPage> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| games::ranking(connection, &damaged, &filter, after.as_ref(), limit))
    }

    fn explore(&self, position: Position, filter: ExplorerFilter) -> StoreFuture<'_, Exploration> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| explorer::explore(connection, &damaged, position, &filter))
    }

    fn count_openings(&self, skip: usize, limit: usize, now: Timestamp) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            if !self.archive.ask(move |connection| explorer::has_uncounted(connection, skip, now)).await? {
                return Ok(0);
            }
            let damaged = Arc::clone(&self.damaged);
            self.count(move |connection| explorer::count(connection, &damaged, [skip, limit], now)).await
        })
    }

    fn import(&self, games: Vec<GameRecord>) -> StoreFuture<'_, usize> {
        Box::pin(self.count(move |connection| {
            games.iter().try_fold(0, |new, game| Ok(new + usize::from(games::enter(connection, game)?)))
        }))
    }

    fn make_provisional(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| games::make_provisional(connection, player))
    }

    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(self.count(move |connection| retention::trim(connection, retention, now, limit)))
    }
}

impl PlayerStore for SqliteStore {
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |connection| players::all(connection, &damaged))
    }

    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| damaged.noted("players", "by a key", players::find(connection, player)))
    }

    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| damaged.noted("players", player, players::profile(connection, player)))
    }

    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| players::named(connection, &damaged, &name, limit))
    }

    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(self.count(move |connection| players::put(connection, &player)).await? > 0) })
    }

    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| players::remove(connection, player))
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| players::record_seen(connection, &seen))
    }

    fn bans(&self) -> StoreFuture<'_, Vec<Ban>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |connection| players::bans(connection, &damaged))
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| players::put_ban(connection, &ban, now))
    }
}

impl TournamentJournal for SqliteStore {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        let (expected, rows) = (append.expected, TournamentRows::from(append));
        Box::pin(self.writer.append_by(move |connection| tournaments::append(connection, expected, &rows)))
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        Box::pin(async move {
            // As for a room, so that a commit of unknown outcome is made certain first.
            self.writer.read_pending(|_| ()).await?;
            let damaged = Arc::clone(&self.damaged);
            let load =
                move |connection: &Connection| damaged.noted("tournaments", id, tournaments::load(connection, id));
            self.rooms.ask(load).await
        })
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        Box::pin(async move {
            self.writer.read_pending(|_| ()).await?;
            let damaged = Arc::clone(&self.damaged);
            let last = move |connection: &Connection| {
                damaged.noted("tournaments", id, tournaments::last(connection, id).map_err(Into::into))
            };
            self.rooms.ask(last).await
        })
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |connection| {
            let mut running = tournaments::running(connection, &damaged)?;
            running.retain(|id| shards.contains(&Shard::of_tournament(*id)));
            Ok(running)
        })
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |connection| tournaments::page(connection, &damaged, unfinished, before, limit))
    }
}

impl Transfer for SqliteStore {
    fn former_players(&self, after: Option<PlayerId>, limit: usize) -> StoreFuture<'_, Vec<FormerPlayer>> {
        self.archive.ask(move |connection| transfer::former_players(connection, after, limit))
    }

    fn stored_games(&self, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, Vec<GameRecord>> {
        self.archive.ask(move |connection| transfer::stored_games(connection, after, limit))
    }

    fn standings(&self, after: Option<Contestant>, limit: usize) -> StoreFuture<'_, Vec<Standing>> {
        self.archive.ask(move |connection| transfer::standings(connection, after.as_ref(), limit))
    }

    fn restore(&self, restored: Restored) -> StoreFuture<'_, ()> {
        self.writer.write(move |connection| transfer::restore(connection, &restored))
    }
}
