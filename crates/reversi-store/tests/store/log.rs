//! The log in front of the tables: data is readable wherever it currently is, now and after a crash.

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};
use reversi_room::{CloseReason, Event, Fact, Room, RoomId, Seq};
use reversi_store::{AppendError, MemoryStore, Store};
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, at, connection, count, creation_of,
    damage::damage_page_from_last,
    doctor::{examine, repair},
    events,
    fixtures::test_room::{TestRoom, chat, default_settings},
    folder, load, moved, open, open_rooms, open_with_log, room_id, write,
};

/// Few, since each step waits for the disk.
const CASES: u32 = 40;

const ROOMS: usize = 4;

/// A step of a random test of a store.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Appends this many events to a room. A closed room starts again.
    Append(usize, usize),
    /// Appends this many events with an old sequence number.
    StaleAppend(usize, usize),
    Close(usize),
    /// Writes data other than rooms, which also flushes a part of the log.
    Flush,
    /// Opens the store again, with a log of at most this many bytes.
    Restart(usize),
    Crash(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || prop_oneof![Just(0), Just(1_500), Just(40_000), Just(usize::MAX)];
    let step = prop_oneof![
        12 => (0..ROOMS, 1..90_usize).prop_map(|(room, events)| Step::Append(room, events)),
        2 => (0..ROOMS, 1..3_usize).prop_map(|(room, events)| Step::StaleAppend(room, events)),
        2 => (0..ROOMS).prop_map(Step::Close),
        3 => Just(Step::Flush),
        1 => bytes().prop_map(Step::Restart),
        2 => bytes().prop_map(Step::Crash),
    ];
    prop::collection::vec(step, 1..60)
}

/// For each room, more than twice the number of events at which its state advances.
fn histories() -> Vec<Vec<Event>> {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3");
    (0..2_000).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    (1..).take(ROOMS).map(|number| moved(test.history.clone(), room_id(number))).collect()
}

/// A store in a file, and one in memory with the same data.
struct StorePair<'a> {
    histories: &'a [Vec<Event>],
    /// The number of events of each room; 0 if it is not open.
    ends: [usize; ROOMS],
    file: Store,
    folder: TempDir,
    memory: Store,
}

impl StorePair<'_> {
    async fn run(&mut self, step: Step) {
        match step {
            Step::Append(room, events) => {
                let from = self.ends[room];
                let to = (from + events).min(self.histories[room].len());
                assert_eq!(self.append(room, from, &self.histories[room][from..to]).await, Ok(()));
                self.ends[room] = to;
            }
            Step::StaleAppend(room, events) => {
                let from = (self.ends[room] + 1).saturating_sub(2 * events);
                let to = (from + events).min(self.histories[room].len());
                let written = self.append(room, from, &self.histories[room][from..to]).await;
                if from == self.ends[room] {
                    self.ends[room] = to;
                } else {
                    assert_eq!(written, Err(AppendError::Conflict(Seq(self.ends[room] as u64))));
                }
            }
            Step::Close(room) => {
                let last = self.ends[room];
                if last > 0 {
                    let fact = Fact::Closed(CloseReason::Closed);
                    let closed = Event { seq: Seq(last as u64 + 1), at: at(1), fact };
                    assert_eq!(self.append(room, last, &[closed]).await, Ok(()));
                    self.ends[room] = 0;
                }
            }
            Step::Flush => self.file.journal.mark_alive(at(1)).await.unwrap(),
            Step::Restart(log) => {
                // The folder is unlocked once the store is dropped.
                self.file = Store::of(MemoryStore::default());
                assert_eq!(count(&self.folder, "log"), 0, "a stopped server leaves the log empty");
                self.file = open_with_log(&self.folder, log);
            }
            Step::Crash(log) => {
                let found = after_a_crash(&self.folder);
                self.file = open_with_log(&found, log);
                self.folder = found;
            }
        }
    }

    async fn append(&self, room: usize, from: usize, events: &[Event]) -> Result<(), AppendError> {
        let (id, from) = (room_id(room as u64 + 1), Seq(from as u64));
        let written = write(&*self.file.journal, id, from, events).await;
        assert_eq!(write(&*self.memory.journal, id, from, events).await, written);
        written
    }

    async fn check(&self) {
        for (room, end) in (1..).map(room_id).zip(self.ends) {
            let expected = load(&self.memory, room).await;
            assert_eq!(expected.as_ref().map_or(0, |room| room.seq().0), end as u64);
            assert_eq!(load(&self.file, room).await, expected);
        }
        for limit in [1, 2, 100] {
            assert_eq!(in_pages(&self.file, limit).await, in_pages(&self.memory, limit).await);
        }
    }
}

