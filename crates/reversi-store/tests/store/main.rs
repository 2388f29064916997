//! Tests of the properties of every store, on each kind, and of the file store.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod backup;
mod concurrent_writes;
mod damage;
mod doctor;
mod explorer;
mod failing_rows;
#[path = "../../../reversi-room/tests/room/fixtures/mod.rs"]
mod fixtures;
#[cfg(target_os = "linux")]
mod full_disk;
mod games;
mod import;
mod journal;
mod log;
mod lossy_folder;
mod opening;
mod players;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
mod retention;
mod salvage;
mod sample_files;
mod tournaments;
#[cfg(all(unix, feature = "postgres"))]
mod transfer;

use std::path::Path;

use reversi_room::{BanReason, DisplayName, Event, Fact, GameRecord, Profile, Room, RoomId, Seq, Timestamp};
use reversi_store::{
    Append, AppendError, Ban, BanSubject, EndedGame, Journal, MemoryStore, RatingWeight, SqliteStore, Store,
    StoredPlayer,
};
use tempfile::TempDir;

use crate::fixtures::test_room::TestRoom;

/// Tests of a property, each on an empty store of another kind.
macro_rules! on_each {
    ($property_name:ident, $property:expr) => {
        mod $property_name {
            use super::*;

            #[tokio::test]
            async fn in_memory() {
                crate::check(&crate::Store::of(crate::MemoryStore::default()), $property).await;
            }

            #[tokio::test]
            async fn in_a_file() {
                crate::check(&crate::Place::Folder(crate::folder()).open().await, $property).await;
            }

            #[cfg(all(unix, feature = "postgres"))]
            #[reversi_needs::needs(postgres)]
            #[tokio::test]
            async fn in_postgres() {
                crate::check(&crate::postgres::database().open().await, $property).await;
            }
        }
    };
}
pub(crate) use on_each;

/// Tests of a property of each kind of store that outlives its process.
macro_rules! on_each_place {
    ($property_name:ident, $property:expr) => {
        mod $property_name {
            use super::*;

            #[tokio::test]
            async fn in_a_file() {
                crate::check(&crate::Place::Folder(crate::folder()), $property).await;
            }

            #[cfg(all(unix, feature = "postgres"))]
            #[reversi_needs::needs(postgres)]
            #[tokio::test]
            async fn in_postgres() {
                crate::check(&crate::Place::Database(crate::postgres::database()), $property).await;
            }
        }
    };
}
pub(crate) use on_each_place;

/// Lets the compiler infer the type of what a property is of.
async fn check<T>(of: &T, property: impl AsyncFn(&T)) {
    property(of).await;
}

/// Where a store keeps everything.
enum Place {
    Folder(TempDir),
    #[cfg(all(unix, feature = "postgres"))]
    Database(postgres::Database),
}

impl Place {
    async fn open(&self) -> Store {
        match self {
            Self::Folder(folder) => open(folder),
            #[cfg(all(unix, feature = "postgres"))]
            Self::Database(database) => database.open().await,
        }
    }

    /// Number of rows of a table.
    fn count(&self, table: &str) -> i64 {
        match self {
            Self::Folder(folder) => count(folder, table),
            #[cfg(all(unix, feature = "postgres"))]
            Self::Database(database) => {
                database.sql(&format!("SELECT count(*) FROM {table}")).parse().expect("a number")
            }
        }
    }
}

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

/// Opens the store of a folder.
fn open(folder: &TempDir) -> Store {
    Store::of(SqliteStore::open(folder.path()).expect("the store is opened"))
}

/// Opens the store of a folder, with a log of at most `limit` bytes.
fn open_with_log(folder: &TempDir, limit: usize) -> Store {
    Store::of(SqliteStore::with_log_limit(folder.path(), limit).expect("the store is opened"))
}

/// A copy of the folder as a crash now would leave it.
fn after_a_crash(running: impl AsRef<Path>) -> TempDir {
    let copy = folder();
    for name in [SqliteStore::FILE.to_owned(), format!("{}-wal", SqliteStore::FILE)] {
        std::fs::copy(running.as_ref().join(&name), copy.path().join(&name)).expect("copied");
    }
    copy
}

