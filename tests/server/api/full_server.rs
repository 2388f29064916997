//! A server whose places for players are all taken.

use std::time::Duration;

use reversi::proto::v1;
use tonic::Code;

use crate::harness::in_process::{Player, TestServer, refused};

async fn is_known(player: &Player) -> bool {
    match player.sessions().get_me(v1::GetMeRequest {}).await {
        Ok(_) => true,
        Err(status) => {
            assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
            false
        }
    }
}

#[tokio::test]
async fn log_ins_of_many_addresses_keep_nobody_out() {
    let server = TestServer::limited(|limits| {
        (limits.players, limits.guest_idle) = (20, Duration::ZERO);
    })
    .await;
    let [claimed, played, member, watcher] =
        [server.human("Ada").await, server.human("Bea").await, server.human("Cleo").await, server.human("Dora").await];
    for player in [&claimed, &played] {
        let room = player.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
        player.resign(&room.game.unwrap().game_id).await.unwrap();
        player.leave(&room.room_id).await.unwrap();
    }
    claimed.sessions().claim_name(v1::ClaimNameRequest {}).await.unwrap();
    let room = member.create(v1::RoomSettings::default()).await.room_id;
    let _stream = watcher.watch(&room).await;

    let mut flood = Vec::new();
    for host in 1..=60 {
        flood.push(server.human_from(host, &format!("flood {host}")).await.unwrap());
    }
    let newcomer = server.human_from(100, "Eve").await.unwrap();
    assert_eq!(newcomer.info().await.players, 20);
    for player in [&claimed, &played, &member, &watcher, &newcomer, &flood[59]] {
        assert!(is_known(player).await, "{}", player.profile.display_name);
    }
    assert!(!is_known(&flood[0]).await, "the longest idle guest made room");
    // The name is free again.
    server.human_from(1, "flood 1").await.unwrap();
}

#[tokio::test]
async fn a_guest_who_has_just_logged_in_keeps_the_place() {
    let server = TestServer::limited(|limits| limits.players = 1).await;
    let ada = server.human("Ada").await;
    refused(server.human_from(2, "Bea").await, Code::ResourceExhausted, "QUOTA_PLAYERS");
    assert!(is_known(&ada).await);
}

#[tokio::test]
async fn the_players_of_an_address_are_limited() {
    let server = TestServer::limited(|limits| limits.players_per_address = 2).await;
    let ada = server.human_from(1, "Ada").await.unwrap();
    server.human_from(1, "Bea").await.unwrap();
    refused(server.human_from(1, "Cleo").await, Code::ResourceExhausted, "QUOTA_PLAYERS");
    server.human_from(2, "Cleo").await.unwrap();
    ada.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    server.human_from(1, "Dora").await.unwrap();
}
