//! Writes that fail in the middle, after each row in turn, by a trigger that ends a statement or the transaction.

use std::fmt::Debug;

use futures_util::future::join_all;
use reversi_room::{Command, Event, Fact, GameRecord, Room, RoomId, Seq};
use reversi_store::{Append, EndedGame, Store, StoredPlayer};
use rusqlite::{Connection, types::Value};
use tempfile::TempDir;

use crate::{
    after_a_crash, at, connection, count, creation_of, drive, ended, events,
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile},
    folder,
    games::game,
    load, moved, open, open_rooms, open_with_log, room_id, stored_player, tournaments, write,
};

const TABLES: [&str; 11] = [
    "log",
    "states",
    "runs",
    "alive",
    "players",
    "games",
    "played",
    "standings",
    "archive",
    "tournaments",
    "tournament_events",
];

const CHANGES: [&str; 3] = ["INSERT", "UPDATE", "DELETE"];

/// More rows than any test writes.
const UNLIMITED: usize = 1 << 40;

/// How a row fails: its statement is undone, its statement stops, or the transaction is undone.
const FAILURE_MODES: [&str; 3] = ["ABORT", "FAIL", "ROLLBACK"];

/// A store whose writes fail after a given number of rows.
struct FailingRows {
    folder: TempDir,
    store: Store,
    connection: Connection,
}

impl FailingRows {
    /// A store that will fail in this mode; no row fails yet.
    fn with_mode(mode: &str) -> Self {
        Self::in_tables(mode, &TABLES, usize::MAX)
    }

    /// A store in which rows of these tables fail, with a log of at most `log` bytes.
    fn in_tables(mode: &str, tables: &[&str], log: usize) -> Self {
        let folder = folder();
        let (store, connection) = (open_with_log(&folder, log), connection(&folder));
        connection.execute_batch("CREATE TABLE steps (rest INTEGER); INSERT INTO steps VALUES (0)").unwrap();
        for (table, change) in tables.iter().flat_map(|table| CHANGES.map(|change| (table, change))) {
            let trigger = format!(
                "CREATE TRIGGER {change}_{table} AFTER {change} ON {table} BEGIN UPDATE steps SET rest = rest - 1; \
                SELECT RAISE({mode}, 'injected by the test') FROM steps WHERE rest < 0; END"
            );
            connection.execute_batch(&trigger).unwrap();
        }
        let failing = Self { folder, store, connection };
        failing.permit(UNLIMITED);
        failing
    }

    /// Permits this many more rows.
    fn permit(&self, rows: usize) {
        self.connection.execute("UPDATE steps SET rest = ?", [i64::try_from(rows).unwrap()]).unwrap();
    }

    /// Fails the write after each row in turn, until it succeeds. Returns the number of failures. After each of them
    /// nothing is written.
    async fn sweep<E: Debug>(&self, write: impl AsyncFn(&Store) -> Result<(), E>) -> usize {
        let before = self.rows();
        for rows in 0.. {
            self.permit(rows);
            if write(&self.store).await.is_ok() {
                return rows;
            }
            assert!(self.rows() == before, "something was written when row {} failed", rows + 1);
        }
        unreachable!("every write ends")
    }

    /// All rows of the file.
    fn rows(&self) -> Vec<Vec<Value>> {
        TABLES.iter().flat_map(|table| self.rows_of(table)).collect()
    }

    fn rows_of(&self, table: &str) -> Vec<Vec<Value>> {
        let mut select = self.connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = select.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        select.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
    }
}

/// The history of a room in three writes: its creation, the end of a game, and its closing with one more game.
struct RoomLifecycle {
    room: RoomId,
    events: [Vec<Event>; 3],
    games: [Vec<EndedGame>; 3],
}

impl RoomLifecycle {
    fn of(room: RoomId) -> Self {
        let mut test = TestRoom::two_players(default_settings());
        let creation = test.history.len();
        test.play_out();
        let played = test.history.len();
        test.ok("ada", Command::Close);
        let mut events = moved(test.history, room);
        let (closed, played) = (events.split_off(played), events.split_off(creation));
        let rated = |number, ended| GameRecord { rated: true, ..game(room, number, ended, ["ada", "bob"]) };
        Self {
            room,
            events: [events, played, closed],
            games: [ended(&[]), ended(&[rated(1, 10)]), ended(&[rated(2, 20)])],
        }
    }

    fn appends(&self) -> impl Iterator<Item = Append<'_>> {
        self.events.iter().zip(&self.games).map(|(events, games)| {
            let expected = Seq(events[0].seq.0 - 1);
            Append { room: self.room, expected, events, games }
        })
    }
}

