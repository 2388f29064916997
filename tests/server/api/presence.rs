//! Lost connections: what is kept for the player, and for how long.

use std::time::Duration;

use reversi::proto::v1::{self, room_event};
use tonic::Code;

use crate::harness::in_process::{SeatedRoom, TestServer, Watcher, named, refused};

const SHORT: Duration = Duration::from_millis(100);

/// Whether the player is present, by the next event about that.
async fn presence(watcher: &mut Watcher, player: &str) -> bool {
    let present = |event| match event {
        room_event::Event::PresenceChanged(changed) if changed.player_id == player => Some(changed.present),
        _ => None,
    };
    watcher.until(present).await
}

#[tokio::test]
async fn an_absent_owner_is_succeeded_and_gets_the_room_back() {
    let server = TestServer::limited(|limits| limits.presence_grace = SHORT).await;
    let (owner, heir) = (server.human("Owner").await, server.human("Heir").await);
    let room = owner.create_with(named("hers"), ["me", "random"]).await.room_id;
    heir.join(&room).await.unwrap();
    let mut watcher = heir.watch(&room).await;
    watcher.snapshot().await;
    let turns = owner.turns().await;
    drop(turns);
    let away = watcher.until(|event| match event {
        room_event::Event::PresenceChanged(changed) if !changed.present => Some(changed.player_id),
        _ => None,
    });
    assert_eq!(away.await, owner.id);
    let left = watcher.until(|event| match event {
        room_event::Event::MemberLeft(left) => Some((left.reason(), left.player_id)),
        _ => None,
    });
    assert_eq!(left.await, (v1::LeaveReason::Absent, owner.id.clone()));
    let after = watcher.until(|event| match event {
        room_event::Event::OwnerChanged(changed) => Some(changed.owner_id),
        _ => None,
    });
    assert_eq!(after.await, heir.id);
    assert!(matches!(heir.room(&room).await.seats[0].occupant, Some(v1::seat::Occupant::Open(_))));
    assert!(owner.me().await.room_ids.is_empty());
    refused(owner.close(&room).await, Code::PermissionDenied, "NOT_OWNER");
    let _turns = owner.turns().await;
    owner.join(&room).await.unwrap();
    let after = watcher.until(|event| match event {
        room_event::Event::OwnerChanged(changed) => Some(changed.owner_id),
        _ => None,
    });
    assert_eq!(after.await, owner.id);
    owner.close(&room).await.unwrap();
}

#[tokio::test]
async fn a_co_owner_manages_the_room_but_does_not_give_it_away() {
    let server = TestServer::open().await;
    let (owner, helper) = (server.human("Owner").await, server.human("Helper").await);
    let room = owner.create_with(named("club"), ["open", "random"]).await.room_id;
    helper.join(&room).await.unwrap();
    let mut watcher = helper.watch(&room).await;
    watcher.snapshot().await;
    let request = |co_owner| v1::SetCoOwnerRequest { room_id: room.clone(), player_id: helper.id.clone(), co_owner };
    refused(helper.rooms().set_co_owner(request(true)).await, Code::PermissionDenied, "NOT_OWNER");
    owner.rooms().set_co_owner(request(true)).await.unwrap();
    let named = watcher.until(|event| match event {
        room_event::Event::CoOwnerChanged(changed) => Some((changed.player_id, changed.co_owner)),
        _ => None,
    });
    assert_eq!(named.await, (helper.id.clone(), true));
    assert_eq!(helper.room(&room).await.co_owner_ids, std::slice::from_ref(&helper.id));
    let settings = v1::RoomSettings { games: 3, ..Default::default() };
    let changed = v1::UpdateSettingsRequest {
        room_id: room.clone(),
        settings: Some(settings),
        password: "secret".into(),
        ..Default::default()
    };
    helper.rooms().update_settings(changed).await.unwrap();
    let transfer = v1::TransferOwnershipRequest { room_id: room.clone(), player_id: helper.id.clone() };
    refused(helper.rooms().transfer_ownership(transfer).await, Code::PermissionDenied, "NOT_OWNER");
    owner.rooms().set_co_owner(request(false)).await.unwrap();
    refused(helper.close(&room).await, Code::PermissionDenied, "NOT_OWNER");
}

/// White has gone, after both have moved.
async fn white_gone(server: &TestServer) -> SeatedRoom {
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    let mut watcher = seated.black.watch(&seated.room).await;
    watcher.snapshot().await;
    drop(seated.white.turns().await);
    assert!(!presence(&mut watcher, &seated.white.id).await);
    seated
}

