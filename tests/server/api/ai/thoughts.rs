//! Search reports of AIs: visible to watchers, not to their opponents.

use reversi::proto::v1::{self, room_event::Event};

use crate::harness::in_process::{Player, TestServer, Watcher, millis, named};

/// The search report of the first move that a watcher sees.
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
async fn an_opponent_gets_search_reports_only_after_the_game() {
    let server = TestServer::open().await;
    let (ada, wim) = (server.human("Ada").await, server.human("Wim").await);
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
async fn nobody_gets_search_reports_of_a_rated_game_before_its_end() {
    let server = TestServer::open().await;
    let (ada, wim) = (server.human("Ada").await, server.human("Wim").await);
    let settings = v1::RoomSettings { rated: true, ..named("cup") };
    let room = ada.create_with(settings, ["mcts", "me"]).await.room_id;
    let mut watcher = wim.watch(&room).await;
    let before = watcher.snapshot().await.seq;
    let game = ada.start(&room).await.unwrap().game_id;

    let seen = first_move(&mut watcher).await;
    assert_eq!(seen.thought, None);
    for player in [&ada, &wim] {
        assert_eq!(plies(player, &room).await, std::slice::from_ref(&seen));
        assert_eq!(first_move(&mut player.watch_after(&room, before).await).await, seen);
    }
    let snapshot = wim.watch(&room).await.snapshot().await;
    assert_eq!(snapshot.game.unwrap().plies, std::slice::from_ref(&seen));

    ada.resign(&game).await.unwrap();
    assert!(plies(&wim, &room).await[0].thought.is_some(), "the game is over");
}

#[tokio::test]
async fn an_ai_without_evaluation_reports_none() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for (kind, searches) in [("roxanne", false), ("alphabeta", true)] {
        let room = ada.create_with(named(kind), [kind, "random"]).await.room_id;
        let mut watcher = ada.watch(&room).await;
        watcher.snapshot().await;
        ada.start(&room).await.unwrap();
        let thought = first_move(&mut watcher).await.thought;
        assert_eq!(thought.is_some(), searches, "{kind}");
        assert_eq!(thought.and_then(|thought| thought.evaluation), None, "its evaluation is not in discs");
    }
}

/// A room with two experts of this level, and a stream that watches it from before the first game.
async fn experts(player: &Player, level: i32, settings: v1::RoomSettings) -> Watcher {
    let expert = v1::AiSeat { kind: "expert".into(), level, seed: 3 };
    let seat = v1::Seat { occupant: Some(v1::seat::Occupant::Ai(expert)), ..Default::default() };
    let seats = vec![seat.clone(), seat];
    let request = v1::CreateRoomRequest { settings: Some(settings), seats, ..Default::default() };
    let room = player.try_create(request).await.unwrap().room_id;
    let mut watcher = player.watch(&room).await;
    watcher.snapshot().await;
    player.start(&room).await.unwrap();
    watcher
}

/// The search reports of the first moves after the opening. Checks that each has a legal move of its position.
async fn first_moves(watcher: &mut Watcher, count: usize) -> Vec<v1::Ply> {
    let mut legal: Vec<String> = Vec::new();
    let mut plies = Vec::new();
    while plies.len() < count {
        let played = watcher.until(|event| match event {
            Event::MovePlayed(played) => Some(played),
            Event::GameEnded(ended) => panic!("the game ended: {ended:?}"),
            _ => None,
        });
        let played = played.await;
        let ply = played.ply.unwrap();
        if !ply.opening {
            assert!(plies.is_empty() || legal.contains(&ply.square), "{ply:?} is none of {legal:?}");
            plies.push(ply);
        }
        legal = played.position.unwrap().legal_moves;
    }
    plies
}

/// Both openings are random moves, after which one side is ahead by nearly 30 discs.
#[tokio::test]
async fn an_expert_of_either_color_reports_the_lead_of_black() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for (moves, ahead) in [("e6f6g6f4e3g7g4h4f5d6e7f7", 1.0), ("f5f6d3g5g7f7h5f4g4f3e6h6", -1.0)] {
        let opening = Some(v1::Opening { opening: Some(v1::opening::Opening::Moves(moves.into())) });
        let mut watcher = experts(&ada, 9, v1::RoomSettings { opening, ..named(moves) }).await;
        let plies = first_moves(&mut watcher, 2).await;
        assert_eq!([plies[0].side(), plies[1].side()], [v1::Side::Black, v1::Side::White]);
        for ply in plies {
            let thought = ply.thought.unwrap();
            let discs = thought.evaluation.unwrap();
            assert!((15.0..=64.0).contains(&(ahead * discs)), "{discs} discs by {moves}, {:?} to move", ply.side);
            assert_eq!(thought.principal_variation.first(), Some(&ply.square));
            assert!(thought.depth > 1 && thought.nodes > 100, "{thought:?}");
        }
    }
}

/// The highest level searches for some seconds.
#[tokio::test]
async fn an_expert_with_little_time_moves_in_time() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let settings = v1::RoomSettings { move_limit: millis(1_000), ..named("hurried") };
    let mut watcher = experts(&ada, 16, settings).await;
    for ply in first_moves(&mut watcher, 3).await {
        // On a machine that is busy with other tests, the time may be enough for a move without a search only.
        let line = ply.thought.map_or_else(Vec::new, |thought| thought.principal_variation);
        assert!(line.first().is_none_or(|first| *first == ply.square), "{line:?}");
    }
}