pub(crate) async fn in_pages(store: &Store, limit: usize) -> Vec<Room> {
    let mut rooms: Vec<Room> = Vec::new();
    loop {
        let page = store.journal.open_rooms(rooms.last().map(Room::id), limit).await.unwrap();
        if page.is_empty() {
            return rooms;
        }
        assert!(page.len() <= limit);
        rooms.extend(page);
    }
}

#[test]
fn a_file_store_answers_like_a_memory_store_after_random_steps() {
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = Config { failure_persistence: None, cases: CASES, rng_seed: RngSeed::Fixed(5), ..Config::default() };
    let histories = histories();
    let property = |steps: Vec<Step>| {
        tokio.block_on(async {
            let folder = folder();
            let (file, memory) = (open_with_log(&folder, 1_500), Store::of(MemoryStore::default()));
            let mut pair = StorePair { histories: &histories, ends: [0; ROOMS], file, folder, memory };
            for step in steps {
                pair.run(step).await;
                pair.check().await;
            }
        });
        Ok(())
    };
    TestRunner::new(config).run(&steps(), property).unwrap_or_else(|error| panic!("{error}"));
}

/// Writes a history to these rooms in turn, one event at a time.
async fn write_in_turn(store: &Store, history: &[Event], rooms: std::ops::RangeInclusive<u64>) {
    let rooms: Vec<_> = rooms.map(|number| (room_id(number), moved(history.to_vec(), room_id(number)))).collect();
    for event in 0..history.len() {
        for (room, history) in &rooms {
            write(&*store.journal, *room, Seq(event as u64), &history[event..=event]).await.unwrap();
        }
    }
}

/// The flush runs along with writes, in small parts, and completes.
#[tokio::test]
async fn the_log_stays_bounded() {
    const LOG: u32 = 20_000;
    let (folder, mut most) = (folder(), 0_u32);
    let store = open_with_log(&folder, LOG as usize);
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    for round in 0..10 {
        write_in_turn(&store, &test.history, 10 * round..=10 * round + 9).await;
        let bytes = "SELECT sum(length(entries)) FROM log";
        most = most.max(connection(&folder).query_row(bytes, [], |row| row.get(0)).unwrap());
    }
    assert!(most > LOG / 10 && most < 2 * LOG, "{most} bytes");
    assert!(events(&folder, None) > 80 * test.history.len() as i64, "most events are in the tables");
}

#[tokio::test]
async fn a_long_room_is_readable_at_every_step_of_a_flush() {
    let folder = folder();
    let store = open_with_log(&folder, 0);
    let history = &histories()[0];
    write(&*store.journal, room_id(1), Seq(0), history).await.unwrap();
    let mut steps = Vec::new();
    while count(&folder, "log") > 0 {
        for store in [&store, &open(&after_a_crash(&folder))] {
            assert_eq!(load(store, room_id(1)).await, Room::replay(history));
        }
        let last = "SELECT coalesce(max(last), 0) FROM runs";
        steps.push(connection(&folder).query_row(last, [], |row| row.get::<_, u32>(0)).unwrap());
        assert!(steps.len() < 10);
        store.journal.mark_alive(at(1)).await.unwrap();
    }
    assert_eq!(steps, [0, 1_024], "1,024 events in a flush");
    assert_eq!(load(&store, room_id(1)).await, Room::replay(history));
}

/// A closed room leaves nothing, even if only a part of its events was flushed.
#[tokio::test]
async fn a_room_that_closes_during_a_flush_is_removed() {
    let folder = folder();
    let store = open_with_log(&folder, 10_000);
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    write_in_turn(&store, &test.history, 1..=30).await;
    let (moved, waiting) = (count(&folder, "states"), count(&folder, "log"));
    assert!(moved > 0 && waiting > 0, "{moved} and {waiting}");
    let seq = test.room.seq();
    for room in (1..=30).map(room_id) {
        let closed = Event { seq: seq.next(), at: at(1), fact: Fact::Closed(CloseReason::Closed) };
        write(&*store.journal, room, seq, &[closed]).await.unwrap();
        assert_eq!(load(&store, room).await, None);
    }
    assert_eq!((count(&folder, "states"), count(&folder, "runs")), (0, 0));
    for store in [&store, &open(&after_a_crash(&folder))] {
        assert_eq!(open_rooms(store).await, []);
    }
}

