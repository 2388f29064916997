//! What is saved of damaged data: flipped bits in rows.

use reversi::{
    room::{Event, Fact, Room, Seq},
    store::Store,
};
use rusqlite::params;
use tempfile::TempDir;

use crate::{
    room::test_room::{TestRoom, chat, default_settings},
    store::{
        after_a_crash, after_a_stop, at, connection, count,
        doctor::{examine, repair},
        folder,
        games::game,
        load, moved, open, open_rooms, open_with_log, room_id, write,
    },
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

/// Of a room whose state is damaged nothing is lost: its events begin with its creation. Of one whose run is, the events from
/// there on are.
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
