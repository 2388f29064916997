//! A sample file of each released version of the tables: later servers must be able to open it.

use std::{fs, path::PathBuf};

use reversi_engine::rules::ByColor;
use reversi_room::{
    Command, EndReason, GameEnd, GameRecord, PlayerKind, Room, Seq,
    stored::{encode_event, encode_room},
};
use reversi_store::{Append, Contestant, GameFilter, Results, SqliteStore, Store, StoredPlayer};

use crate::{
    after_a_crash, after_a_stop, at, ban, connection, count,
    damage::damage_page,
    doctor::{examine, repair},
    drive, ended,
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile, secs, square},
    folder,
    games::game,
    load, moved, open, open_rooms, open_with_log, room_id, write,
};

/// The version that the server writes.
const NEWEST: u8 = 9;

fn path(version: u8) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/store-v{version}.db"))
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
    let mut players = vec![
        StoredPlayer {
            profile: profile("ada"),
            seats: 1,
            token: [0xAD; 32],
            seen: at(100),
            claimed: false,
            played: true,
        },
        StoredPlayer {
            profile: profile("bot-d"),
            seats: 64,
            token: [0xB0; 32],
            seen: at(200),
            claimed: false,
            played: true,
        },
    ];
    players.sort_by_key(|player| player.profile.id.to_string());
    players
}

/// Oldest first.
fn games() -> [GameRecord; 3] {
    let aborted = GameEnd { winner: None, reason: EndReason::Aborted };
    let first = GameRecord { rated: true, ..game(room_id(1), 1, 1_000, ["ada", "bot-d"]) };
    let second = game(room_id(1), 2, 2_000, ["mcts-roxanne:3", "ada"]);
    [first, second, GameRecord { end: aborted, private: true, ..game(room_id(1), 3, 3_000, ["ada", "bob"]) }]
}

async fn check(store: &Store) {
    check_all_but_games(store).await;
    let filter = GameFilter { player: Some(id("ada")), ..GameFilter::visible_to(id("ada")) };
    let kept = store.archive.games(filter, None, 9).await.unwrap().games;
    // The first versions have neither ratings nor search reports.
    let common = |game: &GameRecord| GameRecord { ratings: ByColor::default(), thoughts: Vec::new(), ..game.clone() };
    assert!(kept.iter().map(|game| common(game)).eq(games().iter().rev().map(common)));
    assert_eq!(store.archive.size().await.unwrap().games, 3);
}

async fn check_all_but_games(store: &Store) {
    let room = open_room().room;
    assert_eq!(open_rooms(store).await, [room.id()]);
    assert_eq!(load(store, room.id()).await, Some(room));
    assert_eq!(store.players.players().await.unwrap(), players());
    assert_eq!(store.journal.last_alive().await.unwrap(), Some(at(4_000)));
    let player_stats = store.archive.player_stats(Contestant::Player(id("ada"))).await.unwrap();
    let lost = Results { lost: 1, ..Results::default() };
    let won = Results { won: 1, ..Results::default() };
    assert_eq!((player_stats.bots, player_stats.ais, player_stats.humans), (lost, won, Results::default()));
    let rating = player_stats.rating.expect("a rating");
    assert_eq!((rating.games, rating.value < 1_500.0, rating.deviation < 350.0), (1, true, true));
    assert_eq!(players().iter().filter(|player| player.profile.kind == PlayerKind::Bot).count(), 1);
}

#[tokio::test]
async fn files_of_every_version_are_readable_and_writable() {
    for version in 1..=NEWEST {
        let folder = folder();
        fs::copy(path(version), folder.path().join(SqliteStore::FILE)).expect("the sample");
        let logged = if version == 1 { 0 } else { count(&folder, "log") };
        assert_eq!(logged > 0, version > 1, "samples after version 1 have rows in the log");
        assert!(version < 3 || count(&folder, "runs") > 0, "version 3 has runs");
        let store = open(&folder);
        let found = connection(&folder).pragma_query_value(None, "user_version", |row| row.get::<_, u8>(0));
        assert_eq!((found.unwrap(), count(&folder, "log")), (NEWEST, 0));
        let bans = if version < 9 { vec![] } else { vec![ban("eve", Some(9))] };
        assert_eq!(store.players.bans().await, Ok(bans));
        check(&store).await;
        let mut test = open_room();
        let seq = test.room.seq();
        let written = test.history.len();
        test.place(square("c4"));
        write(&*store.journal, test.room.id(), seq, &test.history[written..]).await.unwrap();
        assert_eq!(load(&store, test.room.id()).await.as_ref(), Some(&test.room));
        assert_eq!(load(&open(&after_a_crash(&folder)), test.room.id()).await, Some(test.room));
    }
}

