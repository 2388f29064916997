//! Writes that fail in the middle, as on a full disk: no file of this process may grow beyond a limit. The limit
//! applies to the whole process, so these tests are ignored here and run in a process of their own.

use std::{env, fs, process::Command};

use reversi_room::{ChatText, Event, Fact, Room, RoomId, Seq};
use reversi_store::{Append, AppendError, GameFilter, SqliteStore, Store};
use rlimit::Resource;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    after_a_crash, connection,
    doctor::{examine, repair},
    ended,
    fixtures::test_room::{TestRoom, chat, default_settings, id},
    lossy_folder::LossyFolder,
    moved, open, open_rooms, room_id,
};

/// Size of a frame of the log in bytes: its header and a page.
const FRAME: u64 = 24 + 4096;

/// The signal for a write beyond the file size limit, on Linux.
const SIGXFSZ: i32 = 25;

#[test]
fn writes_fail_cleanly_on_a_full_disk() {
    let mut tests = Command::new(env::current_exe().unwrap());
    let output = tests.args(["full_disk::", "--ignored", "--test-threads=1"]).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains(" 3 passed; 0 failed;"), "{report}");
}

/// Runs `work` while writes that extend a file beyond `bytes` fail.
async fn limited<T>(bytes: u64, work: impl Future<Output = T>) -> T {
    // The default action of the signal ends the process.
    let too_large = signal(SignalKind::from_raw(SIGXFSZ)).unwrap();
    let (_, most) = Resource::FSIZE.get().unwrap();
    Resource::FSIZE.set(bytes.min(most), most).unwrap();
    let done = work.await;
    Resource::FSIZE.set(most, most).unwrap();
    drop(too_large);
    done
}

/// The room as a server would find it after a crash now.
async fn found_after_a_crash(folder: &TempDir, room: RoomId) -> Stored {
    stored(&open(&after_a_crash(folder)), room).await
}

/// As [`found_after_a_crash`], after a repair that finds no damage.
async fn found_after_a_repair(folder: &TempDir, room: RoomId) -> Stored {
    let crashed = after_a_crash(folder);
    assert_eq!(repair(&crashed), [""; 0]);
    stored(&open(&crashed), room).await
}

/// A stored room, and the number of stored games.
type Stored = (Option<Room>, usize);

async fn stored(store: &Store, room: RoomId) -> Stored {
    let filter = GameFilter::visible_to(id("ada"));
    let games = store.archive.games(filter, None, 100).await.unwrap().games;
    (store.journal.load(room).await.unwrap().map(reversi_store::History::latest), games.len())
}

/// Repeats a write with each limit until it succeeds. Returns how often it was refused, and how often its outcome was
/// unknown. After each failure nothing is written, neither in the store nor after a crash.
async fn sweep(folder: &TempDir, append: Append<'_>, limits: impl Iterator<Item = u64>) -> [usize; 2] {
    let store = open(folder);
    let room = append.room;
    let before = stored(&store, room).await;
    let mut after = before.0.clone().unwrap();
    append.events.iter().for_each(|event| after.apply(event));
    let after = (Some(after), before.1 + append.games.len());
    let [mut refused, mut unknown] = [0, 0];
    for limit in limits {
        let written = limited(limit, async {
            // The write starts at the call. The second one finds what the first has left.
            let first = store.journal.append(append).await;
            if first.is_err() { store.journal.append(append).await } else { first }
        });
        let written = written.await;
        let (now, later) = (stored(&store, room).await, found_after_a_crash(folder, room).await);
        match written {
            Ok(()) => {
                assert!(now == after && later == after, "at {limit}");
                return [refused, unknown];
            }
            Err(AppendError::Unavailable(_)) => refused += 1,
            Err(AppendError::Unknown(_)) => unknown += 1,
            Err(conflict) => panic!("at {limit}: {conflict}"),
        }
        assert!(now == before && later == before, "at {limit}");
        if (refused + unknown) % 20 == 1 {
            assert!(found_after_a_repair(folder, room).await == before, "at {limit}");
        }
        // The limits are of a log that begins anew.
        connection(folder).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    }
    panic!("the write never succeeded");
}

/// Writes a history, whose last event may end a game.
async fn write(folder: &TempDir, history: &[Event]) {
    let room = Room::replay(&history[..1]).unwrap().id();
    let append = Append { room, expected: Seq(0), events: history, games: &[] };
    open(folder).journal.append(append).await.unwrap();
}

/// Offsets in a frame of the log at which a write can break off: start, header, page and end.
const BREAK_OFFSETS: [u64; 7] = [0, 1, 23, 24, 25, 2_000, 24 + 4_095];

#[tokio::test]
#[ignore = "limits the files of its process; run by `writes_fail_cleanly_on_a_full_disk`"]
async fn a_failed_write_of_the_end_of_a_game_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    let last = test.history.iter().rposition(|event| matches!(event.fact, Fact::Played { .. })).unwrap();
    let (before, events) = test.history.split_at(last);
    write(&folder, before).await;
    let room = Room::replay(before).unwrap();
    let games = ended(&room.records(events));
    assert_eq!(games.len(), 1);
    let append = Append { room: room.id(), expected: room.seq(), events, games: &games };
    let frames = (0..100).flat_map(|frame| BREAK_OFFSETS.map(|byte| 32 + frame * FRAME + byte));
    let [refused, unknown] = sweep(&folder, append, [0, 1, 31].into_iter().chain(frames)).await;
    assert!(refused == 0 && unknown > 50, "{refused} and {unknown}");
}

