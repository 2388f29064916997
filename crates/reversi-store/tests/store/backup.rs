//! Backups, what a log of another file beside one of them does, and stores that are read or written as a whole.

use std::{fs, path::Path};

use reversi_room::{CloseReason, Event, Fact, RoomId, Seq};
use reversi_store::{
    BackupError, Doctor, Journal as _, NewStore, OpenError, SqliteStore, Store, backup, is_empty, restore,
};
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, connection, creation_of,
    damage::damage_page,
    fixtures::test_room::{TestRoom, default_settings},
    folder, moved, open, open_rooms, open_with_log, room_id, write,
};

/// Enough rooms for more than one checkpoint.
const MANY: u64 = 1_500;

async fn create(store: &Store, rooms: std::ops::RangeInclusive<u64>) {
    for room in rooms.map(room_id) {
        write(&*store.journal, room, Seq(0), &creation_of(room)).await.unwrap();
    }
}

fn rooms(numbers: std::ops::RangeInclusive<u64>) -> Vec<RoomId> {
    numbers.map(room_id).collect()
}

/// The bytes of all files of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| !name.ends_with("-shm"))
        .collect();
    files.sort();
    files
}

fn refused(folder: &Path) -> OpenError {
    match SqliteStore::open(folder) {
        Ok(_) => panic!("the store was opened"),
        Err(error) => error,
    }
}

async fn opened(folder: &Path) -> Vec<RoomId> {
    open_rooms(&Store::of(SqliteStore::open(folder).unwrap())).await
}

#[tokio::test]
async fn a_backup_beside_the_log_of_another_file_is_refused_and_usable_without_it() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let (file, log) = (path(SqliteStore::FILE), path("reversi.db-wal"));
    drop(open(&folder));
    let old = after_a_stop(&folder);
    let other = self::folder();
    create(&open(&other), 1..=3).await;

    let store = open(&folder);
    // So that the old file is older than the beginning of the log.
    create(&store, 1..=MANY).await;
    assert_eq!(backup(folder.path(), &path("own.db"), &mut |_, _| {}).unwrap(), None);
    let tool = connection(&folder);
    tool.execute("VACUUM INTO ?", [path("vacuum.db").to_str().unwrap()]).unwrap();
    tool.backup("main", path("tool.db"), None::<fn(_)>).unwrap();
    drop(tool);
    create(&store, MANY + 1..=MANY + 9).await;
    let crashed = after_a_crash(&folder);
    drop(store);

    let copies = [
        (path("own.db"), rooms(1..=MANY)),
        (path("vacuum.db"), rooms(1..=MANY)),
        (path("tool.db"), rooms(1..=MANY)),
        (old.path().join(SqliteStore::FILE), vec![]),
        (other.path().join(SqliteStore::FILE), rooms(1..=3)),
    ];
    for (copy, expected) in copies {
        fs::copy(crashed.path().join("reversi.db-wal"), &log).unwrap();
        fs::copy(&copy, &file).unwrap();
        let before = files(folder.path());
        assert!(matches!(refused(folder.path()), OpenError::StrayLog), "{}", copy.display());
        assert!(matches!(Doctor::open(folder.path()).err(), Some(OpenError::StrayLog)), "{}", copy.display());
        assert!(matches!(SqliteStore::open_source(folder.path()).err(), Some(OpenError::StrayLog)));
        assert!(files(folder.path()) == before, "{}", copy.display());
        fs::remove_file(&log).unwrap();
        assert_eq!(opened(folder.path()).await, expected, "{}", copy.display());
    }
    fs::copy(crashed.path().join("reversi.db-wal"), &log).unwrap();
    fs::remove_file(&file).unwrap();
    let before = files(folder.path());
    assert!(matches!(refused(folder.path()), OpenError::StrayLog), "the file was removed");
    assert!(matches!(Doctor::open(folder.path()).err(), Some(OpenError::StrayLog)));
    assert!(files(folder.path()) == before, "nothing was created");
    assert_eq!(opened(crashed.path()).await, rooms(1..=MANY + 9));
}

