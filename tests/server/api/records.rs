//! Finished games, and who may see them.

use reversi::proto::v1;
use tonic::Code;

use crate::harness::in_process::{Player, TestServer, field, named, private, refused};

async fn games(player: &Player, filter: v1::GameFilter) -> Vec<String> {
    let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
    let games = player.records().list_games(request).await.unwrap().into_inner().games;
    games.into_iter().map(|game| game.game_id).collect()
}

#[tokio::test]
async fn games_are_paged_newest_first_and_filtered() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut played = Vec::new();
    for name in ["first", "second", "third"] {
        let room = ada.create_with(named(name), ["me", "random"]).await.room_id;
        let game = ada.start(&room).await.unwrap().game_id;
        ada.resign(&game).await.unwrap();
        ada.close(&room).await.unwrap();
        played.push((room, game));
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let rated = Some(v1::GameFilter { rated: Some(true), ..Default::default() });
        let other = v1::ListGamesRequest { filter: rated, page_size: 1, page_token: token.clone() };
        let is_first = token.is_empty();
        assert_eq!(ada.records().list_games(other).await.is_ok(), is_first, "a page of another filter");
        let request = v1::ListGamesRequest { page_size: 1, page_token: token, ..Default::default() };
        let page = ada.records().list_games(request).await.unwrap().into_inner();
        seen.extend(page.games.into_iter().map(|game| game.game_id));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, played.iter().rev().map(|(_, game)| game.clone()).collect::<Vec<_>>());
    let of_room = v1::GameFilter { room_id: played[1].0.clone(), ..Default::default() };
    assert_eq!(games(&ada, of_room).await, [played[1].1.clone()], "games stay after their room is closed");
    let by = |player: &Player| v1::GameFilter { player_id: player.id.clone(), ..Default::default() };
    assert_eq!(games(&ada, by(&ada)).await.len(), 3);
    assert_eq!(games(&ada, by(&server.human("Eve").await)).await.len(), 0);
    assert_eq!(ada.me().await.stats.unwrap().lost, 3);
}

#[tokio::test]
async fn unknown_and_malformed_ids_are_refused() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for game in ["", "nonsense", "000000000000-1", "000000000000"] {
        let request = v1::GetGameRequest { game_id: game.into() };
        refused(ada.records().get_game(request).await, Code::NotFound, "GAME_NOT_FOUND");
    }
    for player in ["", "nonsense"] {
        let request = v1::GetPlayerStatsRequest { player_id: player.into(), ..Default::default() };
        refused(ada.records().get_player_stats(request).await, Code::NotFound, "PLAYER_NOT_FOUND");
    }
    let wrong = [
        (v1::GameFilter { room_id: "x".into(), ..Default::default() }, "filter.room_id"),
        (v1::GameFilter { player_id: "x".into(), ..Default::default() }, "filter.player_id"),
    ];
    for (filter, path) in wrong {
        let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
        assert_eq!(field(&refused(ada.records().list_games(request).await, Code::InvalidArgument, "BAD_ID")), path);
    }
    let beyond = prost_types::Timestamp { seconds: i64::MAX, nanos: 0 };
    let wrong = [
        (v1::GameFilter { kind: 9, ..Default::default() }, "filter.kind"),
        (v1::GameFilter { result: -1, ..Default::default() }, "filter.result"),
        (v1::GameFilter { min_rating: -1, ..Default::default() }, "filter.min_rating"),
        (v1::GameFilter { opening: "Bobcat".into(), ..Default::default() }, "filter.opening"),
        (v1::GameFilter { ended_from: Some(beyond), ..Default::default() }, "filter.ended_from"),
    ];
    for (filter, path) in wrong {
        let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
        let details = refused(ada.records().list_games(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), path);
    }
    let negative = v1::ListGamesRequest { page_size: -1, ..Default::default() };
    let details = refused(ada.records().list_games(negative).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "page_size");
    let format = v1::ExportGamesRequest { format: 9, ..Default::default() };
    let details = refused(ada.records().export_games(format).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "format");
}

#[tokio::test]
async fn an_export_is_limited_and_closed_like_other_streams() {
    let server = TestServer::limited(|limits| limits.streams_per_player = 1).await;
    let ada = server.human("Ada").await;
    let export = async || ada.records().export_games(v1::ExportGamesRequest::default()).await;
    let turns = ada.turns().await;
    refused(export().await, Code::ResourceExhausted, "QUOTA_STREAMS");
    drop(turns);
    let bea = server.human("Bea").await;
    server.runtime.drain();
    let mut lines = bea.records().export_games(v1::ExportGamesRequest::default()).await.unwrap().into_inner();
    refused(lines.message().await, Code::Unavailable, "DRAINING");
}

