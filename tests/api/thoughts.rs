//! What AIs think of their moves: for those who watch, and not for those who play against them.

use reversi::proto::v1::{self, room_event::Event};

use super::stage::{Player, Stage, Watcher, named};

/// What is told of the first move that somebody watches.
async fn first_move(watcher: &mut Watcher) -> v1::Ply {
    let played = watcher.until(|event| match event {
        Event::MovePlayed(played) => Some(played),
        _ => None,
    });
    played.await.ply.unwrap()
}

async fn plies(player: &Player, room: &str) -> Vec<v1::Ply> {
    player.room(room).await.game.unwrap().plies
}

#[tokio::test]
async fn an_opponent_learns_of_them_after_the_game_only() {
    let stage = Stage::open().await;
    let (ada, wim) = (stage.human("Ada").await, stage.human("Wim").await);
    let room = ada.create_with(named("lesson"), ["mcts", "me"]).await.room_id;
    let (mut opponent, mut watcher) = (ada.watch(&room).await, wim.watch(&room).await);
    opponent.snapshot().await;
    let before = watcher.snapshot().await.seq;
    let game = ada.start(&room).await.unwrap().game_id;

    let seen = first_move(&mut watcher).await;
    let thought = seen.thought.clone().unwrap();
    assert!(thought.evaluation.is_some_and(|discs| discs.abs() <= 64.0), "{thought:?}");
    assert_eq!(thought.principal_variation.first(), Some(&seen.square));
    assert!(thought.depth > 0 && thought.nodes > 0 && thought.principal_variation.len() <= 12);
    assert_eq!(plies(&wim, &room).await, std::slice::from_ref(&seen));
    assert_eq!(first_move(&mut wim.watch_after(&room, before).await).await, seen);

    let veiled = v1::Ply { thought: None, ..seen.clone() };
    assert_eq!(first_move(&mut opponent).await, veiled);
    assert_eq!(plies(&ada, &room).await, std::slice::from_ref(&veiled));
    assert_eq!(first_move(&mut ada.watch_after(&room, before).await).await, veiled);

    ada.resign(&game).await.unwrap();
    assert_eq!(plies(&ada, &room).await, [seen]);
}

#[tokio::test]
async fn an_ai_that_does_not_search_or_count_discs_claims_nothing() {
    let stage = Stage::open().await;
    let ada = stage.human("Ada").await;
    for (kind, searches) in [("roxanne", false), ("alphabeta", true)] {
        let room = ada.create_with(named(kind), [kind, "random"]).await.room_id;
        let mut watcher = ada.watch(&room).await;
        watcher.snapshot().await;
        ada.start(&room).await.unwrap();
        let thought = first_move(&mut watcher).await.thought;
        assert_eq!(thought.is_some(), searches, "{kind}");
        assert_eq!(thought.and_then(|thought| thought.evaluation), None, "its points are no discs");
    }
}
