//! The examination and the repair of a file.

use reversi_room::{Availability, EngineVersion, Event, GameId, GameRecord, Profile, Seq, Timestamp};
use reversi_store::{
    Archive as _, Contestant, Diagnosis, Doctor, GameFilter, Observer, OpenError, SqliteStore, Store, StoredPlayer,
};
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, archive, at, ban, connection, count,
    damage::damage_page,
    drive,
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile},
    folder,
    games::game,
    load, moved, open, open_rooms, open_with_log, room_id, stored_player, write,
};

/// The ids of the games that an examination finds.
#[derive(Default)]
pub(crate) struct Games(Vec<String>);

impl Observer for Games {
    fn begin(&mut self, _: &'static str, _: u64) {}

    fn advance(&mut self) {}

    fn found(&mut self, game: &GameRecord) {
        self.0.push(game.id.to_string());
    }
}

pub(crate) fn examine(folder: &TempDir) -> Diagnosis {
    let mut games = Games::default();
    let diagnosis = Doctor::open(folder.path()).unwrap().examine(&mut games).unwrap();
    assert_eq!(games.0.len() as u64, diagnosis.games);
    diagnosis
}

/// Repairs the file, after which it has no damage. Returns what was found.
pub(crate) fn repair(folder: &TempDir) -> Vec<String> {
    let (saved, kept) = Doctor::open(folder.path()).unwrap().repair(&mut Games::default()).unwrap();
    assert!(kept.exists());
    let findings = saved.findings.clone();
    assert_eq!(examine(folder), Diagnosis { findings: Vec::new(), more: 0, ..saved });
    findings
}

/// The history of a room with a running game.
fn playing(number: u64) -> Vec<Event> {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3");
    moved(test.history, room_id(number))
}

/// A store with finished games, of which most are of room 1, and rooms with running games.
async fn filled() -> (TempDir, Store) {
    let folder = folder();
    let store = open_with_log(&folder, 200);
    let rated = |number: u32| GameRecord { rated: true, ..game(room_id(1), number, number.into(), ["ada", "bob"]) };
    archive(&store, room_id(1), &(1..=100).map(rated).collect::<Vec<_>>()).await;
    archive(&store, room_id(2), &[game(room_id(2), 1, 200, ["roxanne:1", "cy"])]).await;
    for room in 3..=5 {
        drive(&store, &playing(room), 3).await;
    }
    store.players.put_ban(ban("eve", Some(9)), at(1)).await.unwrap();
    store.journal.mark_alive(at(9)).await.unwrap();
    (folder, store)
}

/// A copy of the file of [`filled`], which no server uses.
async fn closed() -> TempDir {
    let (folder, store) = filled().await;
    drop(store);
    folder
}

async fn is_whole(store: &Store) {
    assert_eq!(open_rooms(store).await, (1..=5).map(room_id).collect::<Vec<_>>());
    for room in 3..=5 {
        assert_eq!(load(store, room_id(room)).await.unwrap().seq(), playing(room).last().unwrap().seq);
    }
    assert_eq!(store.archive.size().await.unwrap().games, 101);
    assert_eq!(store.journal.last_alive().await.unwrap(), Some(at(9)));
    assert_eq!(store.players.bans().await, Ok(vec![ban("eve", Some(9))]));
}

#[tokio::test]
async fn nothing_is_wrong_with_a_file_that_a_server_has_left() {
    let (folder, store) = filled().await;
    let crashed = after_a_crash(&folder);
    drop(store);
    for folder in [&folder, &crashed] {
        let expected = Diagnosis { games: 101, rooms: 5, players: 3, ..Diagnosis::default() };
        assert_eq!(examine(folder), expected);
        repair(folder);
        is_whole(&open(folder)).await;
    }
}

#[tokio::test]
async fn imported_games_have_no_results() {
    let folder = closed().await;
    let store = SqliteStore::open(folder.path()).unwrap();
    store.import(vec![game(room_id(77), 1, 1, ["dee", "eve"])]).await.unwrap();
    drop(store);
    let expected = Diagnosis { games: 102, rooms: 5, players: 3, ..Diagnosis::default() };
    assert_eq!(examine(&folder), expected);
}

#[tokio::test]
async fn the_file_of_a_running_server_and_a_missing_one_are_refused() {
    let folder = folder();
    assert!(matches!(Doctor::open(folder.path()), Err(OpenError::Missing)));
    let store = open(&folder);
    assert!(matches!(Doctor::open(folder.path()), Err(OpenError::InUse)));
    drop(store);
    assert_eq!(examine(&folder), Diagnosis::default());
}

/// Each damage, what the finding says, and how many games and rooms are lost by it.
#[tokio::test]
async fn each_damage_is_found_and_repaired_and_loses_only_its_own_row() {
    let ada = Contestant::Player(id("ada"));
    let cases = [
        ("UPDATE games SET transcript = 'f5f5' WHERE ended_us = 50000000", "is lost", 1, 0),
        ("UPDATE games SET id = x'00' WHERE ended_us = 50000000", "of unknown id is lost", 1, 0),
        ("UPDATE games SET white_name = 'bab' WHERE ended_us = 50000000", "a value was changed", 0, 0),
        ("UPDATE games SET rated = 0 WHERE ended_us = 50000000", "a value was changed", 0, 0),
        ("UPDATE games SET black_discs = 60 WHERE ended_us = 50000000", "the stored discs, 60 -", 0, 0),
        ("UPDATE games SET winner = 'black' WHERE ended_us = 50000000", "its stored winner is not", 0, 0),
        ("UPDATE games SET winner = 'white', times_ms = '1' WHERE ended_us = 50000000", "one time for each move", 0, 0),
        ("DELETE FROM played WHERE ended_us = 50000000", "played: ", 0, 0),
        ("INSERT INTO played VALUES ('mcts:1', 7, 'x')", "played: ", 0, 0),
        ("UPDATE archive SET games = 7", "archive: ", 0, 0),
        ("UPDATE standings SET rating = 'high' WHERE name = 'ada'", "the rating begins again", 0, 0),
        ("UPDATE standings SET won_against_humans = 0, lost_against_humans = 0", "fewer games than are stored", 0, 0),
        ("DELETE FROM standings WHERE name = 'ada'", "missing; the rating is lost", 0, 0),
        ("UPDATE players SET name_key = '' WHERE name = 'bob'", "players, row ", 0, 0),
        ("UPDATE bans SET subject = 'eve'", "the ban is lost", 0, 0),
        ("UPDATE states SET state = x'00' WHERE room = 4", "it has lost nothing, and goes on", 0, 0),
        ("DELETE FROM states WHERE room = 4", "it has lost nothing, and goes on", 0, 0),
        ("UPDATE runs SET events = x'00' WHERE room = 4", "has lost its events after 1, and goes on from there", 0, 0),
        ("UPDATE states SET seq = 7 WHERE room = 4", "it has lost nothing, and goes on", 0, 0),
        ("UPDATE states SET room = 7 WHERE room = 4", "and its running game are lost: room", 0, 0),
        ("UPDATE alive SET us = 'now'", "alive: ", 0, 0),
        ("INSERT INTO log (id, entries) VALUES (-1, x'00')", "log: ", 0, 0),
    ];
    let whole = closed().await;
    let played = open(&whole).archive.player_stats(ada.clone()).await.unwrap().humans;
    for (sql, finding, games, rooms) in cases {
        let folder = after_a_stop(&whole);
        assert!(connection(&folder).execute(sql, []).unwrap() > 0, "{sql}");
        let diagnosis = examine(&folder);
        let said = diagnosis.findings.join("\n");
        assert!(said.contains(finding) && diagnosis.more == 0, "{sql}: {said}");
        assert_eq!((diagnosis.games, diagnosis.rooms), (101 - games, 5 - rooms), "{sql}: {said}");
        assert_eq!(examine(&folder), diagnosis, "an examination changes nothing");
        repair(&folder);
        let store = open(&folder);
        assert_eq!(store.archive.size().await.unwrap().games, 101 - games, "{sql}");
        assert_eq!(open_rooms(&store).await.len() as u64, 5 - rooms, "{sql}");
        let stats = store.archive.player_stats(ada.clone()).await.unwrap();
        assert_eq!(stats.humans, played, "{sql}");
        assert_eq!(stats.rating.is_some(), !finding.contains("rating"), "{sql}");
        // The repaired rooms go on.
        let mut history = TestRoom::two_players(default_settings());
        history.play("d3c3");
        let seq = history.room.seq();
        history.ok("ada", chat("again"));
        write(&*store.journal, room_id(3), seq, &history.history[history.history.len() - 1..]).await.unwrap();
    }
}

#[tokio::test]
async fn damaged_pages_are_replaced_and_all_other_pages_are_saved() {
    let whole = closed().await;
    for (table, games) in [("games", 60..101), ("played", 101..102), ("games_by_end", 101..102)] {
        let folder = after_a_stop(&whole);
        damage_page(&folder, table);
        let diagnosis = examine(&folder);
        assert!(diagnosis.findings.iter().any(|finding| finding.starts_with("file: ")), "{table}: {diagnosis:?}");
        assert!(games.contains(&diagnosis.games), "{table}: {diagnosis:?}");
        repair(&folder);
        let store = open(&folder);
        assert_eq!(open_rooms(&store).await.len(), 5);
        let filter = GameFilter { player: Some(id("ada")), ..GameFilter::visible_to(id("eve")) };
        let listed = store.archive.games(filter, None, 1_000).await.unwrap().games.len() as u64;
        let of_others = store.archive.game(GameId { room: room_id(2), number: 1 }).await.unwrap();
        assert_eq!(listed + u64::from(of_others.is_some()), diagnosis.games, "{table}");
        assert_eq!(count(&folder, "games") as u64, diagnosis.games, "{table}");
        // Ratings do not depend on the games that are left.
        archive(&store, room_id(9), &[game(room_id(9), 1, 300, ["ada", "bob"])]).await;
        let stats = store.archive.player_stats(Contestant::Player(id("ada"))).await.unwrap();
        assert_eq!((stats.humans.played(), stats.rating.map(|rating| rating.games)), (101, Some(100)), "{table}");
        assert_eq!(load(&store, room_id(9)).await.unwrap().seq(), Seq(1));
    }
}

#[tokio::test]
async fn a_repair_keeps_what_players_have_set() {
    let folder = folder();
    let engine_version = Some(EngineVersion::parse("edax 4.6").unwrap());
    let availability = Some(Availability { games_at_once: Some(2), ..Availability::default() });
    let ada = Profile { engine_version, ..profile("ada") };
    let ada = StoredPlayer { availability, ..stored_player(ada) };
    open(&folder).players.put_player(ada.clone()).await.unwrap();
    assert_eq!(repair(&folder), [""; 0]);
    assert_eq!(open(&folder).players.players().await.unwrap(), std::slice::from_ref(&ada));
    // Damaged, they are as good as not set.
    connection(&folder).execute("UPDATE players SET availability = x'00'", []).unwrap();
    assert_eq!(open(&folder).players.players().await.unwrap(), [StoredPlayer { availability: None, ..ada }]);
}

/// As a damaged index may permit it.
#[tokio::test]
async fn a_row_that_is_there_twice_is_repaired() {
    let whole = closed().await;
    for table in ["players", "games", "states", "runs"] {
        let folder = after_a_stop(&whole);
        let sql = format!(
            "CREATE TABLE copies AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE copies RENAME TO {table}; \
            INSERT INTO {table} SELECT * FROM {table}"
        );
        connection(&folder).execute_batch(&sql).unwrap();
        let (saved, _) = Doctor::open(folder.path()).unwrap().repair(&mut Games::default()).unwrap();
        let said = saved.findings.join("\n");
        assert!(said.contains(&format!("{table}, row ")) && said.contains("left out"), "{said}");
        assert_eq!((saved.games, saved.rooms, saved.players), (101, 5, 3), "{table}: {said}");
        assert_eq!(examine(&folder), Diagnosis { findings: Vec::new(), ..saved }, "{table}");
        is_whole(&open(&folder)).await;
    }
}

/// The server may run as another user than the doctor.
#[cfg(unix)]
#[tokio::test]
async fn a_repaired_file_has_the_owner_and_the_mode_of_the_old_one() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

