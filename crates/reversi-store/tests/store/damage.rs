//! Damaged rows and pages: each is skipped, and affects nothing else.

use std::{
    fs::{self, File},
    io::{Seek as _, SeekFrom, Write as _},
    sync::Arc,
};

use futures_util::future::join;
use reversi_room::{CloseReason, DisplayName, Event, Fact, GameId, PlayerId, Profile, Room, Seq};
use reversi_store::{Append, AppendError, Contestant, Doctor, GameFilter, PlayerStats, SqliteStore, Store, StoreError};
use tempfile::TempDir;

use crate::{
    after_a_stop, archive, at, ban, connection, count, creation_of,
    doctor::Games,
    ended,
    fixtures::test_room::{TestRoom, chat, id, profile},
    folder,
    games::game,
    load,
    log::in_pages,
    lossy_folder::LossyFolder,
    moved, open, room_id, stored_player, write,
};

const GAMES: u32 = 9;

/// A store with games of a room that end at seconds 1 to 9.
async fn filled() -> (TempDir, Store) {
    let folder = folder();
    let store = open(&folder);
    let games: Vec<_> = (1..=GAMES).map(|number| game(room_id(1), number, number.into(), ["ada", "bob"])).collect();
    archive(&store, room_id(1), &games).await;
    (folder, store)
}

/// All questions that lead to all games.
fn filters() -> [GameFilter; 4] {
    let all = GameFilter::visible_to(PlayerId::from_random(7));
    let of_room = GameFilter { room: Some(room_id(1)), ..all };
    [all, of_room, GameFilter { player: Some(id("ada")), ..all }, GameFilter { player: Some(id("bob")), ..of_room }]
}

/// The games of all pages of `size` games, by number. Fails when the pages do not end.
async fn pages(store: &Store, filter: GameFilter, size: usize) -> Result<Vec<u32>, StoreError> {
    let (mut numbers, mut after) = (Vec::new(), None);
    for _ in 0..=GAMES + 1 {
        let page = store.archive.games(filter, after, size).await?;
        numbers.extend(page.games.iter().map(|game| game.id.number));
        after = page.next;
        if after.is_none() {
            return Ok(numbers);
        }
    }
    panic!("the pages do not end: {numbers:?}")
}

#[tokio::test]
async fn a_damaged_game_is_missing_and_all_others_are_listed() {
    let damages = [
        "transcript = 'f5f5'",
        "transcript = x'ff'",
        "winner = 'nobody'",
        "reason = ''",
        "black = 'x'",
        "white_kind = 'cat'",
        "times_ms = '1 two 3'",
        "opening = -1",
        "move_limit_us = 'soon'",
        "started_us = 'then'",
        "private = 'perhaps'",
        "black_name = 'adb'",
        "times_ms = '9' || times_ms",
    ];
    for damage in damages {
        let numbers: &[u32] = if damage == damages[0] { &[1, 5, GAMES] } else { &[5] };
        for &number in numbers {
            let (folder, store) = filled().await;
            let broken = GameId { room: room_id(1), number };
            let sql = format!("UPDATE games SET {damage} WHERE id = ?");
            assert_eq!(connection(&folder).execute(&sql, [broken.to_string()]).unwrap(), 1);
            let others: Vec<u32> = (1..=GAMES).rev().filter(|other| *other != number).collect();
            for filter in filters() {
                for size in [1, 2, 3, 100] {
                    assert_eq!(pages(&store, filter, size).await.unwrap(), others, "{damage}, pages of {size}");
                }
            }
            let error = store.archive.game(broken).await.unwrap_err();
            assert!(matches!(error, StoreError::Damaged(_)), "{damage}: {error}");
        }
    }
}

#[tokio::test]
async fn a_game_with_a_damaged_key_does_not_stop_the_pages() {
    for damage in ["id = 'x'", "ended_us = 'now'", "id = x'00', ended_us = x'00'"] {
        let (folder, store) = filled().await;
        let sql = format!("UPDATE games SET {damage} WHERE ended_us = 5000000");
        assert_eq!(connection(&folder).execute(&sql, []).unwrap(), 1);
        for filter in filters() {
            for size in [1, 2, 100] {
                let found = pages(&store, filter, size).await.unwrap();
                let others: Vec<_> = found.iter().copied().filter(|number| *number != 5).collect();
                assert_eq!(others, [9, 8, 7, 6, 4, 3, 2, 1], "{damage}, pages of {size}");
            }
        }
    }
}

/// The offset of a page with rows of a table or index, counted from the last one.
fn leaf_page(folder: &TempDir, table: &str, from_last: usize) -> u64 {
    let sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno DESC LIMIT 1 OFFSET ?";
    let row = (table, i64::try_from(from_last).unwrap());
    let page: Option<i64> = connection(folder).query_row(sql, row, |row| row.get(0)).ok();
    (page.expect("SQLite with dbstat") as u64 - 1) * 4096
}