/// A copy of the folder, which no store uses.
fn after_a_stop(closed: &TempDir) -> TempDir {
    let copy = folder();
    std::fs::copy(closed.path().join(SqliteStore::FILE), copy.path().join(SqliteStore::FILE)).expect("copied");
    copy
}

/// Number of rows of a table.
fn count(folder: &TempDir, table: &str) -> i64 {
    connection(folder).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a table")
}

/// Number of events in the runs of a room, or of all rooms if none.
fn events(folder: &TempDir, room: Option<i64>) -> i64 {
    // The events after the state, which stays at the first event until it advances.
    let sql = "SELECT total(last - seq + (seq = 1)) FROM states JOIN (SELECT room, max(last) AS last FROM runs GROUP BY \
        room) USING (room) WHERE ?1 IS NULL OR room = ?1";
    connection(folder).query_row(sql, [room], |row| row.get::<_, f64>(0)).expect("tables") as i64
}

/// A second connection to the file, like that of any SQLite tool.
fn connection(folder: &TempDir) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.path().join(SqliteStore::FILE)).expect("a database")
}

fn room_id(number: u64) -> RoomId {
    RoomId::from_random(number)
}

/// The same history in another room.
fn moved(mut history: Vec<Event>, room: RoomId) -> Vec<Event> {
    let Fact::Created(creation) = &mut history[0].fact else { panic!("a history begins with a creation") };
    creation.id = room;
    history
}

/// The events of a room that was just created.
fn creation_of(room: RoomId) -> Vec<Event> {
    moved(TestRoom::lobby().history, room)
}

/// Appends events, without finished games.
async fn write(journal: &dyn Journal, room: RoomId, expected: Seq, events: &[Event]) -> Result<(), AppendError> {
    journal.append(Append { room, expected, events, games: &[] }).await
}

/// A ban, for ever unless it ends.
fn ban(subject: &str, until: Option<i64>) -> Ban {
    let name = || BanSubject::Name(DisplayName::parse(subject).expect("a name"));
    let subject = BanSubject::parse_network(subject).unwrap_or_else(|_| name());
    let reason = until.map(|_| BanReason::parse("spam").expect("a reason"));
    Ban { subject, reason, since: at(1), until: until.map(at) }
}

/// A player who has logged in.
fn stored_player(profile: Profile) -> StoredPlayer {
    StoredPlayer { profile, seats: 1, token: [7; 32], seen: at(1), claimed: false, availability: None, played: false }
}

/// Creates a room whose first append also stores finished games.
async fn archive(store: &Store, room: RoomId, games: &[GameRecord]) {
    let (events, games) = (creation_of(room), ended(games));
    store.journal.append(Append { room, expected: Seq(0), events: &events, games: &games }).await.expect("written");
    settle(store).await;
}

/// Settles all games that have ended.
async fn settle(store: &Store) {
    while store.archive.settle(usize::MAX).await.expect("settled") > 0 {}
}

/// Games as they end, each of full weight.
fn ended(games: &[GameRecord]) -> Vec<EndedGame> {
    games.iter().map(|record| EndedGame { record: record.clone(), weight: RatingWeight::FULL }).collect()
}

/// Appends a history like a room's actor, `step` events at a time. Returns the room and its finished games.
async fn drive(store: &Store, history: &[Event], step: usize) -> (Room, Vec<GameRecord>) {
    let mut room = Room::replay(&history[..1]).expect("a creation");
    let id = room.id();
    write(&*store.journal, id, Seq(0), &history[..1]).await.expect("written");
    let mut games = Vec::new();
    for events in history[1..].chunks(step) {
        let records = room.records(events);
        let append = Append { room: id, expected: room.seq(), events, games: &ended(&records) };
        store.journal.append(append).await.expect("written");
        events.iter().for_each(|event| room.apply(event));
        games.extend(records);
    }
    settle(store).await;
    (room, games)
}

async fn load(store: &Store, room: RoomId) -> Option<Room> {
    store.journal.load(room).await.expect("readable").map(reversi_store::History::latest)
}

async fn open_rooms(store: &Store) -> Vec<RoomId> {
    let rooms = store.journal.open_rooms(None, usize::MAX >> 1).await.expect("readable");
    rooms.iter().map(Room::id).collect()
}

/// A timestamp in seconds.
fn at(seconds: i64) -> Timestamp {
    Timestamp(seconds * 1_000_000)
}
