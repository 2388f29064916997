//! Imported games.

use reversi::{
    room::{GameRecord, PlayerId},
    store::{Contestant, GameFilter, PlayerStats},
};

use crate::{
    room::test_room::id,
    store::{at, games::game, on_each, room_id},
};

#[tokio::test]
async fn imported_games_are_listed_and_change_no_statistics() {
    on_each(async |store| {
        let archive = &*store.archive;
        let games: Vec<GameRecord> = (1..=3).map(|room| game(room_id(room), 1, 10, ["ada", "bob"])).collect();
        assert_eq!(archive.import(games[..2].to_vec()).await, Ok(2));
        assert_eq!(archive.import(games.clone()).await, Ok(1), "only the new game");
        assert_eq!(archive.import(Vec::new()).await, Ok(0));
        for player in [None, Some(id("ada"))] {
            let filter = GameFilter { player, ..GameFilter::visible_to(PlayerId::from_random(9)) };
            let listed = archive.games(filter, None, 9).await.unwrap().games;
            assert!(listed.iter().map(|game| &**game).eq(games.iter().rev()));
        }
        assert_eq!(archive.player_stats(Contestant::Player(id("ada"))).await, Ok(PlayerStats::default()));
    })
    .await;
}

#[tokio::test]
async fn games_before_1970_are_kept() {
    on_each(async |store| {
        let old = GameRecord { started: at(-1_000), ..game(room_id(1), 1, -1_000, ["ada", "bob"]) };
        assert_eq!(store.archive.import(vec![old.clone()]).await, Ok(1));
        assert_eq!(store.archive.game(old.id).await.unwrap().as_deref(), Some(&old));
    })
    .await;
}
