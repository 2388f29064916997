//! Moves: who may make them and when, and the errors of wrong ones.

use reversi::proto::v1;
use tonic::Code;

use crate::harness::in_process::{TestServer, check, field, millis, refusal, refused};

#[tokio::test]
async fn every_wrong_move_has_its_reason() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let (eve, game) = (server.human("Eve").await, seated.game.as_str());
    let absent = format!("{}-9", seated.room);
    seated.black.play(game, 0, "d3").await.unwrap();
    let before = seated.white.room(&seated.room).await;
    let (black, white) = (&seated.black, &seated.white);
    let pre = Code::FailedPrecondition;
    let cases = [
        ("an illegal square", refusal(white.play(game, 1, "a1").await), pre, "ILLEGAL_MOVE"),
        ("a taken square", refusal(white.play(game, 1, "d3").await), pre, "ILLEGAL_MOVE"),
        ("not on turn", refusal(black.play(game, 1, "c5").await), pre, "NOT_YOUR_TURN"),
        ("a future ply", refusal(white.play(game, 3, "c3").await), pre, "NOT_YOUR_TURN"),
        ("a decided ply", refusal(black.play(game, 0, "c4").await), Code::Aborted, "STALE_PLY"),
        ("the other's ply", refusal(white.play(game, 0, "d3").await), Code::Aborted, "STALE_PLY"),
        ("a watcher", refusal(eve.play(game, 1, "c3").await), Code::PermissionDenied, "NOT_SEATED"),
        ("resign for others", refusal(eve.resign(game).await), Code::PermissionDenied, "NOT_MEMBER"),
        ("resign a game that is not there", refusal(white.resign(&absent).await), Code::NotFound, "GAME_NOT_FOUND"),
        ("resign it for others", refusal(eve.resign(&absent).await), Code::PermissionDenied, "NOT_MEMBER"),
        ("abort for others", refusal(eve.abort(game).await), Code::PermissionDenied, "NOT_OWNER"),
        ("no such game", refusal(white.play(&absent, 1, "c3").await), Code::NotFound, "GAME_NOT_FOUND"),
        ("a malformed game id", refusal(white.play("nonsense", 1, "c3").await), Code::NotFound, "GAME_NOT_FOUND"),
        ("no such room", refusal(white.play("000000000000-1", 1, "c3").await), Code::NotFound, "GAME_NOT_FOUND"),
        ("resign in an unknown game", refusal(white.resign("000000000000-1").await), Code::NotFound, "GAME_NOT_FOUND"),
        ("abort an unknown game", refusal(white.abort("000000000000-1").await), Code::NotFound, "GAME_NOT_FOUND"),
    ];
    for (what, status, code, reason) in cases {
        let details = check(what, &status, code, reason);
        let legal = details.error_info().unwrap().metadata.get("legal_moves").cloned();
        if reason == "ILLEGAL_MOVE" {
            assert_eq!(legal.as_deref(), Some("c3 e3 c5"), "{what}");
        }
    }
    assert_eq!(seated.white.room(&seated.room).await.seq, before.seq, "a refusal changes nothing");
}

#[tokio::test]
async fn a_malformed_move_names_its_field() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    // Every kind of square outside the board.
    for square in ["", "d", "i1", "a9", "a0", "d33", "4d", "é3", "\u{0}\u{0}", "pass", "-1"] {
        let details = refused(seated.black.play(&seated.game, 0, square).await, Code::InvalidArgument, "BAD_SQUARE");
        assert_eq!(field(&details), "square", "{square:?}");
    }
    for ply in [-1, i32::MIN, i32::MAX] {
        let details = refused(seated.black.play(&seated.game, ply, "d3").await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), "ply");
    }
    seated.black.play(&seated.game, 0, "D3").await.unwrap();
}

#[tokio::test]
async fn a_repeated_move_is_not_an_error() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let first = seated.black.play(&seated.game, 0, "d3").await.unwrap();
    let again = seated.black.play(&seated.game, 0, "d3").await.unwrap();
    assert_eq!((first.already_applied, again.already_applied), (false, true));
    // A late answer is not used for the next turn.
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    assert!(seated.black.play(&seated.game, 0, "d3").await.unwrap().already_applied);
    refused(seated.black.play(&seated.game, 0, "f5").await, Code::Aborted, "STALE_PLY");
    assert_eq!(seated.white.room(&seated.room).await.game.unwrap().ply, 2);
}