/// The next server reads the rest of the log; a room with missing events goes on from the one before them.
#[tokio::test]
async fn a_damaged_row_affects_only_its_rooms() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = TestRoom::two_players(default_settings()).history;
    write_in_turn(&store, &history, 1..=3).await;
    let found = after_a_crash(&folder);
    // Two events of the second room: the last byte before each row's checksum.
    let damage = "UPDATE log SET entries = CAST(substr(entries, 1, length(entries) - 5) || x'ff' || substr(entries, -4) AS \
        BLOB) WHERE id IN (5, 8)";
    assert_eq!(connection(&found).execute(damage, []), Ok(2));
    for _ in 0..2 {
        let store = open(&found);
        assert_eq!(open_rooms(&store).await, [1, 2, 3].map(room_id));
        assert_eq!(load(&store, room_id(2)).await, Room::replay(&creation_of(room_id(2))));
        assert_eq!(load(&store, room_id(3)).await, Room::replay(&moved(history.clone(), room_id(3))));
        let ids = "SELECT min(id), max(id) FROM log";
        let left: (i64, i64) = connection(&found).query_row(ids, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(left, (-2, -1), "damaged rows are kept for repair");
    }
}

/// Sets a byte of a row of the log; the first byte is 1.
fn set_byte(folder: &TempDir, (row, place): (i64, i64), byte: u8) {
    let damage = "UPDATE log SET entries = CAST(substr(entries, 1, ?2 - 1) || ?3 || substr(entries, ?2 + 1) AS BLOB) \
        WHERE id = ?1";
    assert_eq!(connection(folder).execute(damage, (row, place, [byte])), Ok(1));
}

#[tokio::test]
async fn a_damaged_number_affects_no_other_event() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = TestRoom::two_players(default_settings()).history;
    write_in_turn(&store, &history, 1..=1).await;
    for number in [0, 1, 3, 69, 127] {
        let found = after_a_crash(&folder);
        // The number of an event, after the version, the room and the length.
        set_byte(&found, (5, 11), number);
        for _ in 0..2 {
            assert_eq!(
                load(&open(&found), room_id(1)).await,
                Room::replay(&moved(history.clone(), room_id(1))),
                "{number}"
            );
        }
    }
}

/// With a damaged id, the creation of one room does not create another room: its event has the right one.
#[tokio::test]
async fn a_damaged_id_creates_no_other_room() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = TestRoom::two_players(default_settings()).history;
    write_in_turn(&store, &history, 1..=2).await;
    let found = after_a_crash(&folder);
    set_byte(&found, (1, 9), 7);
    for _ in 0..2 {
        let store = open(&found);
        assert_eq!(open_rooms(&store).await, [1, 2].map(room_id));
        for room in [1, 2].map(room_id) {
            assert_eq!(load(&store, room).await, Room::replay(&moved(history.clone(), room)));
        }
    }
}

/// A crash can leave an event twice, while a room that could not be flushed is moved to the end of the log.
#[tokio::test]
async fn an_event_twice_in_the_log_is_flushed_once() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = &histories()[0][..700];
    for (from, to) in [(0, 10), (10, 600), (600, 700)] {
        write(&*store.journal, room_id(1), Seq(from as u64), &history[from..to]).await.unwrap();
    }
    let found = after_a_crash(&folder);
    assert_eq!(connection(&found).execute("INSERT INTO log SELECT 4, entries FROM log WHERE id = 2", []), Ok(1));
    for _ in 0..2 {
        assert_eq!(load(&open(&found), room_id(1)).await, Room::replay(history));
        assert_eq!(count(&found, "log"), 0);
    }
}

