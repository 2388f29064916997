//! Concurrent writes, a locked file, and writes that fail.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use futures_util::future::join_all;
use reversi_room::{RoomId, Seq};
use reversi_store::{AppendError, FaultHook, MemoryStore, SqliteStore, Store};
use tempfile::TempDir;

use crate::{
    at, connection, creation_of,
    fixtures::test_room::{TestRoom, chat},
    folder, load, moved, open, open_rooms, room_id, write,
};

const ROOMS: u64 = 200;

/// Number of commits in the write-ahead log: frames of the latest generation with the file size after a commit.
fn commits(folder: &TempDir) -> usize {
    let log = fs::read(folder.path().join(format!("{}-wal", SqliteStore::FILE))).expect("a log");
    if log.is_empty() {
        return 0;
    }
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    let (page, salt) = (number(&log[8..12]) as usize, &log[16..24]);
    log[32..].chunks_exact(24 + page).filter(|frame| &frame[8..16] == salt && number(&frame[4..8]) > 0).count()
}

#[tokio::test]
async fn writes_that_wait_are_committed_together() {
    let folder = folder();
    let store = open(&folder);
    let before = commits(&folder);
    let appends: Vec<_> = (0..ROOMS).map(room_id).map(|room| (room, creation_of(room))).collect();
    let written = join_all(appends.iter().map(|(room, events)| write(&*store.journal, *room, Seq(0), events))).await;
    assert!(written.iter().all(Result::is_ok));
    let commits = commits(&folder) - before;
    assert!((1..=100).contains(&commits), "{commits} commits");
    drop(store);
    assert_eq!(open_rooms(&open(&folder)).await, (0..ROOMS).map(room_id).collect::<Vec<_>>());
}

/// The second write gets a conflict; others of the same commit succeed.
#[tokio::test]
async fn only_one_of_two_owners_of_a_room_writes() {
    let folder = folder();
    let store = open(&folder);
    let rooms = [1, 2, 1, 3, 1].map(room_id);
    let events = rooms.map(creation_of);
    let appends = rooms.iter().zip(&events).map(|(room, events)| write(&*store.journal, *room, Seq(0), events));
    let conflict = Err(AppendError::Conflict(Seq(1)));
    assert_eq!(join_all(appends).await, [Ok(()), Ok(()), conflict.clone(), Ok(()), conflict]);
}

#[tokio::test]
async fn writes_succeed_after_another_program_releases_the_file() {
    let folder = folder();
    let store = open(&folder);
    let other = connection(&folder);
    let rooms = [1, 2, 3].map(room_id);
    let events = rooms.map(creation_of);
    let all =
        || join_all(rooms.iter().zip(&events).map(|(room, events)| write(&*store.journal, *room, Seq(0), events)));
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for refused in all().await {
        assert!(matches!(refused, Err(AppendError::Unavailable(_))), "{refused:?}");
    }
    assert!(store.journal.mark_alive(at(1)).await.is_err());
    assert_eq!(open_rooms(&store).await, [], "reading still works");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(all().await, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(open_rooms(&store).await, rooms);
}

/// The error of the next append.
type Fault = Arc<Mutex<Option<AppendError>>>;

fn failing() -> (Fault, FaultHook) {
    let fault = Fault::default();
    let next = Arc::clone(&fault);
    (fault, Box::new(move |_: RoomId, _: Seq| next.lock().unwrap().take()))
}

async fn check_faults(store: &Store, fault: &Fault) {
    let (room, journal) = (room_id(1), &*store.journal);
    let mut test = TestRoom::lobby();
    test.ok("ada", chat("hello"));
    let history = moved(test.history, room);
    let fail = |error: &AppendError| *fault.lock().unwrap() = Some(error.clone());
    for error in [AppendError::Unavailable("injected by the test".into()), AppendError::Conflict(Seq(9))] {
        fail(&error);
        assert_eq!(write(journal, room, Seq(0), &history[..1]).await, Err(error));
        assert_eq!(load(store, room).await, None, "nothing was written");
    }
    write(journal, room, Seq(0), &history[..1]).await.unwrap();
    let error = AppendError::Unknown("injected by the test".into());
    fail(&error);
    assert_eq!(write(journal, room, Seq(1), &history[1..]).await, Err(error));
    assert_eq!(load(store, room).await.unwrap().seq(), Seq(2), "it was written, but unknown_player heard of it");
}

#[tokio::test]
async fn an_injected_fault_is_reported() {
    let (fault, hook) = failing();
    check_faults(&Store::of(MemoryStore::with_faults(hook)), &fault).await;
    let (folder, (fault, hook)) = (folder(), failing());
    check_faults(&Store::of(SqliteStore::with_faults(folder.path(), hook).unwrap()), &fault).await;
}