/// The log then has all changes of the file, so that nothing but a refusal says that the copy is not in use.
#[tokio::test]
async fn a_copy_by_a_tool_in_the_first_moments_of_a_file_is_refused() {
    let folder = folder();
    let store = open(&folder);
    create(&store, 1..=5).await;
    let tool = connection(&folder);
    tool.execute("VACUUM INTO ?", [folder.path().join("vacuum.db").to_str().unwrap()]).unwrap();
    tool.backup("main", folder.path().join("tool.db"), None::<fn(_)>).unwrap();
    create(&store, 6..=9).await;
    for copy in ["vacuum.db", "tool.db"] {
        let crashed = after_a_crash(&folder);
        fs::copy(folder.path().join(copy), crashed.path().join(SqliteStore::FILE)).unwrap();
        assert!(matches!(refused(crashed.path()), OpenError::StrayLog), "{copy}");
    }
    assert_eq!(opened(after_a_crash(&folder).path()).await, rooms(1..=9));
}

/// The number of the schema, by which the copies of tools are known, then says nothing.
#[tokio::test]
async fn a_backup_is_known_by_its_mark_after_a_change_of_the_schema() {
    let folder = folder();
    drop(open(&folder));
    connection(&folder).execute_batch("CREATE TABLE note (text)").unwrap();
    let store = open(&folder);
    create(&store, 1..=5).await;
    let copy = folder.path().join("copy.db");
    backup(folder.path(), &copy, &mut |_, _| {}).unwrap();
    create(&store, 6..=9).await;
    let [crashed, replaced] = [0, 1].map(|_| after_a_crash(&folder));
    fs::copy(&copy, replaced.path().join(SqliteStore::FILE)).unwrap();
    assert!(matches!(refused(replaced.path()), OpenError::StrayLog));
    assert_eq!(opened(crashed.path()).await, rooms(1..=9));
}

/// A refusal would be worse than what it prevents.
#[tokio::test]
async fn a_log_belongs_to_its_file_after_a_crash_at_any_time() {
    let mut running = folder();
    let mut known = 0;
    for server in 0..4 {
        let store = open_with_log(&running, 1 << 14);
        let mut crash = after_a_crash(&running);
        for step in 0..12 {
            if step == 5 {
                // As an administrator may.
                let sql = format!("CREATE TABLE note_{server} (text); INSERT INTO note_{server} VALUES ('x')");
                connection(&running).execute_batch(&sql).unwrap();
            }
            create(&store, known + 1..=known + 40).await;
            known += 40;
            crash = after_a_crash(&running);
            assert_eq!(opened(after_a_crash(&crash).path()).await, rooms(1..=known), "server {server}, step {step}");
        }
        drop(store);
        running = crash;
    }
    assert_eq!(opened(running.path()).await, rooms(1..=known));
}

/// Of a version before the marks.
#[tokio::test]
async fn a_file_with_a_log_without_marks_is_checked() {
    let folder = folder();
    let store = open(&folder);
    create(&store, 1..=MANY).await;
    drop(store);
    let good = after_a_stop(&folder);
    // Any commit of another program.
    let tool = connection(&folder);
    tool.execute_batch("CREATE TABLE note (text)").unwrap();
    let crashed = after_a_crash(&folder);
    drop(tool);
    damage_page(&good, "runs");
    fs::copy(crashed.path().join("reversi.db-wal"), good.path().join("reversi.db-wal")).unwrap();
    let is_malformed = |folder: &TempDir| open(folder).journal.is_malformed();
    assert_eq!([&crashed, &good].map(is_malformed), [false, true]);
}

#[tokio::test]
async fn a_backup_has_the_rights_of_the_file_and_overwrites_nothing() {
    let folder = folder();
    let copy = folder.path().join("copy.db");
    let missing = backup(&folder.path().join("typo"), &copy, &mut |_, _| {});
    assert!(matches!(missing, Err(BackupError::Store(OpenError::Missing))), "{missing:?}");
    assert!(!folder.path().join("typo").exists() && !copy.exists());
    create(&open(&folder), 1..=5).await;
    // Also of a stopped server.
    let before = files(folder.path());
    let mut reports = Vec::new();
    assert_eq!(backup(folder.path(), &copy, &mut |done, all| reports.push(done == all)).unwrap(), None);
    assert_eq!(reports.last(), Some(&true));
    assert!(files(folder.path()).iter().filter(|(name, _)| name != "copy.db").eq(&before));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let bytes = fs::read(&copy).unwrap();
    let again = backup(folder.path(), &copy, &mut |_, _| {});
    assert!(matches!(again, Err(BackupError::Copy(..))), "{again:?}");
    assert!(fs::read(&copy).unwrap() == bytes);
}