/// Overwrites the last page with rows of a table or index.
pub(crate) fn damage_page(folder: &TempDir, table: &str) {
    damage_page_from_last(folder, table, 0);
}

/// Overwrites a page with rows of a table or index, counted from the last one.
pub(crate) fn damage_page_from_last(folder: &TempDir, table: &str, from_last: usize) {
    let page = leaf_page(folder, table, from_last);
    let mut file = File::options().write(true).open(folder.path().join(SqliteStore::FILE)).unwrap();
    file.seek(SeekFrom::Start(page)).unwrap();
    file.write_all(&[0xA5; 4096]).unwrap();
}

/// A copy of the file on a disk that fails reads of the last page with rows of a table.
pub(crate) fn with_failing_page(folder: &TempDir, table: &str) -> Arc<LossyFolder> {
    let disk = LossyFolder::create(false);
    fs::copy(folder.path().join(SqliteStore::FILE), disk.path().join(SqliteStore::FILE)).unwrap();
    disk.fail_reads(SqliteStore::FILE, leaf_page(folder, table, 0).cast_signed());
    disk
}

#[tokio::test]
async fn a_damaged_page_of_games_hides_only_its_games() {
    let (folder, store) = filled().await;
    let games: Vec<_> = (10..=200).map(|number| game(room_id(1), number, number.into(), ["ada", "bob"])).collect();
    archive(&store, room_id(2), &games).await;
    drop(store);
    damage_page(&folder, "games");
    let store = open(&folder);
    for filter in filters() {
        let found = store.archive.games(filter, None, 1_000).await.unwrap().games.len();
        assert!((150..200).contains(&found), "{found}");
    }
}

/// The disk's own error for a page is as its wrong content.
#[tokio::test]
async fn a_page_that_the_disk_cannot_read_is_damaged() {
    let (folder, store) = filled().await;
    let games: Vec<_> = (10..=200).map(|number| game(room_id(1), number, number.into(), ["ada", "bob"])).collect();
    archive(&store, room_id(2), &games).await;
    drop(store);
    for (table, missing) in [("games", 1..50), ("standings", 0..1)] {
        let disk = with_failing_page(&folder, table);
        let mut found = Games::default();
        let diagnosis = Doctor::open(disk.path()).unwrap().examine(&mut found).unwrap();
        let finding = diagnosis.findings.iter().find(|finding| finding.starts_with(&format!("{table}: ")));
        assert!(finding.is_some_and(|finding| finding.contains("damaged")), "{diagnosis:?}");
        assert!(missing.contains(&(200 - diagnosis.games)), "{table}: {diagnosis:?}");
        let store = Store::of(SqliteStore::open(disk.path()).unwrap());
        for filter in filters() {
            let listed = store.archive.games(filter, None, 1_000).await.unwrap().games.len() as u64;
            assert_eq!(listed, diagnosis.games, "{table}");
        }
        let newest = GameId { room: room_id(1), number: 200 };
        let read = store.archive.game(newest).await;
        assert_eq!(matches!(read, Err(StoreError::Damaged(_))), table == "games", "{read:?}");
        // Its row of games is beyond that page, or one of standings on it.
        archive(&store, room_id(3), &[game(room_id(3), 1, 300, ["ada", "bob"])]).await;
        assert_eq!(load(&store, room_id(3)).await, Room::replay(&creation_of(room_id(3))));
    }
}

/// What a start reads, apart from the log.
#[tokio::test]
async fn damaged_pages_that_a_start_reads_hide_only_what_is_on_them() {
    let whole = folder();
    let store = open(&whole);
    for number in 1..=100 {
        let name = DisplayName::parse(&format!("ada {number:03}")).unwrap();
        let player = Profile { id: PlayerId::from_random(number), name, ..profile("ada") };
        store.players.put_player(stored_player(player)).await.unwrap();
        let mut test = TestRoom::lobby();
        test.ok("ada", chat(&"x".repeat(100)));
        let history = moved(test.history, room_id(number));
        write(&*store.journal, room_id(number), Seq(0), &history).await.unwrap();
        store.players.put_ban(ban(&format!("eve {number:03} {}", "x".repeat(15)), Some(9)), at(1)).await.unwrap();
    }
    store.journal.mark_alive(at(9)).await.unwrap();
    drop(store);
    let some = 40..100;
    let all = 100..101;
    for (place, from_last, players, bans, rooms, alive) in [
        ("players", 1, &some, &all, &all, Some(at(9))),
        ("players_with_token", 0, &all, &all, &all, Some(at(9))),
        ("standings", 0, &all, &all, &all, Some(at(9))),
        ("bans", 0, &all, &some, &all, Some(at(9))),
        ("states", 1, &all, &all, &some, Some(at(9))),
        ("runs", 1, &all, &all, &some, Some(at(9))),
        ("alive", 0, &all, &all, &all, None),
    ] {
        let folder = after_a_stop(&whole);
        damage_page_from_last(&folder, place, from_last);
        let store = open(&folder);
        let known = store.players.players().await.unwrap().len();
        assert!(players.contains(&known), "{place}: {known} players");
        let banned = store.players.bans().await.unwrap().len();
        assert!(bans.contains(&banned), "{place}: {banned} bans");
        for limit in [7, 1_000] {
            let open = in_pages(&store, limit).await;
            assert!(rooms.contains(&open.len()), "{place}: {} rooms", open.len());
            assert_eq!(open.last().map(Room::id), Some(room_id(100)), "{place}: those behind the page as well");
        }
        assert_eq!(store.journal.last_alive().await.unwrap(), alive, "{place}");
        // It goes on.
        write(&*store.journal, room_id(101), Seq(0), &creation_of(room_id(101))).await.unwrap();
    }
}

