//! A store with any row in its log can be opened, its rooms can be read, and opening it again changes none of them.
#![no_main]

#[path = "../../crates/reversi-room/tests/room/fixtures/test_room.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod test_room;

use std::{fs, path::Path, sync::LazyLock};

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use prost::encoding::encode_varint;
use reversi::store::{Journal as _, SqliteStore};
use reversi_room::{Room, RoomId, stored::encode_event};
use tempfile::TempDir;
use test_room::TestRoom;

/// A row as the store writes it, with damage.
#[derive(Arbitrary, Debug)]
struct Row {
    entries: Vec<Entry>,
    /// A byte that is replaced, before the checksum.
    damage: Option<(u16, u8)>,
    checksum: Option<u32>,
}

#[derive(Arbitrary, Debug)]
struct Entry {
    /// A room whose events are none of the sample's; else the sample's room.
    other_room: Option<u64>,
    events: Vec<StoredEvent>,
}

#[derive(Arbitrary, Debug)]
struct StoredEvent {
    /// Added to the number of the event.
    skipped: u8,
    bytes: Bytes,
}

#[derive(Arbitrary, Debug)]
enum Bytes {
    /// The next event of the sample.
    Next,
    Sample(u8),
    Any(Vec<u8>),
}

/// The start of a game of two players in Ada's room.
static SAMPLE: LazyLock<(RoomId, Vec<Vec<u8>>)> = LazyLock::new(|| {
    let test = TestRoom::two_players(test_room::default_settings());
    (test.room.id(), test.history.iter().map(encode_event).collect())
});

/// The file of an empty store.
static EMPTY: LazyLock<(TempDir, Vec<u8>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    drop(SqliteStore::open(folder.path()).expect("a store"));
    let file = fs::read(folder.path().join(SqliteStore::FILE)).expect("a file");
    (folder, file)
});

static TOKIO: LazyLock<tokio::runtime::Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().build().expect("a runtime"));

fuzz_target!(|rows: Vec<Row>| {
    let (folder, empty) = &*EMPTY;
    let file = folder.path().join(SqliteStore::FILE);
    fs::write(&file, empty).expect("written");
    let connection = rusqlite::Connection::open(&file).expect("a database");
    for (id, row) in (1_i64..).zip(&rows) {
        connection.execute("INSERT INTO log (id, entries) VALUES (?, ?)", (id, encode(row))).expect("a row");
    }
    drop(connection);
    let first = open(folder.path());
    assert_eq!(open(folder.path()), first);
});

/// The open rooms of a store. All of them can be read.
fn open(folder: &Path) -> Vec<Room> {
    let store = SqliteStore::open(folder).expect("a store");
    TOKIO.block_on(async {
        let rooms = store.open_rooms(None, usize::MAX).await.expect("readable");
        for room in &rooms {
            let history = store.load(room.id()).await.expect("readable").expect("an open room");
            assert_eq!(&history.latest(), room);
        }
        rooms
    })
}

fn encode(row: &Row) -> Vec<u8> {
    let (sample_room, sample) = &*SAMPLE;
    let mut bytes = vec![1];
    for entry in &row.entries {
        bytes.extend(entry.other_room.unwrap_or(sample_room.bits()).to_le_bytes());
        let (mut run, mut seq) = (Vec::new(), 0_usize);
        for event in &entry.events {
            seq += 1 + usize::from(event.skipped);
            let stored = match &event.bytes {
                Bytes::Next => sample.get(seq - 1).map_or(&[][..], Vec::as_slice),
                Bytes::Sample(index) => &sample[usize::from(*index) % sample.len()],
                Bytes::Any(bytes) => bytes,
            };
            encode_varint(seq as u64, &mut run);
            encode_varint(stored.len() as u64, &mut run);
            run.extend_from_slice(stored);
        }
        encode_varint(run.len() as u64, &mut bytes);
        bytes.append(&mut run);
    }
    if let Some((at, byte)) = row.damage {
        let at = usize::from(at) % bytes.len();
        bytes[at] = byte;
    }
    let checksum = row.checksum.unwrap_or_else(|| crc32fast::hash(&bytes));
    bytes.extend(checksum.to_le_bytes());
    bytes
}