#[tokio::test]
async fn a_restored_backup_keeps_what_it_replaces() {
    let folder = folder();
    let copy = folder.path().join("copy.db");
    let store = open(&folder);
    create(&store, 1..=5).await;
    backup(folder.path(), &copy, &mut |_, _| {}).unwrap();
    create(&store, 6..=9).await;
    let in_use = restore(&copy, folder.path(), &mut |_, _| {});
    assert!(matches!(in_use, Err(BackupError::Store(OpenError::InUse))), "{in_use:?}");
    let [crashed, copied] = [0, 1].map(|_| after_a_crash(&folder));
    drop(store);

    let bytes = fs::read(&copy).unwrap();
    let kept = restore(&copy, crashed.path(), &mut |_, _| {}).unwrap().unwrap();
    assert!(fs::read(&copy).unwrap() == bytes, "the backup can be used again");
    assert_eq!(opened(crashed.path()).await, rooms(1..=5));
    let before = self::folder();
    for suffix in ["", "-wal"] {
        let [from, to] =
            [&kept, &before.path().join(SqliteStore::FILE)].map(|path| format!("{}{suffix}", path.display()));
        fs::copy(from, to).unwrap();
    }
    assert_eq!(opened(before.path()).await, rooms(1..=9), "with its log");
    let second = restore(&copy, crashed.path(), &mut |_, _| {}).unwrap().unwrap();
    assert!(second != kept && kept.exists() && second.exists());
    // After the obvious way, and where there was nothing.
    fs::copy(&copy, copied.path().join(SqliteStore::FILE)).unwrap();
    for folder in [copied.path(), &copied.path().join("new")] {
        restore(&copy, folder, &mut |_, _| {}).unwrap();
        assert_eq!(opened(folder).await, rooms(1..=5));
    }
}

#[tokio::test]
async fn what_is_no_sound_backup_is_not_restored() {
    let folder = folder();
    let file = folder.path().join(SqliteStore::FILE);
    create(&open(&folder), 1..=200).await;
    let [empty, text, foreign, damaged] = ["empty", "text", "foreign", "damaged"].map(|name| folder.path().join(name));
    fs::write(&empty, "").unwrap();
    fs::write(&text, "reversi\n".repeat(1_000)).unwrap();
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let copy = after_a_stop(&folder);
    damage_page(&copy, "states");
    fs::copy(copy.path().join(SqliteStore::FILE), &damaged).unwrap();
    let before = fs::read(&file).unwrap();
    for wrong in [&empty, &text, &foreign, &damaged, &folder.path().join("missing"), &folder.path().to_owned()] {
        let refused = restore(wrong, folder.path(), &mut |_, _| {});
        let is_expected = matches!(refused, Err(BackupError::Backup(_) | BackupError::Damaged(_)));
        assert!(is_expected, "{}: {refused:?}", wrong.display());
        assert!(fs::read(&file).unwrap() == before);
    }
    assert_eq!(files(folder.path()).len(), 5, "nothing was created");
    let found = backup(copy.path(), &folder.path().join("copy.db"), &mut |_, _| {}).unwrap();
    assert!(found.is_some(), "a damaged copy is named");
}

#[tokio::test]
async fn a_source_is_read_and_not_changed() {
    let folder = folder();
    let store = open(&folder);
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    write(&*store.journal, room_id(1), Seq(0), &moved(test.history, room_id(1))).await.unwrap();
    create(&store, 2..=5).await;
    for source in [after_a_crash(&folder), {
        drop(store);
        after_a_stop(&folder)
    }] {
        let before = files(source.path());
        let store = SqliteStore::open_source(source.path()).unwrap();
        assert!(!is_empty(&store).await.unwrap());
        let store = Store::of(store);
        assert_eq!(open_rooms(&store).await, rooms(1..=5));
        assert!(write(&*store.journal, room_id(9), Seq(0), &creation_of(room_id(9))).await.is_err());
        drop(store);
        assert!(files(source.path()) == before);
    }
    let nowhere = self::folder();
    fs::write(nowhere.path().join("file"), "text").unwrap();
    for wrong in ["typo", "", "file"] {
        let opened = SqliteStore::open_source(&nowhere.path().join(wrong));
        assert!(matches!(opened.err(), Some(OpenError::Missing)), "{wrong}");
    }
    assert_eq!(files(nowhere.path()).len(), 1);
}