#[tokio::test]
async fn files_of_every_version_are_examined_as_they_are_and_repaired() {
    for (version, is_damaged) in (1..=NEWEST).flat_map(|version| [(version, false), (version, true)]) {
        let folder = folder();
        let file = folder.path().join(SqliteStore::FILE);
        fs::copy(path(version), &file).expect("the sample");
        if is_damaged {
            damage_page(&folder, "games");
        }
        let before = fs::read(&file).unwrap();
        let found = examine(&folder);
        assert!(fs::read(&file).unwrap() == before, "an examination changes nothing");
        let games = if is_damaged { 0 } else { 3 };
        assert_eq!((found.games, found.rooms), (games, 1), "version {version}: {found:?}");
        // The first versions do not keep former players.
        assert!((2..=3).contains(&found.players), "version {version}: {found:?}");
        assert_eq!(found.findings.is_empty(), !is_damaged, "version {version}: {found:?}");
        // The migration to version 6 reads all games.
        let refused = is_damaged && version < 6;
        assert_eq!(SqliteStore::open(after_a_stop(&folder).path()).is_err(), refused, "version {version}");
        repair(&folder);
        let version_now = connection(&folder).pragma_query_value(None, "user_version", |row| row.get::<_, u8>(0));
        assert_eq!(version_now.unwrap(), NEWEST);
        let store = open(&folder);
        if is_damaged { check_all_but_games(&store).await } else { check(&store).await }
    }
}

/// The state after one event, single events after it, and one event before it that could not be removed.
#[tokio::test]
async fn single_events_of_a_long_room_become_runs() {
    let mut test = TestRoom::lobby();
    (1..900).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    let history = moved(test.history, room_id(7));
    let folder = folder();
    fs::copy(path(2), folder.path().join(SqliteStore::FILE)).expect("the sample");
    let tool = connection(&folder);
    let state = encode_room(&Room::replay(&history[..256]).unwrap());
    tool.execute("INSERT INTO states VALUES (7, 256, ?)", [state]).unwrap();
    for event in &history[255..700] {
        let row = (event.seq.0.cast_signed(), encode_event(event));
        tool.execute("INSERT INTO events VALUES (7, ?, ?)", row).unwrap();
    }
    let store = open(&folder);
    let kept = store.journal.load(room_id(7)).await.unwrap().unwrap();
    assert_eq!(kept.events, history[256..700]);
    write(&*store.journal, room_id(7), Seq(700), &history[700..]).await.unwrap();
    drop(store);
    let kept = open(&folder).journal.load(room_id(7)).await.unwrap().unwrap();
    assert_eq!(kept.events, history[900 - 256..]);
    assert_eq!(Some(kept.latest()), Room::replay(&history));
}

/// Run by hand, once for each version of the tables: `cargo test -p reversi-store sample_files -- --ignored`.
#[tokio::test]
#[ignore = "writes the sample that the other test reads"]
async fn write_the_sample() {
    let folder = folder();
    // Part of it is flushed into the tables.
    let store = open_with_log(&folder, 200);
    for player in players() {
        store.players.put_player(player).await.unwrap();
    }
    store.players.put_ban(ban("eve", Some(9)), at(1)).await.unwrap();
    drive(&store, &moved(open_room().history, open_room().room.id()), 4).await;
    let mut closed = TestRoom::lobby();
    closed.ok("ada", Command::Close);
    let closed = moved(closed.history, room_id(1));
    let append = Append { room: room_id(1), expected: Seq(0), events: &closed, games: &ended(&games()) };
    store.journal.append(append).await.unwrap();
    store.journal.mark_alive(at(4_000)).await.unwrap();
    check(&store).await;
    // Copied while open, so that the log is not empty.
    fs::remove_file(path(NEWEST)).ok();
    connection(&folder).execute("VACUUM INTO ?", [path(NEWEST).to_str()]).expect("written");
}