#[tokio::test]
async fn an_append_that_fails_at_any_row_leaves_nothing_and_can_be_retried() {
    let lifecycle = RoomLifecycle::of(room_id(1));
    // Once with all data in the log, once with all data flushed into the tables.
    for log in [usize::MAX, 0] {
        let reliable = FailingRows::in_tables("ABORT", &TABLES, log);
        let failing = FAILURE_MODES.map(|mode| FailingRows::in_tables(mode, &TABLES, log));
        for append in lifecycle.appends() {
            reliable.store.journal.append(append).await.unwrap();
            reliable.store.journal.mark_alive(at(1)).await.unwrap();
            let closes = append.events.iter().any(|event| matches!(event.fact, Fact::Closed(_)));
            for failing in &failing {
                let removed =
                    if closes { count(&failing.folder, "runs") + count(&failing.folder, "states") } else { 0 };
                assert_eq!(removed > 0, closes && log == 0);
                let failed = failing.sweep(async |store| store.journal.append(append).await).await;
                // The rows of an append: one in the log; for each game its own, two of its players, their two
                // standings, and the number of games; and the rows that a closed room removes.
                assert!(failed as i64 >= 1 + 6 * append.games.len() as i64 + removed, "{failed} rows");
                failing.permit(UNLIMITED);
                failing.store.journal.mark_alive(at(1)).await.unwrap();
                assert!(failing.rows() == reliable.rows(), "the same rows as without failures");
            }
        }
    }
}

#[tokio::test]
async fn a_failed_append_to_a_tournament_leaves_nothing_and_can_be_retried() {
    for mode in FAILURE_MODES {
        let failing = FailingRows::with_mode(mode);
        let append = async |expected, events, snapshot| {
            let append = tournaments::append(1, expected, events, snapshot);
            failing.sweep(async |store| store.tournaments.append_tournament(append.clone()).await).await
        };
        assert_eq!(append(0, 2, false).await, 3, "its row, and two of events");
        assert_eq!(append(2, 1, true).await, 4, "its row twice, and two of events");
    }
}

/// A failed flush does not fail the write that caused it, and loses nothing.
#[tokio::test]
async fn a_flush_that_fails_at_any_row_loses_nothing() {
    let lines = |lines: u64| {
        let mut test = TestRoom::two_players(default_settings());
        (0..lines).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
        test.history
    };
    for mode in FAILURE_MODES {
        let failing = FailingRows::in_tables(mode, &TABLES, 0);
        let (moving, busy): (Vec<_>, _) = ((1..=16).map(room_id).collect(), room_id(17));
        let histories: Vec<_> = moving.iter().map(|room| moved(lines(20), *room)).collect();
        for (room, history) in moving.iter().zip(&histories) {
            failing.permit(1);
            write(&*failing.store.journal, *room, Seq(0), history).await.unwrap();
        }
        let (mut failures, chat_history) = (0, moved(lines(200), busy));
        let all = histories.iter().map(Vec::len).sum::<usize>() as i64;
        while moving.iter().map(|room| events(&failing.folder, Some(room.bits().cast_signed()))).sum::<i64>() < all {
            // Permits fewer rows than the log gains, so nothing of it is removed.
            failing.permit(1 + 2 * failures);
            write(&*failing.store.journal, busy, Seq(failures as u64), &chat_history[failures..=failures])
                .await
                .unwrap();
            failures += 1;
            let crashed = after_a_crash(&failing.folder);
            connection(&crashed).execute("UPDATE steps SET rest = ?", [UNLIMITED as i64]).unwrap();
            for store in [&failing.store, &open(&crashed)] {
                assert_eq!(load(store, busy).await, Room::replay(&chat_history[..failures]), "{mode}, {failures}");
                for (room, history) in moving.iter().zip(&histories) {
                    assert_eq!(load(store, *room).await, Room::replay(history), "{mode}, {failures}");
                }
                assert_eq!(open_rooms(store).await, (1..=17).map(room_id).collect::<Vec<_>>());
            }
        }
        assert!(failures > 20, "{mode}: {failures}");
    }
}

#[tokio::test]
async fn a_failed_write_of_players_leaves_nothing_and_can_be_retried() {
    for mode in FAILURE_MODES {
        let failing = FailingRows::with_mode(mode);
        let stored_player = |who| stored_player(profile(who));
        for who in ["ada", "bob"] {
            assert_eq!(
                failing.sweep(async |store| store.players.put_player(stored_player(who)).await.map(drop)).await,
                1
            );
        }
        let seen = vec![(id("ada"), at(2)), (id("bob"), at(3))];
        assert_eq!(failing.sweep(async |store| store.players.record_seen(seen.clone()).await).await, 2);
        assert_eq!(failing.sweep(async |store| store.players.remove_player(id("bob")).await).await, 1);
        assert_eq!(failing.sweep(async |store| store.journal.mark_alive(at(9)).await).await, 1);
        let known = failing.store.players.players().await.unwrap();
        assert_eq!(known, [StoredPlayer { seen: at(2), ..stored_player("ada") }]);
        assert_eq!(failing.store.journal.last_alive().await.unwrap(), Some(at(9)));
    }
}