#[tokio::test]
async fn a_damaged_repeat_replaces_nothing() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = &histories()[0][..700];
    for (from, to) in [(0, 600), (600, 700)] {
        write(&*store.journal, room_id(1), Seq(from as u64), &history[from..to]).await.unwrap();
    }
    let found = after_a_crash(&folder);
    let repeat = "INSERT INTO log SELECT 3, CAST(substr(entries, 1, length(entries) - 5) || x'ff' || substr(entries, -4) AS \
        BLOB) FROM log WHERE id = 1";
    assert_eq!(connection(&found).execute(repeat, []), Ok(1));
    assert_eq!(load(&open(&found), room_id(1)).await, Room::replay(history));
}

/// A damaged row with length 0 must not be read as the end of its room.
#[tokio::test]
async fn a_damaged_row_closes_nothing() {
    let folder = folder();
    let store = open_with_log(&folder, usize::MAX);
    let history = TestRoom::two_players(default_settings()).history;
    write_in_turn(&store, &history, 1..=2).await;
    let found = after_a_crash(&folder);
    let damage = "UPDATE log SET entries = CAST(substr(entries, 1, 9) || x'00' || substr(entries, -4) AS BLOB) \
        WHERE id = (SELECT max(id) - 1 FROM log)";
    assert_eq!(connection(&found).execute(damage, []), Ok(1));
    assert_eq!(
        load(&open(&found), room_id(1)).await,
        Room::replay(&moved(history[..history.len() - 1].to_vec(), room_id(1)))
    );
}

/// Rooms go on from before a damaged page, also with a second one, and after a repair instead of a start.
#[tokio::test]
async fn a_damaged_page_of_the_log_takes_only_what_is_behind_it_in_each_room() {
    let running = folder();
    let store = open_with_log(&running, usize::MAX);
    let mut test = TestRoom::lobby();
    (0..100).for_each(|line| drop(test.ok("ada", chat(&format!("line {line} {}", "x".repeat(100))))));
    let history = test.history;
    let of_room = |room| moved(history.clone(), room);
    let rooms = [1, 2].map(room_id);
    write_in_turn(&store, &history, 1..=2).await;
    for (from_last, is_named) in [(0, false), (2, true)] {
        let found = after_a_crash(&running);
        assert!(count(&found, "dbstat WHERE name = 'log' AND pagetype = 'leaf'") > 4);
        damage_page_from_last(&found, "log", from_last);
        let repaired = after_a_stop(&found);
        let findings = examine(&repaired).findings.join("\n");
        assert!(findings.contains("log: pages between row"), "{findings}");
        assert_eq!(findings.contains("has lost its events after"), is_named, "{findings}");
        repair(&repaired);
        for (folder, sets_aside) in [(&found, true), (&repaired, false)] {
            let (store, mut kept) = (open(folder), 0);
            for room in rooms {
                let events = load(&store, room).await.unwrap().seq().0 as usize;
                assert!(events > 20, "{events} events");
                kept += events;
                assert_eq!(load(&store, room).await, Room::replay(&of_room(room)[..events]));
                write(&*store.journal, room, Seq(events as u64), &of_room(room)[events..]).await.unwrap();
            }
            assert!(kept < 2 * history.len(), "{kept} events");
            drop(store);
            assert_eq!(load(&open(folder), rooms[0]).await, Room::replay(&of_room(rooms[0])));
            assert_eq!(count(folder, "log"), 0, "the log is flushed again");
            let aside = count(folder, "sqlite_schema WHERE name = 'damaged_log_1'");
            assert_eq!(aside == 1, sets_aside);
        }
        let said = examine(&found).findings.join("\n");
        assert!(said.contains("log: a server has set aside a damaged one"), "{said}");
    }
}

/// The first event creates the room's row; later events are read from the log and the tables.
#[tokio::test]
async fn a_room_is_read_across_log_and_tables() {
    let folder = folder();
    let store = open_with_log(&folder, 0);
    let (room, history): (RoomId, _) =
        (room_id(1), moved(TestRoom::two_players(default_settings()).history, room_id(1)));
    for event in 0..history.len() {
        write(&*store.journal, room, Seq(event as u64), &history[event..=event]).await.unwrap();
        assert_eq!((events(&folder, None), count(&folder, "log")), (event as i64, 1));
        let kept = store.journal.load(room).await.unwrap().unwrap();
        assert_eq!(kept.events, history[1..=event]);
        assert_eq!(Some(kept.latest()), Room::replay(&history[..=event]));
    }
}
