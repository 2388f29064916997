//! Imported games.

use reversi_engine::rules::Color;
use reversi_room::{EndReason, GameEnd, GameRecord, PlayerId, Timestamp};
use reversi_store::{Contestant, GameFilter, GameResult, PlayerStats};

use crate::{at, fixtures::test_room::id, games::game, on_each, room_id};

on_each!(imported_games_are_listed_and_change_no_statistics, async |store| {
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
});

on_each!(games_of_an_unknown_date_come_last_and_match_no_time, async |store| {
    let archive = &*store.archive;
    let unknown = |room| GameRecord {
        started: Timestamp::UNKNOWN,
        ended: Timestamp::UNKNOWN,
        ..game(room_id(room), 1, 0, ["ada", "bob"])
    };
    let games = vec![unknown(1), game(room_id(2), 1, -5, ["ada", "bob"]), unknown(3)];
    assert_eq!(archive.import(games.clone()).await, Ok(3));
    assert_eq!(archive.game(games[0].id).await.unwrap().as_deref(), Some(&games[0]));
    for player in [None, Some(id("ada"))] {
        let filter = GameFilter { player, ..GameFilter::visible_to(PlayerId::from_random(9)) };
        let (mut listed, mut after) = (Vec::new(), None);
        for _ in 0..3 {
            let page = archive.games(filter, after, 1).await.unwrap();
            listed.extend(page.games.iter().map(|game| game.id));
            after = page.next;
        }
        // Of equal times, the greater id first.
        assert_eq!(listed, [games[1].id, games[2].id, games[0].id]);
        for (ended_from, ended_before) in [(Some(at(-9)), None), (None, Some(at(9))), (Some(at(-9)), Some(at(9)))] {
            let filter = GameFilter { ended_from, ended_before, ..filter };
            let found = archive.games(filter, None, 9).await.unwrap().games;
            assert_eq!(found.iter().map(|game| game.id).collect::<Vec<_>>(), [games[1].id]);
        }
    }
});

on_each!(the_agreed_score_of_a_game_is_kept, async |store| {
    let end = GameEnd { winner: Some(Color::White), reason: EndReason::Agreed };
    let agreed = GameRecord { end, margin: Some(-6), ..game(room_id(1), 1, 1, ["ada", "bob"]) };
    assert_eq!(store.archive.import(vec![agreed.clone()]).await, Ok(1));
    assert_eq!(store.archive.game(agreed.id).await.unwrap().as_deref(), Some(&agreed));
    for (result, count) in [(GameResult::Won(Color::White), 1), (GameResult::Drawn, 0), (GameResult::Aborted, 0)] {
        let filter = GameFilter { result: Some(result), ..GameFilter::visible_to(PlayerId::from_random(9)) };
        assert_eq!(store.archive.games(filter, None, 9).await.unwrap().games.len(), count, "{result:?}");
    }
});

on_each!(games_before_1970_are_kept, async |store| {
    let old = GameRecord { started: at(-1_000), ..game(room_id(1), 1, -1_000, ["ada", "bob"]) };
    assert_eq!(store.archive.import(vec![old.clone()]).await, Ok(1));
    assert_eq!(store.archive.game(old.id).await.unwrap().as_deref(), Some(&old));
});