/// One failed write does not fail the others of its commit.
#[tokio::test]
async fn a_failed_write_fails_no_other_of_its_commit() {
    for mode in FAILURE_MODES {
        let folder = folder();
        let store = open(&folder);
        let rooms = [1, 2, 3, 4].map(room_id);
        let trigger = format!(
            "CREATE TRIGGER two AFTER INSERT ON games WHEN NEW.room = '{}' BEGIN SELECT RAISE({mode}, ''); END",
            rooms[1]
        );
        connection(&folder).execute_batch(&trigger).unwrap();
        let events = rooms.map(creation_of);
        let games = rooms.map(|room| ended(&[game(room, 1, 1, ["ada", "bob"])]));
        let all = (0..4).map(|at| Append { room: rooms[at], expected: Seq(0), events: &events[at], games: &games[at] });
        let written = join_all(all.map(|append| store.journal.append(append))).await;
        assert_eq!(written.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true]);
        assert_eq!(open_rooms(&store).await, [1, 3, 4].map(room_id));
        connection(&folder).execute_batch("DROP TRIGGER two").unwrap();
        write(&*store.journal, rooms[1], Seq(0), &events[1]).await.unwrap();
        assert_eq!(open_rooms(&store).await, rooms);
    }
}

/// A room that cannot be flushed moves to the end of the log, so that the log can still shrink.
#[tokio::test]
async fn a_room_that_cannot_be_flushed_does_not_affect_others() {
    for mode in ["ABORT", "FAIL"] {
        let folder = folder();
        let store = open_with_log(&folder, 0);
        let trigger =
            format!("CREATE TRIGGER two AFTER INSERT ON runs WHEN NEW.room = 2 BEGIN SELECT RAISE({mode}, ''); END");
        connection(&folder).execute_batch(&trigger).unwrap();
        let mut test = TestRoom::lobby();
        (0..30).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
        let rooms = [1, 2, 3, 4].map(room_id);
        let histories = rooms.map(|room| moved(test.history.clone(), room));
        for at in 0..test.history.len() {
            for (room, history) in rooms.iter().zip(&histories) {
                write(&*store.journal, *room, Seq(at as u64), &history[at..=at]).await.unwrap();
            }
        }
        let runs_of_two = "SELECT count(*) FROM runs WHERE room = 2";
        assert_eq!(connection(&folder).query_row(runs_of_two, [], |row| row.get(0)), Ok(0));
        assert!(count(&folder, "log") <= 2 && events(&folder, None) >= 3 * 30, "the other rooms are flushed");
        let crashed = after_a_crash(&folder);
        // A server also starts if the room still cannot be flushed, and can read it.
        for (room, history) in rooms.iter().zip(&histories) {
            assert_eq!(load(&open(&crashed), *room).await, Room::replay(history), "{mode}");
        }
        assert_eq!(
            (count(&crashed, "log"), connection(&crashed).query_row(runs_of_two, [], |row| row.get(0))),
            (1, Ok(0))
        );
        connection(&crashed).execute_batch("DROP TRIGGER two").unwrap();
        connection(&folder).execute_batch("DROP TRIGGER two").unwrap();
        let again = creation_of(room_id(5));
        write(&*store.journal, room_id(5), Seq(0), &again).await.unwrap();
        assert_eq!(events(&folder, Some(2)), test.history.len() as i64);
        for store in [&store, &open(&crashed)] {
            for (room, history) in rooms.iter().zip(&histories) {
                assert_eq!(load(store, *room).await, Room::replay(history));
            }
        }
    }
}

/// Runs are flushed even if the state cannot advance; it advances later.
#[tokio::test]
async fn a_checkpoint_that_cannot_move_stays_valid() {
    let mut test = TestRoom::lobby();
    (1..1_100).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    for mode in FAILURE_MODES {
        let failing = FailingRows::in_tables(mode, &["states", "runs"], 0);
        let journal = &*failing.store.journal;
        // The write fails after the runs, after the state, or after some of the outdated runs are removed.
        for (rows, room) in [1, 2, 3].into_iter().zip((1..).map(room_id)) {
            let history = moved(test.history.clone(), room);
            let at_event = |count: usize| Room::replay(&history[..count]);
            drive(&failing.store, &history[..600], 100).await;
            journal.mark_alive(at(1)).await.unwrap();
            write(journal, room, Seq(600), &history[600..800]).await.unwrap();
            failing.permit(rows);
            journal.mark_alive(at(2)).await.unwrap();
            let last = format!("SELECT max(last) FROM runs WHERE room = {}", room.bits());
            let last: i64 = failing.connection.query_row(&last, [], |row| row.get(0)).unwrap();
            // With ROLLBACK the whole transaction is undone.
            assert_eq!(last, if mode == "ROLLBACK" { 600 } else { 800 }, "{mode} after row {rows}");
            assert_eq!(load(&failing.store, room).await, at_event(800), "{mode} after row {rows}");
            failing.permit(UNLIMITED);
            write(journal, room, Seq(800), &history[800..]).await.unwrap();
            assert_eq!(load(&failing.store, room).await, at_event(1_100));
            journal.mark_alive(at(3)).await.unwrap();
            assert_eq!(load(&failing.store, room).await, at_event(1_100));
            let kept = journal.load(room).await.unwrap().unwrap();
            // The runs with the last 256 events are kept; if nothing was flushed before, the first starts at event 600.
            assert_eq!(kept.events.len(), if mode == "ROLLBACK" { 500 } else { 300 });
        }
        let rows = failing.rows_of("runs").len();
        assert_eq!(rows, 3 * 2, "outdated runs are removed");
    }
}