#[tokio::test]
async fn a_game_is_claimed_from_an_opponent_who_has_gone() {
    let claim = |seated: &SeatedRoom, claim: v1::GameClaim| v1::ClaimGameRequest {
        game_id: seated.game.clone(),
        claim: claim.into(),
    };
    let server = TestServer::open().await;
    let seated = white_gone(&server).await;
    let from = seated.black.room(&seated.room).await.seats[1].claim_from.unwrap();
    let request = claim(&seated, v1::GameClaim::Win);
    let details = refused(seated.black.games().claim_game(request).await, Code::FailedPrecondition, "TOO_SOON");
    assert_eq!(details.error_info().unwrap().metadata.get("at"), Some(&from.to_string()));
    let nothing = claim(&seated, v1::GameClaim::Unspecified);
    refused(seated.black.games().claim_game(nothing).await, Code::InvalidArgument, "BAD_ARGUMENT");
    // A call is a sign of life, also one that the room does not see.
    seated.white.me().await;
    let request = claim(&seated, v1::GameClaim::Win);
    refused(seated.black.games().claim_game(request).await, Code::FailedPrecondition, "WRONG_PHASE");
    let back = seated.white.turns().await;
    let request = claim(&seated, v1::GameClaim::Win);
    refused(seated.black.games().claim_game(request).await, Code::FailedPrecondition, "WRONG_PHASE");
    drop(back);

    // With a short grace the claim is soon possible.
    let server = TestServer::limited(|limits| limits.presence_grace = SHORT).await;
    let seated = white_gone(&server).await;
    let _present = seated.black.turns().await;
    loop {
        match seated.black.games().claim_game(claim(&seated, v1::GameClaim::Draw)).await {
            Ok(_) => break,
            early => refused(early, Code::FailedPrecondition, "TOO_SOON"),
        };
    }
    let outcome = seated.black.room(&seated.room).await.game.unwrap().outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::Draw, v1::GameEndReason::Left));
    assert_eq!(seated.black.me().await.stats.unwrap().drawn, 1);
}

#[tokio::test]
async fn a_player_who_returns_in_time_is_asked_again() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    watcher.snapshot().await;
    let mut turns = seated.black.turns().await;
    assert_eq!(turns.turn_request().await.ply, 0);
    drop(turns);
    assert!(!presence(&mut watcher, &seated.black.id).await);
    let mut turns = seated.black.turns().await;
    assert!(presence(&mut watcher, &seated.black.id).await);
    assert_eq!(turns.turn_request().await.ply, 0);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
}

#[tokio::test]
async fn a_player_without_a_stream_is_absent_after_the_grace_period() {
    let server = TestServer::limited(|limits| limits.presence_grace = SHORT).await;
    let (owner, eve) = (server.human("Owner").await, server.human("Eve").await);
    let room = owner.create_with(named("machines"), ["random", "random"]).await.room_id;
    let mut watcher = eve.watch(&room).await;
    watcher.snapshot().await;
    let left = watcher.until(|event| match event {
        room_event::Event::MemberLeft(left) => Some((left.reason(), left.player_id)),
        _ => None,
    });
    assert_eq!(left.await, (v1::LeaveReason::Absent, owner.id.clone()));
    assert_eq!(watcher.close_reason().await, v1::CloseReason::RoomClosed);
    assert!(owner.me().await.room_ids.is_empty());
}

#[tokio::test]
async fn a_call_makes_a_player_present() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    watcher.snapshot().await;
    let turns = seated.black.turns().await;
    drop(turns);
    assert!(!presence(&mut watcher, &seated.black.id).await);
    seated.black.chat(&seated.room, "the player is present").await.unwrap();
    assert!(presence(&mut watcher, &seated.black.id).await);
}

#[tokio::test]
async fn a_client_lost_during_its_turn_loses_on_time() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings { move_limit: crate::harness::in_process::millis(200), ..Default::default() };
    let seated = server.two_player_game(settings).await;
    let mut opponent = seated.white.turns().await;
    let turns = seated.black.turns().await;
    // Closes the connection too.
    drop((turns, seated.black));
    let ended = opponent.game_ended().await;
    let outcome = ended.outcome.unwrap();
    assert_eq!((ended.side(), outcome.result()), (v1::Side::White, v1::GameResult::WhiteWins));
    assert_eq!(outcome.reason(), v1::GameEndReason::Timeout);
}

#[tokio::test]
async fn an_idle_room_closes() {
    let server = TestServer::limited(|limits| limits.idle_close = SHORT).await;
    let owner = server.human("Owner").await;
    let mut turns = owner.turns().await;
    let room = owner.create(named("quiet")).await.room_id;
    let closed = turns.until(|event| match event {
        v1::play_event::Event::RoomClosed(closed) => Some(closed.room_id),
        _ => None,
    });
    assert_eq!(closed.await, room);
    assert!(owner.me().await.room_ids.is_empty());
}

#[tokio::test]
async fn a_player_who_does_not_read_turns_is_absent() {
    let server = TestServer::limited(|limits| (limits.reader_patience, limits.presence_grace) = (SHORT, SHORT)).await;
    let (seated, eve) = (server.two_player_game(v1::RoomSettings::default()).await, server.human("Eve").await);
    let _here = seated.white.turns().await;
    // With this small window the stream stalls after a few notices.
    let mut asleep = server.with_window(&seated.black, 64).await.turns().await;
    let mut watcher = eve.watch(&seated.room).await;
    watcher.snapshot().await;
    for (player, ply, square) in [(&seated.black, 0, "d3"), (&seated.white, 1, "c3"), (&seated.black, 2, "c4")] {
        player.play(&seated.game, ply, square).await.unwrap();
    }
    assert!(!presence(&mut watcher, &seated.black.id).await);
    assert_eq!(asleep.close_reason().await, v1::CloseReason::SlowConsumer);
}