/// Its player has swapped sides, then left the seat, and at last the room is gone.
#[tokio::test]
async fn a_repeated_move_stays_accepted_as_long_as_its_game_is_stored() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings { games: 2, swap_sides: Some(true), ..Default::default() };
    let seated = server.two_player_game(settings).await;
    let (black, white, first) = (&seated.black, &seated.white, &seated.game);
    let last = black.play(first, 0, "d3").await.unwrap().seq;
    assert!(last > 0);
    let mut watcher = black.watch(&seated.room).await;
    watcher.snapshot().await;
    white.resign(first).await.unwrap();
    let started = watcher.until(|event| match event {
        v1::room_event::Event::GameStarted(started) => started.game,
        _ => None,
    });
    let next = started.await.game_id;
    let repeated = v1::PlayMoveResponse { seq: 0, already_applied: true };
    assert_eq!(black.play(first, 0, "d3").await.unwrap(), repeated);
    refused(black.play(first, 0, "f5").await, Code::FailedPrecondition, "GAME_OVER");
    refused(black.play(first, 1, "d3").await, Code::FailedPrecondition, "GAME_OVER");
    refused(white.play(first, 0, "d3").await, Code::FailedPrecondition, "GAME_OVER");
    white.play(&next, 0, "d3").await.unwrap();
    white.resign(&next).await.unwrap();
    black.leave(&seated.room).await.unwrap();
    assert_eq!(black.play(first, 0, "d3").await.unwrap(), repeated);
    white.leave(&seated.room).await.unwrap();
    assert_eq!(white.play(&next, 0, "d3").await.unwrap(), repeated);
    refused(white.play(&next, 0, "f5").await, Code::NotFound, "GAME_NOT_FOUND");
}

#[tokio::test]
async fn a_late_move_is_refused_as_game_over() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings { move_limit: millis(100), ..Default::default() };
    let seated = server.two_player_game(settings).await;
    let mut opponent = seated.white.turns().await;
    let outcome = opponent.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::WhiteWins, v1::GameEndReason::Timeout));
    refused(seated.black.play(&seated.game, 0, "d3").await, Code::FailedPrecondition, "GAME_OVER");
    refused(seated.black.resign(&seated.game).await, Code::FailedPrecondition, "GAME_OVER");
    refused(seated.black.abort(&seated.game).await, Code::FailedPrecondition, "GAME_OVER");
}

#[tokio::test]
async fn illegal_moves_of_a_human_do_not_forfeit() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let before = seated.black.room(&seated.room).await.seq;
    for _ in 0..1_000 {
        refused(seated.black.play(&seated.game, 0, "a1").await, Code::FailedPrecondition, "ILLEGAL_MOVE");
    }
    assert_eq!(seated.black.room(&seated.room).await.seq, before);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
}

#[tokio::test]
async fn the_third_illegal_move_of_a_bot_forfeits_the_game() {
    let server = TestServer::open().await;
    let bot = server.bot("Bot").await;
    let room = bot.create_with(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let mut watcher = bot.watch(&room).await;
    watcher.snapshot().await;
    let game = bot.start(&room).await.unwrap().game_id;
    for strike in 1..=3 {
        refused(bot.play(&game, 0, "a1").await, Code::FailedPrecondition, "ILLEGAL_MOVE");
        let strikes = watcher
            .until(|event| match event {
                v1::room_event::Event::MoveRefused(refused) => Some(refused.strikes),
                _ => None,
            })
            .await;
        assert_eq!(strikes, strike);
    }
    let outcome = watcher.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::WhiteWins, v1::GameEndReason::Kicked));
    refused(bot.play(&game, 0, "d3").await, Code::FailedPrecondition, "GAME_OVER");
}

#[tokio::test]
async fn offers_and_answers_must_be_in_order() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let room_id = || seated.room.clone();
    let answer = |offer: i32| v1::AnswerOfferRequest { room_id: room_id(), offer, accept: true, ..Default::default() };
    let mut white = seated.white.games();
    refused(white.answer_offer(answer(1)).await, Code::FailedPrecondition, "WRONG_PHASE");
    refused(white.answer_offer(answer(2)).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    for offer in [0, 9] {
        let details = refused(white.answer_offer(answer(offer)).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), "offer");
        let make = v1::MakeOfferRequest { room_id: room_id(), offer, ..Default::default() };
        refused(white.make_offer(make).await, Code::InvalidArgument, "BAD_ARGUMENT");
    }
    let mut eve = server.human("Eve").await.games();
    let make = v1::MakeOfferRequest { room_id: room_id(), offer: 1, ..Default::default() };
    refused(eve.make_offer(make).await, Code::PermissionDenied, "NOT_MEMBER");
    let mut black = seated.black.games();
    let draw = |game_id: &str| v1::MakeOfferRequest { offer: 1, game_id: game_id.into(), ..Default::default() };
    let elsewhere = v1::MakeOfferRequest { room_id: "0000000000zz".into(), ..draw(&seated.game) };
    let details = refused(black.make_offer(elsewhere).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "game_id");
    refused(black.make_offer(draw("x")).await, Code::InvalidArgument, "BAD_ID");
    black.make_offer(draw(&seated.game)).await.unwrap();
    let withdraw = v1::AnswerOfferRequest { accept: false, ..answer(1) };
    black.answer_offer(withdraw).await.unwrap();
    let details = refused(black.make_offer(draw(&seated.game)).await, Code::FailedPrecondition, "TOO_SOON");
    assert_eq!(details.error_info().unwrap().metadata.get("ply").map(String::as_str), Some("10"));
    let latest = seated.black.me().await.problems.swap_remove(0);
    assert_eq!((latest.method.as_str(), latest.game_id), ("GameService/MakeOffer", seated.game));
}
