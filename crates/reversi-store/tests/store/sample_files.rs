//! Samples of the tables before the present schema, with rows in each: what was in them must be read after the upgrade.

use std::{fs, path::PathBuf};

use reversi_engine::rules::Position;
use reversi_room::{Command, DisplayName, EndReason, GameEnd, GameRecord, Seq, Timestamp};
use reversi_store::{
    Append, BackupError, Contestant, Doctor, ExplorerFilter, GameFilter, OpenError, Results, SqliteStore, Store,
    StoredPlayer, backup, restore,
};
use tempfile::TempDir;

use crate::{
    after_a_crash, after_a_stop, at, ban, connection, count,
    damage::damage_page,
    doctor::{examine, repair},
    drive, ended,
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile, secs, square},
    folder,
    games::game,
    load, moved, open, open_rooms, open_with_log, room_id, tournaments, write,
};

/// The version of the sample.
const BEFORE: u8 = 9;

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A folder with the sample.
fn sample_file() -> TempDir {
    let folder = folder();
    fs::copy(sample("sqlite-9.db"), folder.path().join(SqliteStore::FILE)).expect("the sample");
    folder
}

fn version(folder: &TempDir) -> u8 {
    connection(folder).pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// The version of a new file, to which a server upgrades the sample.
fn present() -> u8 {
    let folder = folder();
    drop(open(&folder));
    version(&folder)
}

/// A room with a running game, at its third ply.
fn open_room() -> TestRoom {
    let mut test = TestRoom::two_players(default_settings()).join("cy");
    test.wait(secs(2));
    test.play("d3c3");
    test.ok("cy", chat("well played"));
    test
}

fn players() -> Vec<StoredPlayer> {
    let player = |name, token, seats, claimed, played, seen| StoredPlayer {
        profile: profile(name),
        seats,
        token: [token; 32],
        seen: at(seen),
        claimed,
        availability: None,
        played,
    };
    let mut players = vec![
        player("ada", 0xAD, 1, false, true, 100),
        player("bot-d", 0xB0, 64, false, true, 200),
        player("cy", 0xC1, 1, true, false, 300),
    ];
    players.sort_by_key(|player| player.profile.id.to_string());
    players
}

/// Oldest first. The last is not counted by the explorer.
fn games() -> [GameRecord; 3] {
    let aborted = GameEnd { winner: None, reason: EndReason::Aborted };
    let first = GameRecord { rated: true, ..game(room_id(1), 1, 1_000, ["ada", "bot-d"]) };
    let second = game(room_id(1), 2, 2_000, ["mcts-roxanne:3", "ada"]);
    [first, second, GameRecord { end: aborted, private: true, ..game(room_id(1), 3, 3_000, ["ada", "bob"]) }]
}

/// A game of a file, without a date.
fn imported() -> GameRecord {
    let end = GameEnd { winner: None, reason: EndReason::Agreed };
    let unknown = Timestamp::UNKNOWN;
    GameRecord { started: unknown, ended: unknown, end, margin: Some(0), ..game(room_id(2), 1, 0, ["eve", "fay"]) }
}

/// A game by the columns that the samples have, without ratings.
fn sampled(game: &GameRecord) -> GameRecord {
    let GameRecord { id, room_name, players, end, plies, position, .. } = game.clone();
    GameRecord {
        started: game.started,
        ended: game.ended,
        margin: game.margin,
        opening: game.opening,
        time: game.time,
        private: game.private,
        rated: game.rated,
        thoughts: game.thoughts.clone(),
        ..GameRecord::of_moves(id, room_name, players, end, plies, position)
    }
}

async fn fill(store: &Store) {
    for player in players() {
        store.players.put_player(player).await.unwrap();
    }
    store.players.put_ban(ban("eve", Some(9)), at(1)).await.unwrap();
    store.players.put_ban(ban("192.0.2.0/24", None), at(1)).await.unwrap();
    drive(store, &moved(open_room().history, open_room().room.id()), 4).await;
    let mut closed = TestRoom::lobby();
    closed.ok("ada", Command::Close);
    let closed = moved(closed.history, room_id(1));
    let append = Append { room: room_id(1), expected: Seq(0), events: &closed, games: &ended(&games()) };
    store.journal.append(append).await.unwrap();
    store.archive.import(vec![imported()]).await.unwrap();
    store.archive.count_openings(0, 3, Timestamp(i64::MAX)).await.unwrap();
    store.journal.mark_alive(at(4_000)).await.unwrap();
}

/// Reads everything, and writes.
async fn check(store: &Store) {
    let listed = store.archive.games(GameFilter::visible_to(id("ada")), None, 9).await.unwrap().games;
    assert!(listed.iter().map(|game| sampled(game)).eq(games().iter().rev().chain([&imported()]).map(sampled)));
    // Before her second game, and after her first.
    assert!(listed[1].ratings.white.is_some_and(|rating| rating < 1_500), "{:?}", listed[1].ratings);
    assert_eq!(store.archive.size().await.unwrap().games, 4);
    let all = ExplorerFilter { kind: None, min_rating: None, max_rating: None };
    let played = store.archive.explore(Position::START, all).await.unwrap();
    assert_eq!(played.moves[0].results.played(), 3);
    check_all_but_games(store).await;
    assert_eq!(store.archive.count_openings(0, 9, Timestamp(i64::MAX)).await, Ok(1));
}

async fn check_all_but_games(store: &Store) {
    let mut test = open_room();
    assert_eq!(open_rooms(store).await, [test.room.id()]);
    assert_eq!(load(store, test.room.id()).await.as_ref(), Some(&test.room));
    assert_eq!(store.players.players().await.unwrap(), players());
    assert_eq!(store.players.bans().await.unwrap().len(), 2);
    let bob = DisplayName::parse("bob").unwrap();
    assert_eq!(store.players.named(bob, 9).await, Ok(vec![profile("bob")]), "who has logged out");
    assert_eq!(store.journal.last_alive().await.unwrap(), Some(at(4_000)));
    let player_stats = store.archive.player_stats(Contestant::Player(id("ada"))).await.unwrap();
    let lost = Results { lost: 1, ..Results::default() };
    let won = Results { won: 1, ..Results::default() };
    assert_eq!((player_stats.bots, player_stats.ais, player_stats.humans), (lost, won, Results::default()));
    let rating = player_stats.rating.expect("a rating");
    assert_eq!((rating.games, rating.value < 1_500.0, rating.deviation < 350.0), (1, true, true));

    let (seq, written) = (test.room.seq(), test.history.len());
    test.place(square("c4"));
    write(&*store.journal, test.room.id(), seq, &test.history[written..]).await.unwrap();
    assert_eq!(load(store, test.room.id()).await, Some(test.room));
}

#[tokio::test]
async fn a_file_of_the_version_before_is_upgraded() {
    for open in [SqliteStore::open, SqliteStore::open_source] {
        let folder = sample_file();
        assert_eq!(version(&folder), BEFORE);
        for table in "states runs log alive players bans games played standings archive explored_moves".split(' ') {
            assert!(count(&folder, table) > 0, "the sample has no {table}");
        }
        let store = Store::of(open(folder.path()).unwrap());
        assert_eq!((version(&folder), count(&folder, "log")), (present(), 0));
        check(&store).await;
        assert_eq!(open_rooms(&crate::open(&after_a_crash(&folder))).await, [open_room().room.id()]);
    }
}

/// Versions 15 and 16 added these.
const WITHOUT_TOURNAMENTS: &str = "DROP TABLE tournaments; DROP TABLE tournament_events; \
    ALTER TABLE games DROP COLUMN tournament; ALTER TABLE games DROP COLUMN meeting; \
    ALTER TABLE games DROP COLUMN round; ALTER TABLE games DROP COLUMN public_from_us;";

/// As version 14 left it.
#[tokio::test]
async fn a_file_without_tournaments_is_examined_and_upgraded() {
    let folder = sample_file();
    drop(open(&folder));
    connection(&folder).execute_batch(&format!("{WITHOUT_TOURNAMENTS} PRAGMA user_version = 14")).unwrap();
    assert_eq!(examine(&folder).findings, [""; 0]);
    let repaired = after_a_stop(&folder);
    assert_eq!(repair(&repaired), [""; 0]);
    let [upgraded, repaired] = [&folder, &repaired].map(open);
    assert_eq!(version(&folder), present());
    check(&upgraded).await;
    check_all_but_games(&repaired).await;
    tournaments::fill(&upgraded).await;
    tournaments::fill(&repaired).await;
}

#[tokio::test]
async fn a_backup_of_the_version_before_is_restored_and_upgraded() {
    let (old, new) = (sample_file(), folder());
    let copy = new.path().join("copy");
    assert_eq!(backup(old.path(), &copy, &mut |_, _| {}).unwrap(), None);
    assert_eq!(version(&old), BEFORE, "a backup upgrades nothing");
    restore(&copy, new.path(), &mut |_, _| {}).unwrap();
    assert_eq!(version(&new), BEFORE);
    check(&open(&new)).await;
}

#[tokio::test]
async fn a_file_of_the_version_before_is_examined_as_it_is_and_repaired() {
    for is_damaged in [false, true] {
        let folder = sample_file();
        if is_damaged {
            damage_page(&folder, "games");
        }
        let file = folder.path().join(SqliteStore::FILE);
        let before = fs::read(&file).unwrap();
        let found = examine(&folder);
        assert!(fs::read(&file).unwrap() == before, "an examination changes nothing");
        let games = if is_damaged { 0 } else { 4 };
        assert_eq!((found.games, found.rooms), (games, 1), "{found:?}");
        assert_eq!(found.findings.is_empty(), !is_damaged, "{found:?}");
        assert!(SqliteStore::open(after_a_stop(&folder).path()).is_ok(), "the upgrade reads no games");
        repair(&folder);
        assert_eq!(version(&folder), present());
        check_all_but_games(&open(&folder)).await;
    }
}

#[test]
fn an_older_file_is_refused_and_unchanged() {
    let (old, empty) = (sample_file(), folder());
    connection(&old).pragma_update(None, "user_version", BEFORE - 1).unwrap();
    let file = old.path().join(SqliteStore::FILE);
    let before = fs::read(&file).unwrap();
    let pages = &mut |_, _| {};
    let [backed_up, restored] = [
        backup(old.path(), &empty.path().join("copy"), pages).map(drop),
        restore(&file, empty.path(), pages).map(drop),
    ];
    let of_backup = |refused| match refused {
        Err(BackupError::Store(error) | BackupError::Backup(error)) => Some(error),
        _ => None,
    };
    let refused = [
        SqliteStore::open(old.path()).err(),
        SqliteStore::open_source(old.path()).err(),
        Doctor::open(old.path()).err(),
        of_backup(backed_up),
        of_backup(restored),
    ];
    for error in refused {
        let error = error.expect("refused");
        assert!(matches!(error, OpenError::Older { found: 8, oldest: 9 }), "{error}");
        assert!(error.to_string().contains("967b3f2c"), "{error} should say what to do");
    }
    assert!(fs::read(&file).unwrap() == before);
}

/// Run by hand before the tables change: `cargo test -p reversi-store write_the_sample -- --ignored`.
#[tokio::test]
#[ignore = "writes the samples of the present version"]
async fn write_the_sample_file() {
    let folder = folder();
    // Part of it is flushed into the tables.
    let store = open_with_log(&folder, 200);
    fill(&store).await;
    let path = sample(&format!("sqlite-{}.db", version(&folder)));
    // Copied while open, so that the log is not empty.
    fs::remove_file(&path).ok();
    connection(&folder).execute("VACUUM INTO ?", [path.to_str()]).expect("written");
}

#[cfg(all(unix, feature = "postgres"))]
mod postgres {
    use std::process::Command;

    use reversi_needs::needs;
    use reversi_store::{NodeInfo, PlaceRequest, PostgresError, Sharing, Standby};

    use super::*;
    use crate::postgres::{Database, database};

    /// A database with the sample.
    fn sample_database() -> Database {
        let database = database();
        database.sql(&fs::read_to_string(sample("postgres-2.sql")).expect("the sample"));
        database
    }

    #[needs(postgres)]
    #[tokio::test]
    async fn tables_of_the_version_before_are_upgraded() {
        let database = sample_database();
        let rooms = "room room_state member waiting place_request node fence";
        let others = "players bans games played standings archive explored_moves";
        for table in rooms.split(' ').chain(others.split(' ')) {
            assert_ne!(database.sql(&format!("SELECT count(*) FROM {table}")), "0", "the sample has no {table}");
        }
        let store = database.open().await;
        assert_eq!(database.sql("SELECT version FROM reversi"), present().to_string(), "as in a file");
        check(&store).await;
    }

    /// Versions 13, 14 and 16 added these columns.
    const WITHOUT_ADDED_COLUMNS: &str = "ALTER TABLE games DROP COLUMN black_rating_change, DROP COLUMN white_rating_change, \
        DROP COLUMN black_engine_version, DROP COLUMN white_engine_version, DROP COLUMN tournament, \
        DROP COLUMN meeting, DROP COLUMN round, DROP COLUMN public_from_us; \
        ALTER TABLE players DROP COLUMN availability, DROP COLUMN engine_version";

    /// As `pg_restore --clean` leaves them, which does not drop the tables of a later version.
    #[needs(postgres)]
    #[tokio::test]
    async fn tables_of_the_version_before_that_were_restored_are_upgraded_again() {
        let database = sample_database();
        drop(database.open().await);
        database.sql(&format!("{WITHOUT_ADDED_COLUMNS}; UPDATE reversi SET version = 2"));
        check(&database.open().await).await;
    }

    /// Version 10 has the requests that were done, and no tables of links.
    #[needs(postgres)]
    #[tokio::test]
    async fn tables_without_those_of_links_are_upgraded() {
        let database = sample_database();
        drop(database.open().await);
        database.sql(&format!(
            "{WITHOUT_ADDED_COLUMNS}; DROP TABLE node_unreached, node_status; UPDATE reversi SET version = 10"
        ));
        check(&database.open().await).await;
        assert_eq!(database.sql("SELECT count(*) FROM node_status, node_unreached"), "0");
        assert_eq!(database.sql("SELECT version FROM reversi"), present().to_string());
    }

    /// Version 11 settles each game as it ends. Its servers have settled all games that are in the tables.
    #[needs(postgres)]
    #[tokio::test]
    async fn tables_without_the_queue_of_games_to_settle_are_upgraded() {
        let database = sample_database();
        drop(database.open().await);
        database.sql(&format!(
            "{WITHOUT_ADDED_COLUMNS}; ALTER TABLE games DROP COLUMN unsettled_weight; UPDATE reversi SET version = 11"
        ));
        let store = database.open().await;
        assert_eq!(store.archive.settle(9).await, Ok(0));
        check(&store).await;
        assert_eq!(database.sql("SELECT version FROM reversi"), present().to_string());
        assert_eq!(database.sql("SELECT to_regclass('unsettled_games') IS NULL"), "f");
    }

    /// Version 14 has no tournaments.
    #[needs(postgres)]
    #[tokio::test]
    async fn tables_without_tournaments_are_upgraded() {
        let database = sample_database();
        drop(database.open().await);
        database.sql(&format!("{WITHOUT_TOURNAMENTS} UPDATE reversi SET version = 14"));
        let store = database.open().await;
        check(&store).await;
        tournaments::fill(&store).await;
        assert_eq!(database.sql("SELECT version FROM reversi"), present().to_string());
    }

    #[needs(postgres)]
    #[tokio::test]
    async fn older_tables_are_refused_and_unchanged() {
        let database = sample_database();
        database.sql("UPDATE reversi SET version = 1");
        let refused = database.try_open().await.err().expect("refused");
        assert!(matches!(refused, PostgresError::Older { found: 1, oldest: 2 }), "{refused}");
        assert_eq!(database.sql("SELECT version FROM reversi"), "1");
    }

    #[needs(postgres)]
    #[tokio::test]
    async fn a_server_does_not_upgrade_tables_in_use() {
        let database = sample_database();
        database.sql("UPDATE node SET until = now() + '1 hour'");
        let info = NodeInfo { listens: Some("other".to_owned()), ..NodeInfo::default() };
        let join = async || Standby::join(&database.url(), Sharing { info: info.clone(), ..Sharing::default() }).await;
        let refused = join().await.err();
        assert!(matches!(refused, Some(PostgresError::UsedByOlder)), "{refused:?}");
        assert_eq!(database.sql("SELECT version FROM reversi"), "2");
        database.sql("UPDATE node SET until = now()");
        assert!(join().await.is_ok());
        assert_eq!(database.sql("SELECT version FROM reversi"), present().to_string());
    }

    #[needs(postgres)]
    #[tokio::test]
    async fn a_command_that_is_refused_upgrades_nothing() {
        let database = database();
        let _older = database.try_open().await.unwrap();
        database.sql("UPDATE reversi SET version = 2");
        assert!(matches!(database.try_open().await, Err(PostgresError::InUse)));
        assert_eq!(database.sql("SELECT version FROM reversi"), "2");
    }

    #[tokio::test]
    #[ignore = "writes the samples of the present version"]
    async fn write_the_sample_database() {
        let database = database();
        let store = database.open().await;
        fill(&store).await;
        let room = open_room().room.id();
        store.journal.add_waiting(vec![room]).await.unwrap();
        let place = PlaceRequest { number: 1, player: id("cy"), room, is_seat: true, limit: 9 };
        assert_eq!(store.players.reserve_place(place).await, Ok(true));
        // As after a crash long ago. All rows of the table shard are alike.
        database.sql("UPDATE node SET renewed = 'epoch', until = 'epoch', since = 'epoch'");
        let schema = &database.schema;
        let mut dump = Command::new("pg_dump");
        dump.args(["--inserts", "--no-owner", "--exclude-table-data=*.shard", "-n", schema, "-U", "reversi", "-h"]);
        let dump = dump.arg(database.server.folder()).arg("postgres").output().expect("pg_dump");
        let text = String::from_utf8(dump.stdout).expect("text").replace(&format!("{schema}."), "");
        let is_of_schema = |line: &&str| {
            !line.starts_with("--")
                && !line.starts_with('\\')
                && !line.contains(schema)
                && !line.contains("search_path")
        };
        let mut lines: Vec<_> = text.lines().filter(is_of_schema).filter(|line| !line.is_empty()).collect();
        lines.push("INSERT INTO shard (id, node) SELECT generate_series(0, 4095), id FROM node;");
        let version = database.sql("SELECT version FROM reversi");
        fs::write(sample(&format!("postgres-{version}.sql")), lines.join("\n") + "\n").expect("written");
    }
}
