//! The opening explorer and the ranking, over the API.

use reversi::proto::v1::{self, explore_position_request::Subject};
use tonic::Code;

use super::records::lost_to_roxanne;
use crate::harness::in_process::{Player, SeatedRoom, TestServer, field, named, refused};

async fn explore(player: &Player, moves: &str) -> v1::ExplorePositionResponse {
    player.records().explore_position(of(moves)).await.unwrap().into_inner()
}

fn of(moves: &str) -> v1::ExplorePositionRequest {
    v1::ExplorePositionRequest { subject: Some(Subject::Transcript(moves.into())), ..Default::default() }
}

#[tokio::test]
async fn a_finished_game_is_explored() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let room = ada.create_with(named("explored"), ["me", "random"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    ada.play(&game, 0, "f5").await.unwrap();
    ada.resign(&game).await.unwrap();
    let start = explore(&ada, "").await;
    assert_eq!(start.opening, "");
    let first = &start.moves[0];
    assert_eq!(first.squares, ["d3", "c4", "f5", "e6"]);
    assert_eq!((first.games, first.won, first.drawn, first.lost, first.average_rating), (1, 0, 0, 1, 0));
    assert_eq!((start.recent.len(), &start.recent[0].game_id, &start.recent[0].room_id), (1, &game, &room));
    assert!(start.recent[0].plies.is_empty() && start.best.is_empty());
    assert_eq!(explore(&ada, "f5d6c3d3c4").await.opening, "Tiger");
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let wrong = [
        (v1::ExplorePositionRequest::default(), "subject"),
        (of("f5f5"), "transcript"),
        (v1::ExplorePositionRequest { kind: 9, ..of("") }, "kind"),
        (v1::ExplorePositionRequest { min_rating: -1, ..of("") }, "min_rating"),
        (v1::ExplorePositionRequest { max_rating: 1 << 20, ..of("") }, "max_rating"),
    ];
    for (request, expected) in wrong {
        let details = refused(ada.records().explore_position(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), expected);
    }
    let over = v1::Position {
        board: format!("{}XX------XX{}", "-".repeat(27), "-".repeat(27)),
        side_to_move: v1::Side::White.into(),
        ..Default::default()
    };
    let request = v1::ExplorePositionRequest { subject: Some(Subject::Position(over)), ..Default::default() };
    refused(ada.records().explore_position(request).await, Code::FailedPrecondition, "GAME_OVER");
}

#[tokio::test]
async fn the_explorer_does_not_assist_in_a_rated_game() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings { rated: true, ..named("rated") };
    let SeatedRoom { black, game, .. } = server.two_player_game(settings).await;
    refused(black.records().explore_position(of("")).await, Code::FailedPrecondition, "WRONG_PHASE");
    black.resign(&game).await.unwrap();
    explore(&black, "").await;
}

#[tokio::test]
async fn the_ranking_has_pages() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    lost_to_roxanne(&ada).await;
    let request = |page_token: &str| v1::ListRatingsRequest {
        provisional: true,
        page_size: 1,
        page_token: page_token.into(),
        ..Default::default()
    };
    let first = ada.records().list_ratings(request("")).await.unwrap().into_inner();
    let second = ada.records().list_ratings(request(&first.next_page_token)).await.unwrap().into_inner();
    assert_eq!((first.participants[0].rank, second.participants[0].rank), (1, 2));
    let value = |page: &v1::ListRatingsResponse| page.participants[0].stats.unwrap().rating.unwrap().value;
    assert!(value(&first) > value(&second));
    let settled = v1::ListRatingsRequest { provisional: false, ..request("") };
    let settled = ada.records().list_ratings(settled).await.unwrap().into_inner().participants;
    let [v1::RankedParticipant { participant: Some(first_settled), .. }] = &*settled else { panic!("{settled:?}") };
    let is_ai = matches!(first_settled.participant, Some(v1::participant::Participant::Ai(_)));
    assert!(is_ai, "after one game only the anchors are settled: {first_settled:?}");
    let others = [
        request("1"),
        v1::ListRatingsRequest { kind: v1::ParticipantKind::Ai.into(), ..request(&first.next_page_token) },
        v1::ListRatingsRequest { provisional: false, ..request(&first.next_page_token) },
    ];
    for other in others {
        refused(ada.records().list_ratings(other).await, Code::InvalidArgument, "BAD_PAGE_TOKEN");
    }
    let larger = v1::ListRatingsRequest { page_size: 9, ..request(&first.next_page_token) };
    let larger = ada.records().list_ratings(larger).await.unwrap().into_inner().participants;
    assert_eq!((&larger[0], larger.len()), (&second.participants[0], 6), "two players and five anchors, but the first");
}

#[tokio::test]
async fn a_player_who_has_logged_out_leaves_the_ranking_to_the_next_one_of_the_name() {
    let server = TestServer::open().await;
    let (first, bea) = (server.human("Ada").await, server.human("Bea").await);
    lost_to_roxanne(&first).await;
    first.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    let second = server.human("Ada").await;
    lost_to_roxanne(&second).await;
    let of_people =
        v1::ListRatingsRequest { provisional: true, kind: v1::ParticipantKind::Human.into(), ..Default::default() };
    let ranked = bea.records().list_ratings(of_people).await.unwrap().into_inner().participants;
    let players: Vec<_> = ranked.into_iter().map(|ranked| ranked.participant.unwrap().participant.unwrap()).collect();
    assert_eq!(players, [v1::participant::Participant::Player(second.profile.clone())]);
}
