//! Opening the file again, and files that are locked, damaged or not of this program.

use std::{fs, path::Path};

use reversi_room::{Room, Seq};
use reversi_store::{AppendError, Contestant, GameFilter, OpenError, SqliteStore, Store};
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, archive, at, connection, count, creation_of, drive,
    fixtures::test_room::{TestRoom, default_settings, id},
    folder,
    games::game,
    load,
    lossy_folder::LossyFolder,
    moved, open, open_rooms, open_with_log, room_id, write,
};

fn refused(folder: &Path) -> OpenError {
    match SqliteStore::open(folder) {
        Ok(_) => panic!("the store was opened"),
        Err(error) => error,
    }
}

/// A store with rooms and games, and the bytes of its file after closing.
async fn filled() -> (TempDir, Vec<u8>) {
    let folder = folder();
    let store = open(&folder);
    for room in (0..60).map(room_id) {
        archive(&store, room, &[game(room, 1, 1, ["ada", "bob"])]).await;
    }
    drop(store);
    let bytes = fs::read(folder.path().join(SqliteStore::FILE)).unwrap();
    (folder, bytes)
}

/// The error of opening a file with these bytes.
fn refused_with(bytes: &[u8]) -> OpenError {
    let folder = folder();
    fs::write(folder.path().join(SqliteStore::FILE), bytes).unwrap();
    let error = refused(folder.path());
    assert_eq!(fs::read(folder.path().join(SqliteStore::FILE)).unwrap(), bytes, "the file is unchanged");
    error
}

#[tokio::test]
async fn a_reopened_store_has_everything() {
    let folder = folder();
    let store = open(&folder);
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3");
    let (room, _) = drive(&store, &moved(test.history, room_id(1)), 2).await;
    let finished = game(room_id(2), 1, 1, ["ada", "roxanne:1"]);
    archive(&store, room_id(2), std::slice::from_ref(&finished)).await;
    store.journal.mark_alive(at(5)).await.unwrap();
    let roxanne: Contestant = "roxanne:1".parse().unwrap();
    let player_stats = store.archive.player_stats(roxanne.clone()).await.unwrap();
    drop(store);

    let store = open(&folder);
    assert_eq!(load(&store, room.id()).await, Some(room));
    assert_eq!(open_rooms(&store).await, [1, 2].map(room_id));
    assert_eq!(store.journal.last_alive().await.unwrap(), Some(at(5)));
    assert_eq!(store.archive.player_stats(roxanne).await.unwrap(), player_stats);
    let filter = GameFilter { player: Some(id("ada")), ..GameFilter::visible_to(id("eve")) };
    assert_eq!(*store.archive.games(filter, None, 9).await.unwrap().games[0], finished);
}

#[tokio::test]
async fn a_folder_has_one_server() {
    let folder = folder();
    let store = open(&folder);
    assert!(matches!(refused(folder.path()), OpenError::InUse));
    write(&*store.journal, room_id(1), Seq(0), &creation_of(room_id(1))).await.unwrap();
    drop(store);
    assert_eq!(open_rooms(&open(&folder)).await, [room_id(1)]);
}

#[test]
fn a_file_of_another_program_is_not_changed() {
    for sql in ["CREATE TABLE notes (text)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"] {
        let folder = folder();
        connection(&folder).execute_batch(sql).unwrap();
        assert!(matches!(refused(folder.path()), OpenError::Foreign), "{sql}");
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'states'";
        assert_eq!(connection(&folder).query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}

#[test]
fn a_file_of_a_newer_version_is_not_touched() {
    let folder = folder();
    drop(open(&folder));
    let version = || connection(&folder).pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0)).unwrap();
    let newer = version() + 1;
    connection(&folder).pragma_update(None, "user_version", newer).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Newer { found, known } if found == newer && known == newer - 1), "{error}");
    assert_eq!(version(), newer);
}

/// The whole file is not read: a damaged page is found when it is needed.
#[tokio::test]
async fn a_file_without_its_first_page_is_refused() {
    let (_folder, good) = filled().await;
    let page = 4096;
    let mut header = good.clone();
    header[20..page].fill(0);
    let garbage: Vec<u8> = (0..20_000_u32).map(|at| (at * 7 % 251) as u8).collect();
    let cases = [("garbage", garbage), ("its header overwritten", header)];
    for (case, bytes) in cases {
        let error = refused_with(&bytes);
        assert!(matches!(error, OpenError::Damaged(_)), "{case}: {error}");
        assert!(error.to_string().contains("backup"), "{error} should say what to do");
    }
}