/// Writes more than SQLite's cache holds, so that part of it is written to the log before the commit.
#[tokio::test]
#[ignore = "limits the files of its process; run by `writes_fail_cleanly_on_a_full_disk`"]
async fn a_failed_large_write_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let mut test = TestRoom::lobby();
    write(&folder, &test.history).await;
    let room = test.room.clone();
    post_chat(&mut test, 16_000);
    let append = Append { room: room.id(), expected: room.seq(), events: &test.history[1..], games: &[] };
    let [refused, _] = sweep(&folder, append, (1..).map(|step| step * 400_000)).await;
    assert!(refused > 3, "{refused}");
}

fn post_chat(test: &mut TestRoom, lines: usize) {
    let line = "x".repeat(ChatText::MAX);
    (0..lines).for_each(|_| drop(test.ok("ada", chat(&line))));
}

/// Committed data stays in the log while the file cannot grow. Writes succeed until the log cannot grow either.
#[tokio::test]
#[ignore = "limits the files of its process; run by `writes_fail_cleanly_on_a_full_disk`"]
async fn a_failed_checkpoint_loses_nothing() {
    const LIMIT: u64 = 5 << 20;
    let folder = TempDir::new().unwrap();
    let mut test = TestRoom::lobby();
    post_chat(&mut test, 250);
    for number in 1..=70 {
        write(&folder, &moved(test.history.clone(), RoomId::from_random(number))).await;
    }
    assert!(fs::metadata(folder.path().join(SqliteStore::FILE)).unwrap().len() > LIMIT);
    // This room is in the part of the file that cannot be written.
    let (store, room) = (open(&folder), RoomId::from_random(70));
    let first = test.history.len();
    post_chat(&mut test, 1_500);
    let append = |event| {
        let events = std::slice::from_ref(&test.history[event]);
        store.journal.append(Append { room, expected: Seq(event as u64), events, games: &[] })
    };
    let writing = async {
        let mut next = first;
        while append(next).await.is_ok() {
            next += 1;
        }
        next
    };
    let next = limited(LIMIT, writing).await;
    assert!(next > first + 500, "the log grows until the file size limit");
    let written = Room::replay(&moved(test.history[..next].to_vec(), room));
    assert!(stored(&store, room).await == (written.clone(), 0));
    assert!(found_after_a_crash(&folder, room).await == (written.clone(), 0));
    assert!(found_after_a_repair(&folder, room).await == (written, 0));
    append(next).await.unwrap();
    assert!(found_after_a_crash(&folder, room).await == stored(&store, room).await);
}

/// All of a commit may be in the log when it fails, since the disk cannot sync it. Later ones are written over it, and
/// what is left of several is no damage.
#[tokio::test]
async fn commits_that_could_not_be_synced_stop_no_start_and_do_not_come_back() {
    let disk = LossyFolder::create(false);
    let store = Store::of(SqliteStore::open(disk.path()).unwrap());
    let add = async |room, lines| {
        let mut test = TestRoom::lobby();
        post_chat(&mut test, lines);
        super::write(&*store.journal, room_id(room), Seq(0), &moved(test.history, room_id(room))).await
    };
    for room in 1..=3 {
        add(room, 0).await.unwrap();
    }
    disk.fail_syncs(true);
    for (room, lines) in [(7, 300), (8, 100), (9, 0)] {
        let refused = add(room, lines).await;
        assert!(matches!(refused, Err(AppendError::Unknown(_))), "{refused:?}");
    }
    // The last commit is whole in the log, and its outcome is unknown to its caller.
    let [started, repaired, damaged] = [0, 1, 2].map(|_| after_a_crash(disk.path()));
    assert_eq!(open_rooms(&open(&started)).await, [1, 2, 3, 9].map(room_id));
    assert_eq!(repair(&repaired), [""; 0]);
    // So that the log is read without SQLite.
    let file = damaged.path().join(SqliteStore::FILE);
    let mut bytes = fs::read(&file).unwrap();
    bytes[..100].fill(0);
    fs::write(file, bytes).unwrap();
    repair(&damaged);
    for folder in [repaired, damaged] {
        assert_eq!(open_rooms(&open(&folder)).await, [1, 2, 3, 9].map(room_id));
    }
    disk.fail_syncs(false);
    assert_eq!(open_rooms(&store).await, [1, 2, 3].map(room_id));
    for is_repaired in [false, true] {
        let crashed = after_a_crash(disk.path());
        if is_repaired {
            assert_eq!(examine(&crashed).rooms, 3);
            repair(&crashed);
        }
        assert_eq!(open_rooms(&open(&crashed)).await, [1, 2, 3].map(room_id));
    }
}