#[tokio::test]
async fn a_new_store_has_its_place_when_it_is_complete() {
    let folder = folder();
    let file = folder.path().join(SqliteStore::FILE);
    let unfinished = NewStore::create(folder.path()).unwrap();
    assert!(matches!(NewStore::create(folder.path()).err(), Some(OpenError::InUse)), "two copies at once");
    unfinished.store().mark_alive(super::at(1)).await.unwrap();
    drop(unfinished);
    assert!(!file.exists());
    let new = NewStore::create(folder.path()).unwrap();
    assert!(is_empty(new.store()).await.unwrap(), "an interrupted copy is thrown away");
    new.store().mark_alive(super::at(2)).await.unwrap();
    new.finish().unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    assert_eq!(open(&folder).journal.last_alive().await, Ok(Some(super::at(2))));
}

#[tokio::test]
async fn a_malformed_file_is_noticed() {
    let whole = folder();
    create(&open(&whole), 1..=200).await;
    for place in ["states", "alive"] {
        let damaged = after_a_stop(&whole);
        damage_page(&damaged, place);
        let store = open(&damaged);
        assert!(!store.journal.is_malformed(), "{place}");
        open_rooms(&store).await;
        store.journal.last_alive().await.unwrap();
        assert!(store.journal.is_malformed(), "{place}: by a read");
    }
    let damaged = after_a_stop(&whole);
    damage_page(&damaged, "sqlite_autoindex_runs_1");
    let store = open(&damaged);
    store.journal.mark_alive(super::at(1)).await.unwrap();
    assert!(!store.journal.is_malformed(), "a write to other pages");
    let event = Event { seq: Seq(2), at: super::at(1), fact: Fact::Closed(CloseReason::Closed) };
    write(&*store.journal, room_id(1), Seq(1), &[event]).await.unwrap_err();
    assert!(store.journal.is_malformed(), "by a write");
}

/// The first start runs a checkpoint to empty the log of a new or upgraded file. It does not wait for readers.
#[tokio::test]
async fn a_reader_at_the_first_start_makes_no_log_stray() {
    let folder = folder();
    drop(open(&folder));
    let tool = connection(&folder);
    // As a file of an earlier version.
    let without_mark = "PRAGMA secure_delete = on; DROP TABLE wal_mark; PRAGMA wal_checkpoint(TRUNCATE); BEGIN";
    tool.execute_batch(without_mark).unwrap();
    tool.query_row("SELECT count(*) FROM states", [], |_| Ok(())).unwrap();
    let store = open(&folder);
    create(&store, 1..=3).await;
    let crashed = after_a_crash(&folder);
    drop(tool);
    assert_eq!(opened(crashed.path()).await, rooms(1..=3));
}

/// Only another valid mark proves that a log is another file's; nothing stops the doctor.
#[tokio::test]
async fn damage_of_the_mark_makes_no_log_stray() {
    let folder = folder();
    let store = open(&folder);
    create(&store, 1..=MANY).await;
    let crashed = after_a_crash(&folder);
    let path = crashed.path().join(SqliteStore::FILE);
    let whole = fs::read(&path).unwrap();
    let log = fs::read(crashed.path().join("reversi.db-wal")).unwrap();
    let mark = whole.windows(8).rposition(|bytes| bytes == b"\xffwalmark").unwrap();
    let mut flipped = whole.clone();
    flipped[mark + 20] ^= 1;
    for (case, bytes) in
        [("a bit", &flipped[..]), ("a page", &whole[..4_096]), ("100 bytes", &whole[..100]), ("0", &[])]
    {
        fs::write(&path, bytes).unwrap();
        fs::write(crashed.path().join("reversi.db-wal"), &log).unwrap();
        let started = SqliteStore::open(after_a_stop(&crashed).path()).map(drop);
        assert!(matches!(started, Ok(()) | Err(OpenError::Damaged(_))), "{case}: {started:?}");
        assert!(started.is_ok() || case != "a bit", "{started:?}");
        assert!(Doctor::open(crashed.path()).is_ok(), "{case}: {:?}", Doctor::open(crashed.path()).err());
    }
}

#[tokio::test]
async fn a_damaged_mark_alone_stops_no_start() {
    let folder = folder();
    create(&open(&folder), 1..=3).await;
    damage_page(&folder, "wal_mark");
    let store = open(&folder);
    assert!(store.journal.is_malformed());
    assert_eq!(open_rooms(&store).await, rooms(1..=3));
}

#[tokio::test]
async fn no_server_starts_beside_an_unfinished_copy() {
    let folder = folder();
    drop(NewStore::create(folder.path()).unwrap());
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Unfinished(_)), "{error}");
    assert!(!folder.path().join(SqliteStore::FILE).exists(), "nothing was created");
    NewStore::create(folder.path()).unwrap().finish().unwrap();
    assert_eq!(opened(folder.path()).await, []);
}
