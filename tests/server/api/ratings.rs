//! What a rated game says it did to the ratings of its players.

use reversi::proto::v1::{self, UnratedReason, play_event::Event};

use super::quotas::{log_in_at, proxied_server};
use crate::harness::in_process::{Player, SeatedRoom, TestServer, Turns, named};

fn rated() -> v1::RoomSettings {
    v1::RoomSettings { rated: true, ..named("cup") }
}

/// The changes of both ratings, by the next notice of the side `own`.
async fn told(turns: &mut Turns, game: &str, own: v1::Side) -> [v1::RatingChange; 2] {
    let told = turns
        .until(|event| match event {
            Event::RatingChanged(told) => Some(told),
            _ => None,
        })
        .await;
    assert_eq!((told.game_id.as_str(), told.side()), (game, own));
    let [own, opponent] = [told.own.unwrap(), told.opponent.unwrap()];
    if told.side == i32::from(v1::Side::Black) { [own, opponent] } else { [opponent, own] }
}

async fn recorded(player: &Player, game: &str) -> [v1::RatingChange; 2] {
    let request = v1::GetGameRequest { game_id: game.into() };
    let record = player.records().get_game(request).await.unwrap().into_inner().game.unwrap();
    [record.black_rating_change.unwrap(), record.white_rating_change.unwrap()]
}

/// What both players are told of the game that `end` ends, which is also in its record.
async fn changes<T>(seated: &SeatedRoom, end: impl Future<Output = T>) -> [v1::RatingChange; 2] {
    let (mut black, mut white) = (seated.black.turns().await, seated.white.turns().await);
    end.await;
    let changes = told(&mut black, &seated.game, v1::Side::Black).await;
    assert_eq!(told(&mut white, &seated.game, v1::Side::White).await, changes);
    assert_eq!(recorded(&seated.black, &seated.game).await, changes);
    changes
}

#[tokio::test]
async fn both_players_are_told_what_a_rated_game_did_to_their_ratings() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(rated()).await;
    let changes = changes(&seated, seated.play_to_end()).await;
    for (player, change) in [(&seated.black, changes[0]), (&seated.white, changes[1])] {
        let rating = player.me().await.stats.unwrap().rating.unwrap();
        let after = (rating.value.round() as i32, rating.deviation.round() as i32);
        assert_eq!((change.before, change.after, change.deviation), (0, after.0, after.1));
        assert_eq!((change.weight, change.limited, change.unrated()), (16, false, UnratedReason::Unspecified));
    }
}

#[tokio::test]
async fn a_game_that_is_given_up_at_once_costs_only_the_one_who_gives_it_up() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(rated()).await;
    let [loser, winner] = changes(&seated, seated.black.resign(&seated.game)).await;
    assert_eq!((loser.after, loser.weight), (1338, 16));
    let too_short = v1::RatingChange { unrated: UnratedReason::TooShort.into(), ..Default::default() };
    assert_eq!(winner, too_short);
}

#[tokio::test]
async fn an_aborted_game_says_so() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(rated()).await;
    for change in changes(&seated, seated.white.abort(&seated.game)).await {
        assert_eq!((change.unrated(), change.after), (UnratedReason::Aborted, 0));
    }
}

#[tokio::test]
async fn players_of_one_address_are_told_why_nothing_changes() {
    let server = proxied_server().await;
    let [black, white] = [log_in_at(&server, "192.0.2.1", "Bea").await, log_in_at(&server, "192.0.2.1", "Wim").await];
    let room = black.create(rated()).await.room_id;
    black.sit(&room, 0).await.unwrap();
    white.join(&room).await.unwrap();
    white.sit(&room, 1).await.unwrap();
    white.ready(&room).await.unwrap();
    let game = black.start(&room).await.unwrap().game_id;
    let seated = SeatedRoom { black, white, room, game };
    for change in changes(&seated, seated.play_to_end()).await {
        assert_eq!((change.unrated(), change.weight), (UnratedReason::SameAddress, 0));
    }
}

#[tokio::test]
async fn an_unrated_game_says_so_in_its_record_only() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(named("tea")).await;
    let mut turns = seated.black.turns().await;
    seated.play_to_end().await;
    let ended = turns.game_ended().await;
    for change in recorded(&seated.white, &ended.game_id).await {
        assert_eq!(change.unrated(), UnratedReason::Unrated);
    }
    seated.black.close(&seated.room).await.unwrap();
    let next = turns.next().await;
    assert!(matches!(next, Some(Event::RoomClosed(_))), "{next:?}");
}

async fn ranked(player: &Player, kind: v1::ParticipantKind, page_size: i32) -> Vec<(i32, String, i32, i32)> {
    let (mut ranked, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListRatingsRequest { kind: kind.into(), page_size, page_token, ..Default::default() };
        let page = player.records().list_ratings(request).await.unwrap().into_inner();
        for one in page.participants {
            let rating = one.stats.unwrap().rating.unwrap();
            let Some(v1::participant::Participant::Ai(ai)) = one.participant.unwrap().participant else { continue };
            ranked.push((one.rank, format!("{} {}", ai.kind, ai.level), rating.value.round() as i32, rating.games));
        }
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return ranked;
        }
    }
}

#[tokio::test]
async fn a_new_server_ranks_the_anchors_whose_ratings_stay() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let anchors = [(13, 3293), (9, 2404), (6, 1950), (3, 1575), (1, 1235)].into_iter().zip(1..);
    let anchors: Vec<_> = anchors.map(|((level, value), rank)| (rank, format!("expert {level}"), value, 0)).collect();
    for page_size in [0, 1, 2, 5] {
        let all = ranked(&ada, v1::ParticipantKind::Unspecified, page_size).await;
        assert_eq!(all, anchors, "in pages of {page_size}");
    }
    assert!(ranked(&ada, v1::ParticipantKind::Human, 0).await.is_empty());
    let request = v1::GetAiStatsRequest { kind: "expert".into(), level: 6 };
    let stats = ada.records().get_ai_stats(request).await.unwrap().into_inner().stats.unwrap();
    assert_eq!((stats.rating.unwrap().value, stats.rating.unwrap().games), (1950.0, 0));

    let room = ada.create_with(rated(), ["me", "expert"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    let mut turns = ada.turns().await;
    ada.resign(&game).await.unwrap();
    let [own, anchor] = told(&mut turns, &game, v1::Side::Black).await;
    assert!(own.before == 0 && own.after <= 1500 && own.weight == 16, "{own:?}");
    assert_eq!((anchor.before, anchor.unrated()), (3293, UnratedReason::TooShort));
    assert_eq!(ranked(&ada, v1::ParticipantKind::Ai, 3).await, anchors);
}

#[tokio::test]
async fn an_ai_that_has_too_little_time_for_its_level_rates_nobody() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let second = Some(prost_types::Duration { seconds: 1, nanos: 0 });
    let room = ada.create_with(v1::RoomSettings { total_time: second, ..rated() }, ["expert", "mcts"]).await.room_id;
    let mut watcher = ada.watch(&room).await;
    watcher.snapshot().await;
    let game = ada.start(&room).await.unwrap().game_id;
    watcher.game_ended().await;
    for change in recorded(&ada, &game).await {
        assert_eq!(change.unrated(), UnratedReason::HouseShort);
    }
}
