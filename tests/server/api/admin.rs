//! What an administrator may and may not do, and who is one.

use reversi::{
    proto::v1::{self, CloseReason, GameEndReason, GameResult, session_service_client::SessionServiceClient},
    runtime::{RandomSource, Token},
};
use tonic::Code;

use crate::harness::in_process::{Answer, Player, ServerOptions, TestServer, named, private, refused};

/// A server with an administrator, who is not a member of any room.
async fn server_with_admin() -> (TestServer, Player) {
    let token = Token::generate(&RandomSource::default());
    let secret = token.reveal();
    let server = TestServer::with(ServerOptions { admin: Some(token), ..ServerOptions::default() }).await;
    let passing = server.human("Root").await;
    let admin = server.with_admin(&passing, &secret).await;
    (server, admin)
}

#[tokio::test]
async fn only_an_administrator_sees_the_size_of_the_archive() {
    let (server, admin) = server_with_admin().await;
    let ada = server.human("Ada").await;
    let room = ada.create_with(named("one game"), ["me", "random"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    ada.resign(&game).await.unwrap();
    assert_eq!(ada.info().await.archive, None);
    assert_eq!(admin.info().await.archive, Some(v1::ArchiveSize { games: 1, bytes: 0 }));
}

#[tokio::test]
async fn the_secret_beside_a_play_token_gives_no_rights() {
    let token = Token::generate(&RandomSource::default());
    let (secret, admin_play_token) = (token.reveal(), token.play_token().reveal());
    let server = TestServer::with(ServerOptions { admin: Some(token), ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let room = server.human("Bea").await.create(named("hers")).await.room_id;
    let limited = Player::new(server.channel().await, ada.profile.clone(), &ada.me().await.play_token);
    let limited = server.with_admin(&limited, &secret).await;
    refused(limited.close(&room).await, Code::PermissionDenied, "FULL_TOKEN_NEEDED");
    // Nor is the secret itself one from which another is made.
    let other = server.with_admin(&ada, &admin_play_token).await;
    refused(other.close(&room).await, Code::Unauthenticated, "TOKEN_INVALID");
    server.with_admin(&ada, &secret).await.close(&room).await.unwrap();
}

async fn log_out(player: &Player, other: &str) -> Answer<()> {
    player.sessions().log_out(v1::LogOutRequest { player_id: other.into(), ..Default::default() }).await.map(|_| ())
}

#[tokio::test]
async fn kicks_and_bans_in_the_lobby() {
    let (server, admin) = server_with_admin().await;
    let (ada, bob) = (server.human("Ada").await, server.human("Bob").await);
    let room = ada.create(named("lobby")).await.room_id;
    for ban in [false, true] {
        bob.join(&room).await.unwrap();
        bob.sit(&room, 1).await.unwrap();
        admin.kick(&room, &bob.id, ban).await.unwrap();
        assert_eq!(ada.room(&room).await.members.len(), 1);
    }
    refused(bob.join(&room).await, Code::PermissionDenied, "BANNED");
    refused(admin.kick(&room, &bob.id, false).await, Code::NotFound, "PLAYER_NOT_FOUND");
    // The owner can be removed too: another member becomes the owner, or the empty room closes.
    admin.kick(&room, &ada.id, false).await.unwrap();
    refused(ada.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
}

#[tokio::test]
async fn kicks_a_player_of_a_running_game_who_then_loses() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(named("game")).await;
    refused(seated.black.kick(&seated.room, &seated.white.id, false).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    watcher.snapshot().await;
    admin.kick(&seated.room, &seated.white.id, false).await.unwrap();
    let outcome = watcher.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (GameResult::BlackWins, GameEndReason::Kicked));
    assert_eq!(seated.white.me().await.room_ids, [""; 0]);
}

#[tokio::test]
async fn kicks_a_watcher_without_affecting_the_game() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(named("game")).await;
    let eve = server.human("Eve").await;
    eve.join(&seated.room).await.unwrap();
    let mut watcher = eve.watch(&seated.room).await;
    watcher.snapshot().await;
    admin.kick(&seated.room, &eve.id, true).await.unwrap();
    assert_eq!(watcher.close_reason().await, CloseReason::Kicked);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
}

#[tokio::test]
async fn aborts_any_game_at_any_time() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(named("game")).await;
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    refused(seated.black.abort(&seated.game).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    admin.abort(&seated.game).await.unwrap();
    let outcome = seated.black.room(&seated.room).await.game.unwrap().outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (GameResult::Aborted, GameEndReason::AbortedByAdmin));
    assert_eq!(seated.black.me().await.stats.unwrap().played, 0);
    refused(admin.abort(&seated.game).await, Code::FailedPrecondition, "GAME_OVER");
    refused(admin.abort("000000000000-1").await, Code::NotFound, "GAME_NOT_FOUND");
}

#[tokio::test]
async fn closes_rooms_with_and_without_a_running_game() {
    let (server, admin) = server_with_admin().await;
    let lobby = server.human("Ada").await.create(named("lobby")).await.room_id;
    let seated = server.two_player_game(named("game")).await;
    refused(seated.black.close(&seated.room).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    for room in [&lobby, &seated.room] {
        admin.close(room).await.unwrap();
        refused(admin.try_room(room).await, Code::NotFound, "ROOM_NOT_FOUND");
    }
    assert_eq!(watcher.close_reason().await, CloseReason::RoomClosed);
    assert!(seated.white.me().await.room_ids.is_empty());
}

#[tokio::test]
async fn sees_private_rooms_even_after_settings_change() {
    let (server, admin) = server_with_admin().await;
    let ada = server.human("Ada").await;
    let locked = v1::CreateRoomRequest { settings: Some(private()), password: "door".into(), ..Default::default() };
    let room = ada.try_create(locked).await.unwrap().room_id;
    refused(server.human("Eve").await.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
    let seen = admin.room(&room).await;
    assert_eq!((seen.room_id.as_str(), seen.join_code.as_str()), (room.as_str(), ""), "the code is for members");
    let mut watcher = admin.watch(&room).await;
    assert_eq!(watcher.snapshot().await.seq, seen.seq);
    let settings = v1::RoomSettings { watching: v1::Watching::Members.into(), ..Default::default() };
    ada.update_settings(&room, "watching", settings).await.unwrap();
    ada.chat(&room, "are we alone?").await.unwrap();
    let said = |event| match event {
        v1::room_event::Event::ChatPosted(chat) => chat.line.map(|line| line.text),
        _ => None,
    };
    assert_eq!(watcher.until(said).await, "are we alone?");
}

#[tokio::test]
async fn logs_out_other_players() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(named("game")).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    watcher.snapshot().await;
    log_out(&admin, &seated.white.id).await.unwrap();
    let outcome = watcher.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (GameResult::BlackWins, GameEndReason::Left));
    let gone = seated.white.sessions().get_me(v1::GetMeRequest {}).await;
    refused(gone, Code::Unauthenticated, "TOKEN_INVALID");
    for unknown_player in [seated.white.id.as_str(), "nonsense"] {
        refused(log_out(&admin, unknown_player).await, Code::NotFound, "PLAYER_NOT_FOUND");
    }
    log_out(&admin, "").await.unwrap();
    refused(admin.try_room(&seated.room).await, Code::Unauthenticated, "TOKEN_INVALID");
}

#[tokio::test]
async fn ends_a_series_and_frees_a_claimed_name() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(v1::RoomSettings { games: 9, ..named("long") }).await;
    admin.rooms().end_series(v1::EndSeriesRequest { room_id: seated.room.clone() }).await.unwrap();
    assert_eq!(seated.white.room(&seated.room).await.series.unwrap().games, 1);
    seated.white.resign(&seated.game).await.unwrap();
    seated.white.sessions().claim_name(v1::ClaimNameRequest {}).await.unwrap();
    log_out(&admin, &seated.white.id).await.unwrap();
    assert!(seated.white.me().await.claimed);
    let request = v1::LogOutRequest { player_id: seated.white.id.clone(), give_up_name: true };
    admin.sessions().log_out(request).await.unwrap();
    let gone = seated.white.sessions().get_me(v1::GetMeRequest {}).await;
    refused(gone, Code::Unauthenticated, "TOKEN_INVALID");
}

/// Actions that only others may take are refused.
#[tokio::test]
async fn has_no_other_rights() {
    let (server, admin) = server_with_admin().await;
    let seated = server.two_player_game(named("game")).await;
    let denied = Code::PermissionDenied;
    refused(admin.chat(&seated.room, "I see you").await, denied, "NOT_MEMBER");
    refused(admin.play(&seated.game, 0, "d3").await, denied, "NOT_SEATED");
    refused(admin.resign(&seated.game).await, denied, "NOT_MEMBER");
    refused(admin.start(&seated.room).await, denied, "NOT_OWNER");
    refused(admin.update_settings(&seated.room, "name", named("mine")).await, denied, "NOT_OWNER");
}

#[tokio::test]
async fn other_players_do_not_have_these_rights() {
    let (server, _) = server_with_admin().await;
    let (seated, eve) = (server.two_player_game(private()).await, server.human("Eve").await);
    let denied = Code::PermissionDenied;
    refused(log_out(&eve, &seated.white.id).await, denied, "NOT_ADMIN");
    refused(log_out(&eve, "nonsense").await, denied, "NOT_ADMIN");
    log_out(&eve, &eve.id).await.unwrap();
    let eve = server.human("Eve").await;
    for refusal in [eve.close(&seated.room).await, eve.kick(&seated.room, &seated.white.id, true).await] {
        refused(refusal, Code::NotFound, "ROOM_NOT_FOUND");
    }
    refused(eve.abort(&seated.game).await, Code::NotFound, "GAME_NOT_FOUND");
    refused(eve.try_room(&seated.room).await, Code::NotFound, "ROOM_NOT_FOUND");
}

#[tokio::test]
async fn a_wrong_secret_is_refused() {
    let (server, _) = server_with_admin().await;
    let (eve, wrong) = (server.human("Eve").await, Token::generate(&RandomSource::default()).reveal());
    for header in [wrong.as_str(), &eve.token, "", "nonsense"] {
        let pretender = server.with_admin(&eve, header).await;
        refused(pretender.try_create(Default::default()).await, Code::Unauthenticated, "TOKEN_INVALID");
        refused(log_out(&pretender, &eve.id).await, Code::Unauthenticated, "TOKEN_INVALID");
    }
    eve.me().await;
}

/// A proxy might believe one of them, and the server the other.
#[tokio::test]
async fn a_secret_that_is_given_twice_is_refused() {
    let token = Token::generate(&RandomSource::default());
    let (secret, options) = (token.reveal(), ServerOptions { admin: Some(token), ..ServerOptions::default() });
    let server = TestServer::with(options).await;
    let bearer = format!("Bearer {}", server.human("Ada").await.token);
    let mut sessions = SessionServiceClient::new(server.channel().await);
    for (tokens, secrets) in [(1, 1), (2, 1), (1, 2)] {
        let mut request = tonic::Request::new(v1::GetMeRequest {});
        for (header, value, times) in [("authorization", &bearer, tokens), ("reversi-admin", &secret, secrets)] {
            for _ in 0..times {
                request.metadata_mut().append(header, value.parse().unwrap());
            }
        }
        let answer = sessions.get_me(request).await;
        if tokens * secrets == 1 {
            answer.unwrap();
        } else {
            refused(answer, Code::Unauthenticated, "TOKEN_INVALID");
        }
    }
}

#[tokio::test]
async fn without_an_administrator_every_secret_is_refused() {
    let server = TestServer::open().await;
    let eve = server.human("Eve").await;
    for header in ["0".repeat(64), eve.token.clone()] {
        let pretender = server.with_admin(&eve, &header).await;
        let room = pretender.try_room("000000000000").await;
        refused(room, Code::Unauthenticated, "TOKEN_INVALID");
    }
}

#[tokio::test]
async fn a_removed_line_of_chat_is_seen_by_nobody_later() {
    let (server, admin) = server_with_admin().await;
    let ada = server.human("Ada").await;
    let room = ada.create(named("chat")).await.room_id;
    let mut watcher = server.human("Eve").await.watch(&room).await;
    let before = watcher.snapshot().await.seq;
    for text in ["hello", "spam", "well"] {
        ada.chat(&room, text).await.unwrap();
    }
    let at = ada.room(&room).await.chat[1].at;
    let remove = async |player: &Player| {
        let request = v1::RemoveChatRequest { room_id: room.clone(), at };
        player.rooms().remove_chat(request).await.map(|answer| answer.into_inner().seq)
    };
    refused(remove(&ada).await, Code::PermissionDenied, "NOT_ADMIN");
    let seq = remove(&admin).await.unwrap();
    assert_eq!(remove(&admin).await.unwrap(), seq, "it is not there");
    let texts = |chat: Vec<v1::ChatLine>| chat.into_iter().map(|line| line.text).collect::<Vec<_>>();
    let left = watcher.until(|event| match event {
        v1::room_event::Event::ChatRemoved(removed) => Some(removed.chat),
        _ => None,
    });
    assert_eq!(texts(left.await), ["hello", "well"]);
    assert_eq!(texts(ada.room(&room).await.chat), ["hello", "well"]);
    let mut late = server.human("Cy").await.watch_after(&room, before).await;
    assert_eq!(texts(late.snapshot().await.chat), ["hello", "well"], "a snapshot instead of the events");
    let mut next = server.human("Dee").await.watch_after(&room, seq - 1).await;
    assert_eq!(next.event().await.seq, seq, "events where the line was not among them");
    let nowhen = v1::RemoveChatRequest { room_id: room.clone(), at: None };
    refused(admin.rooms().remove_chat(nowhen).await, Code::InvalidArgument, "BAD_ARGUMENT");
}
