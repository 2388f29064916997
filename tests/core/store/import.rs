//! Imported games.

use reversi::{
    room::{GameRecord, PlayerId},
    store::{Archive as _, Contestant, GameFilter, PlayerStats, SqliteStore},
};

use crate::{
    room::test_room::id,
    store::{at, folder, games::game, room_id},
};

#[tokio::test]
async fn imported_games_are_listed_and_change_no_statistics() {
    let folder = folder();
    let store = SqliteStore::open(folder.path()).unwrap();
    let games: Vec<GameRecord> = (1..=3).map(|room| game(room_id(room), 1, 10, ["ada", "bob"])).collect();
    assert_eq!(store.import(games[..2].to_vec()).await, Ok(2));
    assert_eq!(store.import(games.clone()).await, Ok(1), "only the new game");
    assert_eq!(store.import(Vec::new()).await, Ok(0));
    for player in [None, Some(id("ada"))] {
        let filter = GameFilter { player, ..GameFilter::visible_to(PlayerId::from_random(9)) };
        let listed = store.games(filter, None, 9).await.unwrap().games;
        assert!(listed.iter().map(|game| &**game).eq(games.iter().rev()));
    }
    assert_eq!(store.player_stats(Contestant::Player(id("ada"))).await, Ok(PlayerStats::default()));
}

#[tokio::test]
async fn games_before_1970_are_kept() {
    let folder = folder();
    let store = SqliteStore::open(folder.path()).unwrap();
    let old = GameRecord { started: at(-1_000), ..game(room_id(1), 1, -1_000, ["ada", "bob"]) };
    assert_eq!(store.import(vec![old.clone()]).await, Ok(1));
    assert_eq!(store.game(old.id).await.unwrap().as_deref(), Some(&old));
}