#[tokio::test]
async fn games_of_private_rooms_are_visible_to_their_players_only() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(private()).await;
    seated.black.resign(&seated.game).await.unwrap();
    let eve = server.human("Eve").await;
    assert!(games(&eve, v1::GameFilter::default()).await.is_empty());
    let of_player = v1::GameFilter { player_id: seated.black.id.clone(), ..Default::default() };
    assert!(games(&eve, of_player).await.is_empty());
    let export = eve.records().export_games(v1::ExportGamesRequest::default()).await.unwrap();
    assert!(export.into_inner().message().await.unwrap().is_none());
    for player in [&seated.black, &seated.white] {
        assert_eq!(games(player, v1::GameFilter::default()).await, std::slice::from_ref(&seated.game));
    }
}

/// A rated game of Ada against `roxanne`, which she resigns once it changes ratings.
pub(super) async fn lost_to_roxanne(ada: &Player) -> String {
    let settings = v1::RoomSettings { rated: true, ..named("books") };
    let room = ada.create_with(settings, ["me", "roxanne"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    let mut turns = ada.turns().await;
    loop {
        let turn = turns.turn_request().await;
        if turn.ply >= 10 {
            break;
        }
        ada.play(&game, turn.ply, &turn.position.unwrap().legal_moves[0]).await.unwrap();
    }
    ada.resign(&game).await.unwrap();
    ada.close(&room).await.unwrap();
    game
}

#[tokio::test]
async fn statistics_have_results_by_opponent_and_a_rating() {
    let server = TestServer::open().await;
    let (ada, eve) = (server.human("Ada").await, server.human("Eve").await);
    assert_eq!(ada.me().await.stats.unwrap().rating, None);
    lost_to_roxanne(&ada).await;
    let stats = ada.me().await.stats.unwrap();
    assert_eq!(stats.against_ais, Some(v1::Score { won: 0, drawn: 0, lost: 1 }));
    assert_eq!((stats.against_humans, stats.against_bots), (Some(v1::Score::default()), Some(v1::Score::default())));
    let rating = stats.rating.unwrap();
    assert_eq!((rating.value.round(), rating.deviation.round(), rating.games), (1338.0, 290.0, 1));
    assert!(rating.provisional);
    for (player_id, display_name) in [(ada.id.as_str(), ""), ("", "ADA"), (ada.id.as_str(), "Eve")] {
        let request = v1::GetPlayerStatsRequest { player_id: player_id.into(), display_name: display_name.into() };
        let answer = eve.records().get_player_stats(request).await.unwrap().into_inner();
        assert_eq!((answer.player.unwrap().player_id, answer.stats), (ada.id.clone(), Some(stats)));
    }
    for level in [0, 1] {
        let request = v1::GetAiStatsRequest { kind: "roxanne".into(), level };
        let roxanne = eve.records().get_ai_stats(request).await.unwrap().into_inner();
        assert_eq!((roxanne.kind.as_str(), roxanne.level), ("roxanne", 1));
        let stats = roxanne.stats.unwrap();
        assert_eq!(stats.against_humans, Some(v1::Score { won: 1, drawn: 0, lost: 0 }));
        assert_eq!(stats.rating.unwrap().value.round(), 1662.0);
    }
    for (kind, level) in [("nobody", 1), ("", 1), ("roxanne", 2), ("roxanne", -1), ("roxanne", 300)] {
        let request = v1::GetAiStatsRequest { kind: kind.into(), level };
        refused(eve.records().get_ai_stats(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
    }
}

#[tokio::test]
async fn helpers_who_resign_after_two_moves_raise_no_rating() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for number in 0..30 {
        let helper = server.human(&format!("Helper {number}")).await;
        let room = helper.create(v1::RoomSettings { rated: true, ..named("gift") }).await.room_id;
        helper.sit(&room, 0).await.unwrap();
        ada.join(&room).await.unwrap();
        ada.sit(&room, 1).await.unwrap();
        ada.ready(&room).await.unwrap();
        let game = helper.start(&room).await.unwrap().game_id;
        helper.play(&game, 0, "d3").await.unwrap();
        ada.play(&game, 1, "c3").await.unwrap();
        helper.resign(&game).await.unwrap();
        helper.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
        ada.leave(&room).await.unwrap();
    }
    let stats = ada.me().await.stats.unwrap();
    assert_eq!((stats.won, stats.rating), (30, None), "no game has changed the initial 1500");
}

#[tokio::test]
async fn games_are_exported_as_json() {
    let server = TestServer::open().await;
    let ada = server.human("Ada \"A\"").await;
    let id = lost_to_roxanne(&ada).await;
    let request = v1::ExportGamesRequest { filter: None, format: v1::ExportFormat::Json.into() };
    let mut lines = ada.records().export_games(request).await.unwrap().into_inner();
    let line = lines.message().await.unwrap().unwrap().line;
    assert_eq!(lines.message().await.unwrap(), None);
    assert!(!line.contains('\n'));
    let game: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(game["game_id"], *id);
    let black =
        serde_json::json!({ "kind": "human", "player_id": ada.id, "name": "Ada \"A\"", "engine_version": null });
    assert_eq!(game["black"], black);
    assert_eq!(game["white"], serde_json::json!({ "kind": "ai", "name": "roxanne:1" }));
    assert_eq!((&game["result"], &game["reason"]), (&"white_wins".into(), &"resignation".into()));
    assert_eq!((&game["room_name"], &game["rated"]), (&"books".into(), &true.into()));
    let lost = serde_json::json!({ "before": null, "after": 1338, "deviation": 290, "weight": 16, "limited": false });
    assert_eq!(game["rating_changes"]["black"], lost);
    let first = &game["moves"][0];
    assert_eq!((&first["side"], &first["square"]), (&"black".into(), &"d3".into()));
    assert!(first["ms"].is_u64() && first.get("opening").is_none());
    assert_eq!(game["time"], serde_json::json!({ "move_ms": 60_000, "total_ms": null, "increment_ms": 0 }));
    let [started, ended] = ["started", "ended"].map(|when| game[when].as_str().unwrap().to_owned());
    assert!(started <= ended && ended.len() >= "2026-01-02T10:00:00Z".len() && ended.ends_with('Z'));
    let discs = game["discs"]["black"].as_i64().unwrap() + game["discs"]["white"].as_i64().unwrap();
    assert_eq!(discs, 4 + i64::try_from(game["moves"].as_array().unwrap().len()).unwrap());
}

#[tokio::test]
async fn results_are_found_after_the_log_out() {
    let server = TestServer::open().await;
    let viewer = server.human("Viewer").await;
    let stats = async |player_id: &str, display_name: &str| {
        let request = v1::GetPlayerStatsRequest { player_id: player_id.into(), display_name: display_name.into() };
        viewer.records().get_player_stats(request).await.map(tonic::Response::into_inner)
    };
    let mut ids = Vec::new();
    for losses in 1..=2 {
        let ada = server.human("Ada").await;
        for _ in 0..losses {
            let room = ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
            ada.resign(&room.game.unwrap().game_id).await.unwrap();
            ada.leave(&room.room_id).await.unwrap();
        }
        assert!(stats(&ada.id, "").await.unwrap().logged_in);
        ada.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
        ids.push(ada.id.clone());
    }
    for (id, losses) in ids.iter().zip([1, 2]) {
        let found = stats(id, "").await.unwrap();
        assert_eq!((found.player.unwrap().display_name.as_str(), found.logged_in), ("Ada", false));
        assert_eq!(found.stats.unwrap().lost, losses);
    }
    let found = stats("", "ADA").await.unwrap();
    assert_eq!((&found.player.unwrap().player_id, found.earlier.len()), (&ids[1], 1));
    assert_eq!(found.earlier[0].player_id, ids[0]);

    // One who has the name now comes first; without a game nothing is kept.
    let third = server.human("Ada").await;
    let found = stats("", "Ada").await.unwrap();
    assert_eq!((found.player.unwrap().player_id, found.logged_in, found.earlier.len()), (third.id.clone(), true, 2));
    third.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    refused(stats(&third.id, "").await, Code::NotFound, "PLAYER_NOT_FOUND");
}

#[tokio::test]
async fn a_player_who_logs_out_during_the_first_game_is_found() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut turns = seated.white.turns().await;
    seated.black.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    turns.game_ended().await;
    let request = v1::GetPlayerStatsRequest { display_name: "Bea".into(), ..Default::default() };
    let found = seated.white.records().get_player_stats(request).await.unwrap().into_inner();
    assert_eq!((found.player.unwrap().player_id, found.stats.unwrap().lost), (seated.black.id.clone(), 1));
}
