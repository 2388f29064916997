//! The bound of the archive, and its size.

use std::time::Duration;

use reversi_room::{GameId, GameRecord};
use reversi_store::{Archive, GameFilter, Retention, Store, StoreError};

use crate::{
    archive, at, connection, count, fixtures::test_room::id, folder, games::game, on_each, on_each_place, open, room_id,
};

const EVERYTHING: usize = 1_000;

/// Stores games that end at seconds 1 to 10, of which those with an even number are rated.
async fn fill(store: &Store) {
    let games = (1..=10).map(|number| {
        let game = game(room_id(1), number, number.into(), ["ada", "bob"]);
        GameRecord { rated: number % 2 == 0, ..game }
    });
    archive(store, room_id(1), &games.collect::<Vec<_>>()).await;
}

/// The numbers of the stored games, newest first: all, and those of a player.
async fn left(archive: &dyn Archive) -> Vec<u32> {
    let numbers = async |player| {
        let filter = GameFilter { player, ..GameFilter::visible_to(id("eve")) };
        let page = archive.games(filter, None, 100).await.unwrap();
        page.games.iter().map(|game| game.id.number).collect::<Vec<_>>()
    };
    let all = numbers(None).await;
    assert_eq!(numbers(Some(id("ada"))).await, all, "the games of a player are gone as well");
    assert_eq!(archive.size().await.unwrap().games, all.len() as u64);
    all
}

on_each!(the_oldest_unrated_games_go_first_and_then_the_oldest_rated_ones, async |store| {
    fill(store).await;
    let archive = &*store.archive;
    let results = archive.player_stats(id_of("ada")).await.unwrap();
    let trim = async |most, limit| archive.trim(Retention::Games(most), at(0), limit).await.unwrap();
    assert_eq!((trim(10, EVERYTHING).await, trim(11, EVERYTHING).await), (0, 0));
    assert_eq!(trim(7, 2).await, 2, "as many as asked for");
    assert_eq!(left(archive).await, [10, 9, 8, 7, 6, 5, 4, 2]);
    assert_eq!(trim(7, EVERYTHING).await, 1);
    assert_eq!(left(archive).await, [10, 9, 8, 7, 6, 4, 2]);
    assert_eq!(trim(3, EVERYTHING).await, 4);
    assert_eq!(left(archive).await, [10, 8, 6]);
    assert_eq!(archive.game(GameId { room: room_id(1), number: 1 }).await.unwrap(), None);
    assert_eq!(archive.player_stats(id_of("ada")).await.unwrap(), results, "the results stay");
    assert_eq!(store.players.profile(id("ada")).await.unwrap().map(|ada| ada.id), Some(id("ada")));
});

on_each!(unrated_games_are_kept_for_a_time_and_rated_ones_for_ever, async |store| {
    fill(store).await;
    let archive = &*store.archive;
    let trim = async |now, limit| archive.trim(Retention::Age(Duration::from_secs(100)), at(now), limit).await.unwrap();
    assert_eq!(trim(101, EVERYTHING).await, 0, "the first is not older");
    assert_eq!(trim(106, 2).await, 2);
    assert_eq!(left(archive).await, [10, 9, 8, 7, 6, 5, 4, 2]);
    assert_eq!((trim(106, EVERYTHING).await, trim(106, EVERYTHING).await), (1, 0));
    assert_eq!(trim(1_000_000, EVERYTHING).await, 2);
    assert_eq!(left(archive).await, [10, 8, 6, 4, 2]);
});

on_each_place!(removed_games_leave_nothing_in_the_lists_of_players, async |place| {
    let store = place.open().await;
    fill(&store).await;
    assert_eq!(store.archive.trim(Retention::Games(3), at(0), EVERYTHING).await.unwrap(), 7);
    assert_eq!((place.count("games"), place.count("played")), (3, 6));
});

#[tokio::test]
async fn the_size_is_known_without_counting() {
    let folder = folder();
    let store = open(&folder);
    fill(&store).await;
    drop(store);
    let store = open(&folder);
    let size = store.archive.size().await.unwrap();
    assert_eq!(size.games, 10);
    assert!(size.bytes >= 4096 * 10, "{size:?}");
    // Also after another program has removed games.
    connection(&folder).execute("DELETE FROM games WHERE rated", []).unwrap();
    assert_eq!((store.archive.size().await.unwrap().games, count(&folder, "games")), (5, 5));
}

#[tokio::test]
async fn a_damaged_number_of_games_removes_no_kept_game() {
    let folder = folder();
    let store = open(&folder);
    fill(&store).await;
    let trim = async |most| store.archive.trim(Retention::Games(most), at(0), EVERYTHING).await;
    let set = |number: i64| connection(&folder).execute("UPDATE archive SET games = ?", [number]).unwrap();
    for huge in [11, 1 << 20, i64::MAX] {
        set(huge);
        assert_eq!(trim(10).await, Ok(0));
        assert_eq!(count(&folder, "games"), 10, "{huge}");
    }
    set(-1);
    let error = trim(10).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
    assert_eq!(count(&folder, "games"), 10);
    set(1 << 20);
    assert_eq!(trim(8).await, Ok(2), "as many as there are beyond the bound");
    assert_eq!(count(&folder, "games"), 8);
}

/// Neither question reads the games that it does not remove.
#[test]
fn the_oldest_games_are_found_by_an_index() {
    let folder = folder();
    drop(open(&folder));
    let plan = |sql: &str| -> String {
        connection(&folder).query_row(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| row.get("detail")).unwrap()
    };
    let unrated = "SELECT rowid, black FROM games WHERE rated = 0 AND ended_us < 9 ORDER BY ended_us, id LIMIT 9";
    assert!(plan(unrated).contains("USING INDEX unrated_games"), "{}", plan(unrated));
    let all = "SELECT rowid, black FROM games WHERE ended_us <= 9 ORDER BY ended_us, id LIMIT 9";
    assert!(plan(all).contains("USING INDEX games_by_end"), "{}", plan(all));
    let newest = "SELECT 1 FROM games ORDER BY ended_us DESC, id DESC LIMIT 9 OFFSET 9";
    assert!(plan(newest).contains("USING COVERING INDEX games_by_end"), "{}", plan(newest));
}

fn id_of(who: &str) -> reversi_store::Contestant {
    reversi_store::Contestant::Player(id(who))
}