/// Run by hand: `cargo test -p reversi-store opening -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "writes a gigabyte"]
async fn a_large_archive_does_not_slow_the_start() {
    let folder = folder();
    let store = open(&folder);
    archive(&store, room_id(1), &[game(room_id(1), 1, 1, ["ada", "bob"])]).await;
    drop(store);
    let tool = connection(&folder);
    let sql = "SELECT group_concat(name) FROM pragma_table_info('games') WHERE name NOT IN ('id', 'ended_us')";
    let columns: String = tool.query_row(sql, [], |row| row.get(0)).unwrap();
    let fill = format!(
        "PRAGMA synchronous = off; WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers \
        WHERE number < 1700000) INSERT INTO games (id, ended_us, {columns}) SELECT room || '-' || number, number, {columns} \
        FROM games JOIN numbers WHERE ended_us = 1000000; \
        INSERT OR IGNORE INTO played SELECT black, ended_us, id FROM games UNION ALL SELECT white, ended_us, id FROM games"
    );
    tool.execute_batch(&fill).unwrap();
    drop(tool);
    let began = tokio::time::Instant::now();
    let store = open(&folder);
    let rooms = open_rooms(&store).await;
    let players = store.players.players().await.unwrap();
    let started = began.elapsed();
    let size = store.archive.size().await.unwrap();
    println!("{} rooms and {} players beside {size:?}: {started:?}", rooms.len(), players.len());
    assert!(size.bytes > 1 << 30 && size.games == 1_700_000, "{size:?}");
    assert!(started.as_millis() < 100, "{started:?}");
}

#[test]
fn a_path_that_is_no_folder_or_no_file_is_refused() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(matches!(refused(&file), OpenError::Folder(_)));
    assert!(matches!(refused(&file.join("below")), OpenError::Folder(_)));
    fs::create_dir(folder.path().join(SqliteStore::FILE)).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Database(_)), "{error}");
}

#[cfg(unix)]
#[reversi_needs::needs(permissions)]
#[test]
fn a_read_only_file_or_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let permit = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (one, other) = (folder(), folder());
    drop(open(&one));
    let file = one.path().join(SqliteStore::FILE);
    permit(&file, 0o400);
    permit(other.path(), 0o500);
    assert!(matches!(refused(one.path()), OpenError::Database(_)));
    assert!(matches!(refused(other.path()), OpenError::Folder(_)));
    permit(other.path(), 0o700);
    drop(open(&other));
}

/// All connections of a process share the index of the log, and none can write while one has it open read-only.
#[tokio::test]
async fn a_store_of_a_read_only_disk_writes_when_the_disk_can_be_written_again() {
    let running = folder();
    let store = open(&running);
    write(&*store.journal, room_id(1), Seq(0), &creation_of(room_id(1))).await.unwrap();
    let crashed = after_a_crash(&running);
    fs::copy(running.path().join("reversi.db-shm"), crashed.path().join("reversi.db-shm")).unwrap();
    drop(store);
    for stopped in [crashed, after_a_stop(&running)] {
        let disk = LossyFolder::create(false);
        for file in fs::read_dir(stopped.path()).unwrap().flatten() {
            fs::copy(file.path(), disk.path().join(file.file_name())).unwrap();
        }
        disk.set_read_only(true);
        let store = Store::of(SqliteStore::open(disk.path()).unwrap());
        assert_eq!(open_rooms(&store).await, [room_id(1)]);
        assert_eq!(store.archive.size().await.unwrap().games, 0);
        let add = async || write(&*store.journal, room_id(2), Seq(0), &creation_of(room_id(2))).await;
        let refused = add().await;
        assert!(matches!(refused, Err(AppendError::Unavailable(_))), "{refused:?}");
        disk.set_read_only(false);
        assert_eq!(add().await, Ok(()));
        assert_eq!(open_rooms(&store).await, [1, 2].map(room_id));
    }
}

/// Damage to one room does not affect the others.
#[tokio::test]
async fn a_damaged_room_goes_on_from_its_last_sound_event_and_affects_no_other() {
    let folder = folder();
    // So that each room has several runs.
    let store = open_with_log(&folder, 0);
    let history = TestRoom::two_players(default_settings()).history;
    for room in (1..=6).map(room_id) {
        drive(&store, &moved(history.clone(), room), 3).await;
    }
    drop(store);
    let break_by = [
        "UPDATE states SET state = x'00' WHERE room = 1",
        "UPDATE runs SET events = x'020201ff' WHERE room = 3 AND last = 4",
        "DELETE FROM runs WHERE room = 5 AND last = 4",
        // No later row shows that the last event is missing.
        "UPDATE runs SET events = substr(events, 1, length(events) - 1) WHERE room = 6 AND last = (SELECT max(last) FROM \
            runs WHERE room = 6)",
    ];
    connection(&folder).execute_batch(&break_by.join(";")).unwrap();
    let store = open(&folder);
    let all = history.len();
    let page = store.journal.open_rooms(Some(room_id(2)), 1).await.unwrap();
    assert_eq!(page[0].id(), room_id(3), "a page has the damaged rooms in their order");
    assert_eq!(open_rooms(&store).await, (1..=6).map(room_id).collect::<Vec<_>>());
    for (room, events) in (1..=6).map(room_id).zip([all, all, 1, all, 1, all - 1]) {
        assert_eq!(load(&store, room).await, Room::replay(&moved(history[..events].to_vec(), room)), "{room}");
    }
    assert_eq!(count(&folder, "log WHERE id < 0"), 3, "the events behind the damage stay for who can mend it");
}
