//! Finished games, and who finds them.

use reversi::proto::v1;
use tonic::Code;

use super::stage::{Player, Stage, field, named, private, refused};

async fn games(player: &Player, filter: v1::GameFilter) -> Vec<String> {
    let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
    let games = player.records().list_games(request).await.unwrap().into_inner().games;
    games.into_iter().map(|game| game.game_id).collect()
}

#[tokio::test]
async fn games_are_paged_newest_first_and_filtered() {
    let stage = Stage::open().await;
    let ada = stage.human("Ada").await;
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
    assert_eq!(games(&ada, of_room).await, [played[1].1.clone()], "rooms go, their games stay");
    let by = |player: &Player| v1::GameFilter { player_id: player.id.clone(), ..Default::default() };
    assert_eq!(games(&ada, by(&ada)).await.len(), 3);
    assert_eq!(games(&ada, by(&stage.human("Eve").await)).await.len(), 0);
    assert_eq!(ada.me().await.stats.unwrap().lost, 3);
}

#[tokio::test]
async fn what_does_not_exist_or_cannot_be_read() {
    let stage = Stage::open().await;
    let ada = stage.human("Ada").await;
    for game in ["", "nonsense", "000000000000-1", "000000000000"] {
        let request = v1::GetGameRequest { game_id: game.into() };
        refused(ada.records().get_game(request).await, Code::NotFound, "GAME_NOT_FOUND");
    }
    for player in ["", "nonsense"] {
        let request = v1::GetPlayerStatsRequest { player_id: player.into() };
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
    let negative = v1::ListGamesRequest { page_size: -1, ..Default::default() };
    let details = refused(ada.records().list_games(negative).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "page_size");
    let format = v1::ExportGamesRequest { format: 9, ..Default::default() };
    let details = refused(ada.records().export_games(format).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "format");
}

#[tokio::test]
async fn an_export_is_a_stream_as_every_other() {
    let stage = Stage::limited(|limits| limits.streams_per_player = 1).await;
    let ada = stage.human("Ada").await;
    let export = async || ada.records().export_games(v1::ExportGamesRequest::default()).await;
    let turns = ada.turns().await;
    refused(export().await, Code::ResourceExhausted, "QUOTA_STREAMS");
    drop(turns);
    let bea = stage.human("Bea").await;
    stage.runtime.drain();
    let mut lines = bea.records().export_games(v1::ExportGamesRequest::default()).await.unwrap().into_inner();
    refused(lines.message().await, Code::Unavailable, "DRAINING");
}

#[tokio::test]
async fn the_games_of_a_private_room_are_its_players_own() {
    let stage = Stage::open().await;
    let table = stage.table(private()).await;
    table.black.resign(&table.game).await.unwrap();
    let eve = stage.human("Eve").await;
    assert!(games(&eve, v1::GameFilter::default()).await.is_empty());
    let of_player = v1::GameFilter { player_id: table.black.id.clone(), ..Default::default() };
    assert!(games(&eve, of_player).await.is_empty());
    let export = eve.records().export_games(v1::ExportGamesRequest::default()).await.unwrap();
    assert!(export.into_inner().message().await.unwrap().is_none());
    for player in [&table.black, &table.white] {
        assert_eq!(games(player, v1::GameFilter::default()).await, std::slice::from_ref(&table.game));
    }
}