#[tokio::test]
async fn a_damaged_player_is_missing_and_all_others_are_there() {
    let folder = folder();
    let store = open(&folder);
    for who in ["ada", "bob", "cy"] {
        store.players.put_player(stored_player(profile(who))).await.unwrap();
    }
    for damage in ["token = 'x'", "seats = -1", "kind = 'cat'", "name = ''", "seen_us = 'then'"] {
        let tool = connection(&folder);
        tool.execute_batch("CREATE TABLE before AS SELECT * FROM players").unwrap();
        tool.execute(&format!("UPDATE players SET {damage} WHERE id = ?"), [id("bob").to_string()]).unwrap();
        let mut left: Vec<_> = store.players.players().await.unwrap().into_iter().map(|left| left.profile.id).collect();
        left.sort();
        let mut others = [id("ada"), id("cy")];
        others.sort();
        assert_eq!(left, others, "{damage}");
        let restore = "UPDATE players SET (token, seats, kind, name, seen_us) = \
            (SELECT token, seats, kind, name, seen_us FROM before WHERE before.id = players.id); DROP TABLE before";
        tool.execute_batch(restore).unwrap();
    }
    assert_eq!(store.players.players().await.unwrap().len(), 3);
}

/// Otherwise no game of the player could end.
#[tokio::test]
async fn damaged_results_begin_again_with_the_next_game() {
    let (folder, store) = filled().await;
    let ada = Contestant::Player(id("ada"));
    let sql = "UPDATE standings SET won_against_humans = 'many' WHERE contestant = ?";
    assert_eq!(connection(&folder).execute(sql, [ada.to_string()]).unwrap(), 1);
    let error = store.archive.player_stats(ada.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
    archive(&store, room_id(2), &[game(room_id(2), 1, 20, ["ada", "bob"])]).await;
    let PlayerStats { humans, .. } = store.archive.player_stats(ada).await.unwrap();
    assert_eq!(humans.played(), 1);
    let bob = store.archive.player_stats(Contestant::Player(id("bob"))).await.unwrap();
    assert_eq!(bob.humans.played(), GAMES + 1);
    assert_eq!(count(&folder, "games"), i64::from(GAMES) + 1);
}

/// Otherwise no game could end, and no clock of any room would run: those stand still while writes fail.
#[tokio::test]
async fn a_damaged_archive_stops_no_room() {
    // What a finished game is written to, and whether the game is stored without it.
    let places = [
        ("standings", true),
        ("games", false),
        ("games_by_end", false),
        ("sqlite_autoindex_games_1", false),
        ("played", false),
        ("players", false),
        ("archive", false),
    ];
    for (place, stored) in places {
        let (folder, store) = filled().await;
        drop(store);
        damage_page(&folder, place);
        let store = open(&folder);
        let (ends, goes_on) = (room_id(2), room_id(3));
        let (games, events) = (ended(&[game(ends, 1, 20, ["ada", "bob"])]), creation_of(ends));
        let append = store.journal.append(Append { room: ends, expected: Seq(0), events: &events, games: &games });
        let history = creation_of(goes_on);
        let written = join(append, write(&*store.journal, goes_on, Seq(0), &history)).await;
        assert_eq!(written, (Ok(()), Ok(())), "{place}");
        let found = store.archive.game(GameId { room: ends, number: 1 }).await;
        assert_eq!(matches!(found, Ok(Some(_))), stored, "{place}: {found:?}");
        drop(store);
        let store = open(&folder);
        for (room, events) in [(ends, &events), (goes_on, &history)] {
            assert_eq!(load(&store, room).await, Room::replay(events), "{place}");
        }
    }
}

#[tokio::test]
async fn a_write_that_damage_prevents_says_so() {
    let (folder, store) = filled().await;
    drop(store);
    damage_page(&folder, "sqlite_autoindex_runs_1");
    let store = open(&folder);
    let event = Event { seq: Seq(2), at: at(1), fact: Fact::Closed(CloseReason::Closed) };
    let error = write(&*store.journal, room_id(1), Seq(1), &[event]).await.unwrap_err();
    assert!(matches!(error, AppendError::Damaged(_)), "{error}");
}
