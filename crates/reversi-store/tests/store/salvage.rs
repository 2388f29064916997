//! What is saved of damaged data: flipped bits in rows, and whole files.

use std::{fs, path::PathBuf};

use reversi_room::{Event, Fact, Room, Seq};
use reversi_store::{Doctor, GameFilter, OpenError, SqliteStore, Store};
use rusqlite::params;
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, archive, at, ban, connection, count,
    doctor::{examine, repair},
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile},
    folder,
    games::game,
    load, moved, open, open_rooms, open_with_log, room_id, stored_player, write,
};

const ROOMS: u64 = 3;

/// A game of each room, running.
fn history() -> Vec<Event> {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3c4c5b4");
    test.history
}

/// A store in which each commit has one event of one room, in turn.
async fn in_turn(folder: &TempDir, log: usize) -> Store {
    let store = open_with_log(folder, log);
    let history = history();
    for event in 0..history.len() {
        for room in (1..=ROOMS).map(room_id) {
            let events = moved(history.clone(), room);
            write(&*store.journal, room, Seq(event as u64), &events[event..=event]).await.unwrap();
        }
    }
    store
}

/// Flips a bit of a value of a row.
fn flip(folder: &TempDir, table: &str, column: &str, row: i64, bit: usize) {
    let file = connection(folder);
    let select = format!("SELECT CAST({column} AS BLOB), typeof({column}) FROM {table} WHERE rowid = ?");
    let (mut value, kind): (Vec<u8>, String) =
        file.query_row(&select, [row], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let bit = bit % (8 * value.len());
    value[bit / 8] ^= 1 << (bit % 8);
    let update = format!("UPDATE {table} SET {column} = CAST(?1 AS {kind}) WHERE rowid = ?2");
    assert_eq!(file.execute(&update, params![value, row]), Ok(1));
}

fn rowids(folder: &TempDir, table: &str) -> Vec<i64> {
    let file = connection(folder);
    let mut select = file.prepare(&format!("SELECT rowid FROM {table} ORDER BY rowid")).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The events that each room still has, of which none was changed or left out.
async fn kept(store: &Store) -> Vec<usize> {
    let history = history();
    assert_eq!(open_rooms(store).await, (1..=ROOMS).map(room_id).collect::<Vec<_>>());
    let mut kept = Vec::new();
    for room in (1..=ROOMS).map(room_id) {
        let found = load(store, room).await.unwrap();
        let events = found.seq().0 as usize;
        assert_eq!(Some(found), Room::replay(&moved(history[..events].to_vec(), room)));
        kept.push(events);
    }
    kept
}

/// Each room takes the rest of its events.
async fn goes_on(folder: &TempDir, kept: &[usize]) {
    let store = open(folder);
    for (room, events) in (1..=ROOMS).map(room_id).zip(kept) {
        let history = moved(history(), room);
        write(&*store.journal, room, Seq(*events as u64), &history[*events..]).await.unwrap();
    }
    drop(store);
    assert_eq!(self::kept(&open(folder)).await, [history().len(); ROOMS as usize]);
}

#[tokio::test]
async fn a_flipped_bit_in_the_log_takes_only_the_events_from_there_of_its_room() {
    let running = folder();
    let _store = in_turn(&running, usize::MAX).await;
    let all = history().len();
    // A room whose creation is damaged has nothing else.
    for (nth, row) in rowids(&running, "log").into_iter().enumerate().skip(ROOMS as usize) {
        let folder = after_a_crash(&running);
        flip(&folder, "log", "entries", row, 1 + nth * 7919);
        let repaired = after_a_stop(&folder);
        let examined = examine(&repaired);
        assert!(examined.findings.iter().any(|finding| finding.starts_with("log: rows are damaged")), "{examined:?}");
        assert_eq!(examined.rooms, ROOMS, "{examined:?}");
        repair(&repaired);
        for folder in [&folder, &repaired] {
            let kept = kept(&open(folder)).await;
            let (event, room) = (nth / ROOMS as usize, nth % ROOMS as usize);
            assert!(kept[room] == all || kept[room] == event, "row {row}: {kept:?}");
            assert_eq!(kept.iter().sum::<usize>() - kept[room], 2 * all, "row {row}: {kept:?}");
            goes_on(folder, &kept).await;
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_log_leaves_the_events_before_it_in_its_row() {
    let running = folder();
    let (store, room) = (open_with_log(&running, usize::MAX), room_id(1));
    let history = moved(history(), room);
    for (expected, events) in [(Seq(0), &history[..1]), (Seq(1), &history[1..])] {
        write(&*store.journal, room, expected, events).await.unwrap();
    }
    let folder = after_a_crash(&running);
    let row = *rowids(&folder, "log").last().unwrap();
    let select = "SELECT length(entries) FROM log WHERE rowid = ?";
    let bytes: i64 = connection(&folder).query_row(select, [row], |row| row.get(0)).unwrap();
    // In the last event.
    flip(&folder, "log", "entries", row, 8 * (bytes as usize - 10));
    assert_eq!(load(&open(&folder), room).await, Room::replay(&history[..history.len() - 1]));
}

/// Of a room whose state is damaged nothing is lost: its events begin with its creation. Of one whose run is, the
/// events from there on are.
#[tokio::test]
async fn a_flipped_bit_in_a_room_takes_only_the_events_from_there() {
    let whole = folder();
    drop(in_turn(&whole, 500).await);
    let all = history().len();
    for (table, column, loses) in [("states", "state", false), ("runs", "events", true), ("runs", "last", false)] {
        for (nth, row) in rowids(&whole, table).into_iter().enumerate() {
            let folder = after_a_stop(&whole);
            flip(&folder, table, column, row, 5 + nth * 7919);
            let repaired = after_a_stop(&folder);
            assert!(!examine(&repaired).findings.is_empty());
            repair(&repaired);
            for folder in [&folder, &repaired] {
                let kept = kept(&open(folder)).await;
                let lost = kept.iter().filter(|kept| **kept < all).count();
                assert!(lost <= usize::from(loses), "{table}, row {row}: {kept:?}");
                goes_on(folder, &kept).await;
            }
            let says = examine(&folder).findings.join("\n");
            assert!(!loses || says.is_empty() || says.contains("log: rows are damaged"), "{says}");
        }
    }
}

/// Otherwise whoever is to move would lose on time.
#[tokio::test]
async fn clocks_do_not_run_for_events_that_are_lost() {
    let running = folder();
    let store = in_turn(&running, usize::MAX).await;
    let last = history().last().unwrap().at;
    let alive = last.shifted(60_000_000);
    store.journal.mark_alive(alive).await.unwrap();
    let logged = after_a_crash(&running);
    drop(store);
    let flushed = after_a_stop(&running);
    let newest = *rowids(&logged, "log").last().unwrap();
    flip(&logged, "log", "entries", newest, 100);
    let run = *rowids(&flushed, "runs").last().unwrap();
    let bits: i64 = connection(&flushed)
        .query_row("SELECT 8 * length(events) FROM runs WHERE rowid = ?", [run], |row| row.get(0))
        .unwrap();
    flip(&flushed, "runs", "events", run, bits as usize - 50);
    for folder in [&logged, &flushed] {
        let repaired = after_a_stop(folder);
        repair(&repaired);
        for folder in [folder, &repaired] {
            let store = open(folder);
            assert_eq!(open_rooms(&store).await.len() as u64, ROOMS);
            let found = store.journal.load(room_id(ROOMS)).await.unwrap().unwrap();
            let credit = found.events.last().unwrap();
            assert!(matches!(credit.fact, Fact::ClockCredited { micros } if micros >= 60_000_000), "{credit:?}");
            assert_eq!((credit.at, credit.seq), (alive, Seq(history().len() as u64)));
        }
    }
}

/// A room of which nothing sound is stored stays as it is, and is no hindrance.
#[tokio::test]
async fn a_room_without_a_sound_state_is_left_out() {
    let whole = folder();
    let mut test = TestRoom::two_players(default_settings());
    (0..900).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    let store = open(&whole);
    write(&*store.journal, room_id(1), Seq(0), &moved(test.history, room_id(1))).await.unwrap();
    write(&*store.journal, room_id(2), Seq(0), &moved(TestRoom::lobby().history, room_id(2))).await.unwrap();
    store.journal.mark_alive(at(9)).await.unwrap();
    drop(store);
    flip(&whole, "states", "state", 1, 99);
    let (store, rows) = (open(&whole), count(&whole, "runs"));
    assert_eq!(open_rooms(&store).await, [room_id(2)]);
    store.journal.recover(room_id(1)).await.unwrap_err();
    assert_eq!(count(&whole, "runs"), rows);
    drop(store);
    assert!(examine(&whole).findings.join("\n").contains("are lost"));
}

const GAMES: u32 = 400;

/// A file with games, rooms and players, which no server uses.
async fn filled() -> TempDir {
    let folder = folder();
    let store = in_turn(&folder, 500).await;
    let games: Vec<_> = (1..=GAMES).map(|number| game(room_id(9), number, number.into(), ["ada", "bob"])).collect();
    archive(&store, room_id(9), &games).await;
    for player in ["ada", "bob", "cy"].map(profile) {
        store.players.put_player(stored_player(player)).await.unwrap();
    }
    store.players.put_ban(ban("eve", Some(9)), at(1)).await.unwrap();
    store.journal.mark_alive(at(9)).await.unwrap();
    folder
}

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join(SqliteStore::FILE)
}

/// Damages the bytes of a file.
fn damage(folder: &TempDir, damage: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path(folder)).unwrap();
    damage(&mut bytes);
    fs::write(path(folder), bytes).unwrap();
}

/// What an examination finds and a repair saves: games, rooms and players.
fn saved(folder: &TempDir) -> ([u64; 3], String) {
    let before = fs::read(path(folder)).unwrap();
    let found = examine(folder);
    assert!(fs::read(path(folder)).unwrap() == before, "an examination changes nothing");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and leaves nothing");
    repair(folder);
    ([found.games, found.rooms, found.players], found.findings.join("\n"))
}

#[tokio::test]
async fn of_a_truncated_file_what_is_left_is_saved() {
    let whole = filled().await;
    let length = fs::metadata(path(&whole)).unwrap().len() as usize;
    let mut least = 0;
    for nth in 1..=20 {
        let folder = after_a_stop(&whole);
        damage(&folder, |bytes| bytes.truncate(length * nth / 21));
        let ([games, rooms, players], said) = saved(&folder);
        println!("{nth}/21 of {length} bytes: {games} games, {rooms} rooms, {players} players");
        assert!(said.contains("pages; what was on the others is lost"), "{nth}: {said}");
        assert!(games >= least, "{nth}: {games} games of at least {least}");
        least = games;
        let store = open(&folder);
        assert_eq!(store.archive.size().await.unwrap().games, games);
        assert_eq!(open_rooms(&store).await.len() as u64, rooms);
    }
    assert!(least > u64::from(GAMES) * 8 / 10, "{least}");
}

/// The pages of the list of tables, and those above the leaves of the games.
fn pages(folder: &TempDir, condition: &str) -> Vec<usize> {
    let file = connection(folder);
    let mut select = file.prepare(&format!("SELECT pageno FROM dbstat WHERE {condition}")).unwrap();
    let pages = select.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    pages.map(|page| (page.unwrap() as usize - 1) * 4096).collect()
}

#[tokio::test]
async fn a_damaged_first_page_or_list_of_tables_loses_nothing() {
    let whole = filled().await;
    let all = [GAMES.into(), ROOMS + 1, 3];
    let list = pages(&whole, "name = 'sqlite_schema'");
    let above = pages(&whole, "name = 'games' AND pagetype = 'internal'");
    assert!(list.len() > 1 && !above.is_empty());
    for (from, to) in [(0, 100), (0, 4096), (100, 4096), (16, 60), (60, 72)] {
        for byte in [0, 0xA5] {
            let folder = after_a_stop(&whole);
            damage(&folder, |bytes| bytes[from..to].fill(byte));
            let (saved, said) = saved(&folder);
            assert_eq!(saved, all, "{from} to {to}: {said}");
            assert!(said.contains("file: "), "{from} to {to}: {said}");
        }
    }
    for pages in [&list, &above] {
        let folder = after_a_stop(&whole);
        damage(&folder, |bytes| pages.iter().for_each(|page| bytes[*page..page + 4096].fill(0xA5)));
        let (saved, said) = saved(&folder);
        assert_eq!(saved, all, "{said}");
        assert!(said.contains("tables are found by their rows"), "{said}");
    }
    for sql in [
        "DELETE FROM sqlite_schema",
        "DELETE FROM sqlite_schema WHERE name = 'games'",
        "UPDATE sqlite_schema SET name = 'gamez', tbl_name = 'gamez' WHERE name = 'games'",
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE games (x)' WHERE name = 'games'",
        "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'states'",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'played') WHERE name = 'games'",
        "UPDATE sqlite_schema SET rootpage = rootpage + 1000 WHERE name = 'runs'",
    ] {
        let folder = after_a_stop(&whole);
        let file = connection(&folder);
        file.execute_batch(&format!("PRAGMA writable_schema = on; {sql}")).unwrap();
        drop(file);
        let (saved, said) = saved(&folder);
        assert_eq!(saved, all, "{sql}: {said}");
        assert!(said.contains("tables are found by their rows"), "{sql}: {said}");
    }
}

#[tokio::test]
async fn a_file_of_others_is_not_taken_for_a_damaged_one() {
    let folder = folder();
    let other = connection(&folder);
    other.execute_batch("CREATE TABLE games (id TEXT PRIMARY KEY, x); INSERT INTO games VALUES ('a', 1)").unwrap();
    drop(other);
    assert!(matches!(Doctor::open(folder.path()), Err(OpenError::Foreign)));
    fs::write(path(&folder), "no database".repeat(1_000)).unwrap();
    assert!(matches!(Doctor::open(folder.path()), Err(OpenError::NoTables)));
}

/// SQLite ends its log at the first wrong checksum, as if a crash had cut it off there.
#[tokio::test]
async fn damage_in_the_middle_of_the_write_ahead_log_is_noticed() {
    let running = folder();
    let store = in_turn(&running, usize::MAX).await;
    let log = |folder: &TempDir| folder.path().join(format!("{}-wal", SqliteStore::FILE));
    let frames = (fs::metadata(log(&running)).unwrap().len() as usize - 32) / (24 + 4096);
    for (byte, is_noticed) in [
        (10, true),
        (20, true),
        (32 + 4120 * (frames / 2) + 100, true),
        (32 + 4120 * (frames / 2) + 17, true),
        (32 + 4120 * (frames / 2) + 2, true),
        (32 + 4120 * (frames - 1) + 100, false),
    ] {
        let folder = after_a_crash(&running);
        let mut bytes = fs::read(log(&folder)).unwrap();
        bytes[byte] ^= 4;
        fs::write(log(&folder), &bytes).unwrap();
        if !is_noticed {
            // The last commit may not have been on the disk.
            assert!(kept(&open(&folder)).await.iter().sum::<usize>() + 1 >= history().len() * ROOMS as usize);
            continue;
        }
        let refused = SqliteStore::open(folder.path()).err();
        assert!(matches!(&refused, Some(OpenError::Damaged(why)) if why.contains("write-ahead log")), "{refused:?}");
        assert_eq!(fs::read(log(&folder)).unwrap(), bytes, "the log stays");
        let found = examine(&folder).findings.join("\n");
        assert!(found.contains("write-ahead log: "), "{found}");
        repair(&folder);
        let kept = kept(&open(&folder)).await;
        assert!(kept.iter().sum::<usize>() + 2 >= history().len() * ROOMS as usize, "byte {byte}: {kept:?}\n{found}");
        goes_on(&folder, &kept).await;
    }
    drop(store);
}

/// Of each commit in turn, as the last but one of a log.
#[tokio::test]
async fn damage_at_the_end_of_the_last_commit_but_one_is_noticed() {
    const FRAME: usize = 24 + 4096;
    let running = folder();
    let store = in_turn(&running, usize::MAX).await;
    let games: Vec<_> = (1..=GAMES).map(|number| game(room_id(9), number, number.into(), ["ada", "bob"])).collect();
    archive(&store, room_id(9), &games).await;
    store.journal.mark_alive(at(9)).await.unwrap();
    let folder = after_a_crash(&running);
    let log = folder.path().join(format!("{}-wal", SqliteStore::FILE));
    let bytes = fs::read(&log).unwrap();
    let frames = (32..bytes.len()).step_by(FRAME);
    let (commits, others): (Vec<_>, Vec<_>) = frames.partition(|frame| bytes[frame + 4..frame + 8] != [0; 4]);
    // A crash can leave two parts of a header that is in two sectors.
    for two in commits.windows(2).filter(|two| two[0] % 512 + 24 <= 512) {
        for byte in [2, 100] {
            let mut bytes = bytes[..two[1] + FRAME].to_vec();
            bytes[two[0] + byte] ^= 4;
            fs::write(&log, &bytes).unwrap();
            let refused = SqliteStore::open(folder.path()).err();
            assert!(matches!(&refused, Some(OpenError::Damaged(why)) if why.contains("last 2 commits")), "{refused:?}");
        }
    }
    // As the end of a commit of an older log, within a last one that was not yet on the disk.
    let torn = *others.iter().find(|frame| *frame % 512 == 512 - 8).expect("a long commit");
    let end = commits.iter().find(|commit| **commit > torn).unwrap() + FRAME;
    let mut bytes = bytes[..end].to_vec();
    bytes[torn + 7] = 1;
    fs::write(&log, &bytes).unwrap();
    assert!(SqliteStore::open(folder.path()).is_ok());
    drop(store);
}

/// Flipped bits in rows of each table: nothing else is lost by one, neither by a start nor by a repair, and what is
/// left of a room is what it was. `REVERSI_FLIPS` says how many for each table.
#[tokio::test]
async fn a_flipped_bit_in_a_row_affects_at_most_its_row() {
    let flips = std::env::var("REVERSI_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(3);
    let whole = filled().await;
    for table in ["games", "played", "players", "standings", "states", "runs", "alive", "archive", "bans"] {
        let file = connection(&whole);
        let columns: Vec<String> = {
            let mut select = file.prepare("SELECT name FROM pragma_table_info(?)").unwrap();
            let names = select.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap);
            // Those of the explorer are made again.
            names.filter(|name: &String| !["explored", "opening_name"].contains(&name.as_str())).collect()
        };
        let (mut unnoticed, mut least) = (Vec::new(), [GAMES.into(), ROOMS + 1, 3]);
        for nth in 0..flips {
            let folder = after_a_stop(&whole);
            let column = &columns[nth * 5 % columns.len()];
            if !flip_somewhere(&folder, table, column, nth) {
                continue;
            }
            let found = examine(&folder);
            if found.findings.is_empty() {
                unnoticed.push(column.clone());
            }
            for (least, found) in least.iter_mut().zip([found.games, found.rooms, found.players]) {
                *least = found.min(*least);
            }
            let repaired = after_a_stop(&folder);
            repair(&repaired);
            for folder in [&folder, &repaired] {
                let store = open(folder);
                let filter = GameFilter::visible_to(id("eve"));
                let games = store.archive.games(filter, None, GAMES as usize).await.unwrap().games.len();
                assert!(games + 1 >= GAMES as usize, "{table}.{column}: {games} games");
                for room in (1..=ROOMS).map(room_id) {
                    let Ok(Some(found)) = store.journal.recover(room).await else { panic!("{table}.{column}: {room}") };
                    let events = (found.latest().seq().0 as usize).min(history().len());
                    assert!(events > 0, "{table}.{column}: {room}");
                }
                assert!(store.players.players().await.unwrap().len() >= 2, "{table}.{column}");
            }
        }
        println!("{table}: {flips} flips; at least {least:?} games, rooms, players; not noticed in {unnoticed:?}");
        assert!(least >= [u64::from(GAMES) - 1, ROOMS + 1, 2], "{table}: {least:?}");
        assert!(!["games", "states", "runs", "archive"].contains(&table) || unnoticed.is_empty(), "{unnoticed:?}");
    }
}

/// Flips a bit of a value of some row, unless that is null or the table refuses the new value.
fn flip_somewhere(folder: &TempDir, table: &str, column: &str, nth: usize) -> bool {
    let file = connection(folder);
    let (rows, at) = (count(folder, table), nth as i64 * 37);
    let key = match table {
        "played" => "contestant, ended_us, game",
        "standings" => "contestant",
        _ => "rowid",
    };
    let one = format!("FROM {table} ORDER BY {key} LIMIT 1 OFFSET ?1");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let select = format!("SELECT CAST({column} AS BLOB), typeof({column}) {one}");
    let (value, kind): (Option<Vec<u8>>, String) = file.query_row(&select, [at % rows], read).unwrap();
    let Some(mut value) = value.filter(|value| !value.is_empty()) else { return false };
    let bit = (nth * 7919 + 3) % (8 * value.len());
    value[bit / 8] ^= 1 << (bit % 8);
    let update = format!(
        "UPDATE OR IGNORE {table} SET {column} = CAST(?2 AS {kind}) WHERE ({key}) = (SELECT {key} {one}) \
        AND {column} IS NOT CAST(?2 AS {kind})"
    );
    file.execute(&update, params![at % rows, value]).is_ok_and(|rows| rows > 0)
}
