//! Damaged rows of the archive, as clients see them.

use reversi::{
    proto::v1,
    store::{SqliteStore, Store},
};
use tonic::Code;

use crate::harness::in_process::{Player, ServerOptions, TestServer, named, refused};

const GAMES: usize = 9;

async fn pages(player: &Player, filter: v1::GameFilter) -> Vec<String> {
    let (mut seen, mut token) = (Vec::new(), String::new());
    for _ in 0..GAMES {
        let filter = Some(filter.clone());
        let request = v1::ListGamesRequest { filter, page_size: 3, page_token: token };
        let page = player.records().list_games(request).await.unwrap().into_inner();
        seen.extend(page.games.into_iter().map(|game| game.game_id));
        token = page.next_page_token;
        if token.is_empty() {
            return seen;
        }
    }
    panic!("the pages do not end");
}

#[tokio::test]
async fn a_damaged_game_is_missing_in_lists_and_exports_and_has_its_own_reason() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::of(SqliteStore::open(folder.path()).unwrap());
    let server = TestServer::with(ServerOptions { store, ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let mut played = Vec::new();
    for _ in 0..GAMES {
        let room = ada.create_with(named("one game"), ["me", "random"]).await.room_id;
        let game = ada.start(&room).await.unwrap().game_id;
        ada.resign(&game).await.unwrap();
        ada.close(&room).await.unwrap();
        played.push(game);
    }
    let broken = played.remove(4);
    played.reverse();
    let tool = rusqlite::Connection::open(folder.path().join(SqliteStore::FILE)).unwrap();
    assert_eq!(tool.execute("UPDATE games SET winner = 'me' WHERE id = ?", [&broken]).unwrap(), 1);

    for filter in [v1::GameFilter::default(), v1::GameFilter { player_id: ada.id.clone(), ..Default::default() }] {
        assert_eq!(pages(&ada, filter.clone()).await, played);
        let request = v1::ExportGamesRequest { filter: Some(filter), ..Default::default() };
        let mut export = ada.records().export_games(request).await.unwrap().into_inner();
        let mut exported = Vec::new();
        while let Some(game) = export.message().await.unwrap() {
            exported.push(game.game_id);
        }
        assert_eq!(exported, played);
    }
    let get = async |game_id: &String| ada.records().get_game(v1::GetGameRequest { game_id: game_id.clone() }).await;
    refused(get(&broken).await, Code::DataLoss, "DAMAGED");
    get(&played[0]).await.unwrap();
}