    let folder = closed().await;
    let file = folder.path().join(SqliteStore::FILE);
    for mode in [0o600, 0o640] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        // Only the superuser can do this.
        let _ = chown(&file, Some(4_321), Some(1_234));
        let owner = |path| std::fs::metadata(path).map(|file| (file.uid(), file.gid(), file.mode() & 0o777)).unwrap();
        let before = owner(&file);
        repair(&folder);
        assert_eq!(owner(&file), before);
        assert_eq!(before.2, mode);
    }
}

#[tokio::test]
async fn a_file_that_another_program_writes_is_not_replaced() {
    let folder = closed().await;
    let doctor = Doctor::open(folder.path()).unwrap();
    let other = connection(&folder);
    assert_eq!(other.execute("UPDATE alive SET us = 10", []), Ok(1));
    assert!(matches!(doctor.repair(&mut Games::default()), Err(OpenError::InUse)));
    drop(other);
    assert_eq!(open(&folder).journal.last_alive().await.unwrap(), Some(Timestamp(10)));
}

#[tokio::test]
async fn a_second_repair_keeps_both_damaged_files() {
    let folder = closed().await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        kept.push(Doctor::open(folder.path()).unwrap().repair(&mut Games::default()).unwrap().1);
    }
    let names = kept.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["reversi.db.damaged", "reversi.db.damaged-2"]);
    is_whole(&open(&folder)).await;
}
