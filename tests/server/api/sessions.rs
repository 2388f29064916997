//! Sessions: names, tokens and log-out.

use reversi::proto::v1::{self, player_problem::Kind, session_service_client::SessionServiceClient};
use tonic::{Code, Request};

use crate::harness::in_process::{Player, TestServer, check, field, millis, named, private, refusal, refused, within};

async fn log_in(server: &TestServer, name: &str) -> Result<v1::LogInResponse, tonic::Status> {
    let request = v1::LogInRequest { display_name: name.into(), ..Default::default() };
    Ok(SessionServiceClient::new(server.channel().await).log_in(request).await?.into_inner())
}

#[tokio::test]
async fn a_token_identifies_a_player() {
    let server = TestServer::open().await;
    let ada = server.human("  Ada ").await;
    let me = ada.me().await;
    assert_eq!(me.player.unwrap(), ada.profile);
    assert_eq!((ada.profile.display_name.as_str(), ada.profile.kind()), ("Ada", v1::PlayerKind::Human));
    assert_eq!((me.room_ids.len(), me.seats.len(), me.game_ids.len(), me.seat_limit), (0, 0, 0, 1));

    // Over another connection, as after a restart of the client.
    let back = Player::new(server.channel().await, ada.profile.clone(), &ada.token);
    assert_eq!(back.me().await.player.unwrap().player_id, ada.id);
}

#[tokio::test]
async fn a_name_is_taken_until_log_out() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let room = ada.create(named("hers")).await.room_id;
    // Neither a lost connection nor another spelling frees the name.
    let token = ada.token.clone();
    let profile = ada.profile.clone();
    drop(ada);
    for name in ["Ada", "ADA", " ada ", "Ａda"] {
        refused(log_in(&server, name).await, Code::AlreadyExists, "NAME_TAKEN");
    }
    let ada = Player::new(server.channel().await, profile, &token);
    assert_eq!(ada.room(&room).await.owner_id, ada.id);

    ada.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    let heir = log_in(&server, "Ada").await.unwrap().player.unwrap();
    assert_ne!(heir.player_id, ada.id, "ids are not reused");
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
    let viewer = server.human("Viewer").await;
    refused(viewer.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
}

#[tokio::test]
async fn invalid_names_are_refused() {
    let server = TestServer::open().await;
    let long = "x".repeat(25);
    for (name, problem) in [
        ("", "must not be empty"),
        ("   ", "must not be empty"),
        ("a\nb", "U+000A"),
        ("\u{1b}[2J", "U+001B"),
        ("a\u{202e}b", "U+202E"),
        ("a\u{ad}b", "U+00AD"),
        ("\u{3164}", "U+1160"),
        ("\u{2800}", "U+2800"),
        ("a\u{200d}b", "U+200D"),
        (long.as_str(), "at most 24 characters"),
        ("AI expert 13", "must not be a name of the server or of an AI; choose another"),
        ("roxanne", "must not be a name of the server or of an AI; choose another"),
        ("\u{410}dmin", "must not be a name of the server or of an AI; choose another"),
    ] {
        let status = refusal(log_in(&server, name).await);
        assert!(status.message().contains(problem), "{name:?}: {}", status.message());
        let details = check(name, &status, Code::InvalidArgument, "BAD_NAME");
        assert_eq!(field(&details), "display_name", "{name:?}");
    }
    for name in [&"x".repeat(24), "👩‍👩‍👧 ❤️", "李小龍", "Zoë"] {
        assert_eq!(log_in(&server, name).await.unwrap().player.unwrap().display_name, name);
    }
}

#[tokio::test]
async fn a_name_that_looks_like_one_in_use_is_refused() {
    let server = TestServer::open().await;
    let paul = server.human("Paul").await;
    for name in ["Pau1", "PauI", "\u{420}aul", "\u{440}aul"] {
        let status = refusal(log_in(&server, name).await);
        assert!(status.message().contains("looks like that of another player"), "{name}: {}", status.message());
        check(name, &status, Code::AlreadyExists, "NAME_TAKEN");
    }
    paul.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    log_in(&server, "Pau1").await.unwrap();
}

#[tokio::test]
async fn a_room_name_is_visible() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for name in ["\u{2800}", "a\u{e0041}b", "\u{115f}"] {
        let request = v1::CreateRoomRequest { settings: Some(named(name)), ..Default::default() };
        let details = refused(ada.try_create(request).await, Code::InvalidArgument, "BAD_SETTINGS");
        assert_eq!(field(&details), "settings.name");
    }
    ada.create(named("👩‍🚀")).await;
}

#[tokio::test]
async fn invalid_kinds_and_seat_counts_are_refused() {
    let server = TestServer::open().await;
    let mut sessions = SessionServiceClient::new(server.channel().await);
    for (kind, seats, wrong) in [(7, 1, "kind"), (2, -1, "seats"), (2, 65, "seats"), (2, i32::MAX, "seats")] {
        let request = v1::LogInRequest { display_name: "Bot".into(), kind, seats, ..Default::default() };
        let details = refused(sessions.log_in(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), wrong);
    }
    let bot = server.log_in("Bot", v1::PlayerKind::Bot, 64).await;
    assert_eq!(bot.me().await.seat_limit, 64);
}

#[tokio::test]
async fn a_bot_names_the_version_of_its_engine() {
    let server = TestServer::open().await;
    let mut sessions = SessionServiceClient::new(server.channel().await);
    let mut log_in = async |kind: v1::PlayerKind, name: &str, engine_version: &str| {
        let engine_version = engine_version.to_owned();
        let request =
            v1::LogInRequest { display_name: name.into(), kind: kind.into(), engine_version, ..Default::default() };
        sessions.log_in(request).await.map(tonic::Response::into_inner)
    };
    let long = "x".repeat(41);
    for (kind, version) in [(v1::PlayerKind::Human, "1"), (v1::PlayerKind::Bot, long.as_str())] {
        let details = refused(log_in(kind, "Ada", version).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), "engine_version");
    }
    let bot = log_in(v1::PlayerKind::Bot, "Bot", "one").await.unwrap();
    let bot = Player::new(server.channel().await, bot.player.unwrap(), &bot.token);
    assert_eq!(bot.profile.engine_version, "one");
    let ada = server.human("Ada").await;
    let set = async |version: &str| {
        let request = v1::SetEngineVersionRequest { engine_version: version.into() };
        bot.sessions().set_engine_version(request).await.unwrap();
    };
    // The record has the version that is named during the game.
    let play = async |version: &str| {
        let settings = v1::RoomSettings { rated: true, auto_start: true, ..named("room") };
        let room = ada.create_with(settings, ["me", "open"]).await.room_id;
        ada.ready(&room).await.unwrap();
        bot.join(&room).await.unwrap();
        bot.sit(&room, 1).await.unwrap();
        bot.ready(&room).await.unwrap();
        let game = bot.room(&room).await.game.unwrap().game_id;
        set(version).await;
        bot.resign(&game).await.unwrap();
        ada.close(&room).await.unwrap();
        let record = ada.records().get_game(v1::GetGameRequest { game_id: game }).await.unwrap().into_inner().game;
        match record.unwrap().white.unwrap().participant {
            Some(v1::participant::Participant::Player(player)) => player.engine_version,
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..10 {
        assert_eq!(play("one").await, "one");
    }
    let deviation = async || bot.me().await.stats.unwrap().rating.unwrap().deviation;
    let before = deviation().await;
    set("one").await;
    assert_eq!(deviation().await, before);
    set("two").await;
    assert!(before < 195.0 && deviation().await == 200.0, "{before}");
    assert_eq!(play("three").await, "three");
}

#[tokio::test]
async fn every_call_needs_a_valid_token() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut forged = ada.token.clone().into_bytes();
    forged[0] = if forged[0] == b'0' { b'1' } else { b'0' };
    let forged = String::from_utf8(forged).unwrap();
    let tokens = [
        (None, "TOKEN_MISSING"),
        (Some(ada.token.clone()), "TOKEN_MISSING"),
        (Some("Basic QWRh".to_owned()), "TOKEN_MISSING"),
        (Some("Bearer ".to_owned()), "TOKEN_INVALID"),
        (Some("Bearer 12".to_owned()), "TOKEN_INVALID"),
        (Some(format!("Bearer {forged}")), "TOKEN_INVALID"),
        (Some(format!("Bearer {}", ada.id)), "TOKEN_INVALID"),
    ];
    let channel = server.channel().await;
    for (header, reason) in tokens {
        let mut request = Request::new(v1::GetMeRequest {});
        if let Some(header) = &header {
            request.metadata_mut().insert("authorization", header.parse().unwrap());
        }
        let status = refusal(SessionServiceClient::new(channel.clone()).get_me(request).await);
        check(&format!("{header:?}"), &status, Code::Unauthenticated, reason);
    }
    // Streams and all other services need a token, too.
    let forger = Player::new(channel, v1::Player::default(), &forged);
    refused(forger.try_watch("x", None).await, Code::Unauthenticated, "TOKEN_INVALID");
    refused(forger.games().watch_turns(v1::WatchTurnsRequest::default()).await, Code::Unauthenticated, "TOKEN_INVALID");
    refused(forger.try_create(v1::CreateRoomRequest::default()).await, Code::Unauthenticated, "TOKEN_INVALID");
    let stats = v1::GetPlayerStatsRequest { player_id: ada.id.clone(), ..Default::default() };
    refused(forger.records().get_player_stats(stats).await, Code::Unauthenticated, "TOKEN_INVALID");
}

#[tokio::test]
async fn a_made_up_token_is_refused_as_such_at_an_address_with_all_its_calls() {
    let server = TestServer::limited(|limits| limits.calls_per_address = 1).await;
    let ada = server.human("Ada").await;
    let _only_call = ada.turns().await;
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::ResourceExhausted, "RATE");
    let forger = Player::new(server.channel().await, v1::Player::default(), &"0".repeat(ada.token.len()));
    refused(forger.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
}

#[tokio::test]
async fn logging_out_leaves_every_room_and_ends_every_stream() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(named("seated")).await;
    let mut turns = seated.black.turns().await;
    let mut watcher = seated.black.watch(&seated.room).await;
    let mut opponent = seated.white.turns().await;
    seated.black.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    assert_eq!(turns.close_reason().await, v1::CloseReason::LoggedOut);
    assert_eq!(watcher.close_reason().await, v1::CloseReason::LoggedOut);
    let outcome = opponent.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::WhiteWins, v1::GameEndReason::Left));
    assert_eq!(seated.white.room(&seated.room).await.owner_id, seated.white.id);
}

#[tokio::test]
async fn requests_above_the_rate_are_refused_with_a_retry_delay() {
    let server = TestServer::limited(|limits| (limits.requests_per_second, limits.request_burst) = (1, 3)).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    for _ in 0..3 {
        ada.info().await;
    }
    let details = refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::ResourceExhausted, "RATE");
    let delay = details.retry_info().unwrap().retry_delay.unwrap();
    assert!(delay.as_millis() > 0 && delay.as_millis() <= 1_000, "{delay:?}");
    bea.me().await;
}

#[tokio::test]
async fn log_ins_are_limited_by_address() {
    let server = TestServer::limited(|limits| (limits.log_in_burst, limits.log_ins_per_minute) = (50, 60)).await;
    let mut sessions = SessionServiceClient::new(server.channel().await);
    let mut last = Ok(());
    for number in 0..200 {
        let request = v1::LogInRequest { display_name: format!("bot {number}"), ..Default::default() };
        last = sessions.log_in(request).await.map(|_| ());
        if last.is_err() {
            assert!(number >= 50, "{number} joined");
            break;
        }
    }
    refused(last, Code::ResourceExhausted, "RATE");
}

/// A player who has lost a game.
async fn experienced(server: &TestServer, name: &str) -> Player {
    let player = server.human(name).await;
    let room = player.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    player.resign(&room.game.unwrap().game_id).await.unwrap();
    player
}

async fn claim(player: &Player) -> Result<(), tonic::Status> {
    player.sessions().claim_name(v1::ClaimNameRequest {}).await.map(drop)
}

async fn log_out(player: &Player, give_up_name: bool) {
    let request = v1::LogOutRequest { give_up_name, ..Default::default() };
    player.sessions().log_out(request).await.unwrap();
}

#[tokio::test]
async fn a_claimed_name_outlives_a_log_out() {
    let server = TestServer::open().await;
    let newcomer = server.human("Zoe").await;
    refused(claim(&newcomer).await, Code::FailedPrecondition, "WRONG_PHASE");
    let ada = experienced(&server, "Ada").await;
    assert!(!ada.me().await.claimed);
    for _ in 0..2 {
        claim(&ada).await.unwrap();
    }
    let room = ada.create(named("hers")).await.room_id;
    let mut turns = ada.turns().await;
    log_out(&ada, false).await;
    assert_eq!(turns.close_reason().await, v1::CloseReason::LoggedOut);
    refused(newcomer.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
    refused(log_in(&server, "ada").await, Code::AlreadyExists, "NAME_TAKEN");

    let me = ada.me().await;
    assert!(me.claimed && me.room_ids.is_empty());
    assert_eq!((me.player.unwrap().player_id, me.stats.unwrap().lost), (ada.id.clone(), 1));
    let mut turns = ada.turns().await;
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    turns.turn_request().await;

    log_out(&ada, true).await;
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
    assert_ne!(log_in(&server, "Ada").await.unwrap().player.unwrap().player_id, ada.id);
}

#[tokio::test]
async fn a_token_can_be_replaced() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let replace = async |player: &Player, token: &str| {
        player.sessions().replace_token(v1::ReplaceTokenRequest { new_token: token.into() }).await
    };
    for weak in ["", "00", &"ab".repeat(32), &bea.token] {
        let details = refused(replace(&ada, weak).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), "new_token");
    }
    let token: String = (7..39).map(|byte| format!("{byte:02x}")).collect();
    replace(&ada, &token).await.unwrap();
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
    let back = Player::new(server.channel().await, ada.profile.clone(), &token);
    assert_eq!(back.me().await.player.unwrap().player_id, ada.id);
    replace(&back, &token).await.unwrap();
    back.me().await;
}

#[tokio::test]
async fn a_log_out_that_keeps_the_name_resets_no_limit() {
    let server = TestServer::limited(|limits| limits.wrong_guesses_per_minute = 2).await;
    let ada = experienced(&server, "Ada").await;
    claim(&ada).await.unwrap();
    let guess = async || {
        let by = v1::join_room_request::Room::JoinCode("aaaaaaaa".into());
        ada.join_by(by, "").await
    };
    for _ in 0..2 {
        refused(guess().await, Code::NotFound, "ROOM_NOT_FOUND");
        log_out(&ada, false).await;
    }
    refused(guess().await, Code::ResourceExhausted, "RATE");
}

#[tokio::test]
async fn half_of_the_names_can_be_claimed() {
    let server = TestServer::limited(|limits| limits.players = 3).await;
    let [ada, bea, cleo] =
        [experienced(&server, "Ada").await, experienced(&server, "Bea").await, experienced(&server, "Cleo").await];
    claim(&ada).await.unwrap();
    claim(&bea).await.unwrap();
    refused(claim(&cleo).await, Code::ResourceExhausted, "QUOTA_PLAYERS");
    claim(&ada).await.expect("she has her name");
    log_out(&ada, true).await;
    claim(&cleo).await.unwrap();
}

#[tokio::test]
async fn concurrent_log_outs_free_a_claimed_name_once() {
    let server = TestServer::open().await;
    let ada = experienced(&server, "Ada").await;
    claim(&ada).await.unwrap();
    let log_out = async |give_up_name| {
        let request = v1::LogOutRequest { give_up_name, ..Default::default() };
        ada.sessions().log_out(request).await.map(drop)
    };
    let _ = tokio::join!(log_out(true), log_out(false), log_out(true), log_out(false));
    // A plain log-out that came first keeps the name.
    let _ = log_out(true).await;
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
    log_in(&server, "Ada").await.unwrap();
}

async fn replace_token(player: &Player, first: u8) -> Result<String, tonic::Status> {
    let new_token: String = (first..first + 32).map(|byte| format!("{byte:02x}")).collect();
    player.sessions().replace_token(v1::ReplaceTokenRequest { new_token: new_token.clone() }).await?;
    Ok(new_token)
}

#[tokio::test]
async fn the_streams_of_a_replaced_token_end_and_its_game_goes_on() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings { move_limit: None, ..private() }).await;
    let (ada, game) = (&seated.black, &seated.game);
    let other_device = Player::new(server.channel().await, ada.profile.clone(), &ada.token);
    let mut watcher = other_device.watch(&seated.room).await;
    let rooms = other_device.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    let subject = v1::analyze_position_request::Subject::Transcript("f5".into());
    let request = v1::AnalyzePositionRequest { subject: Some(subject), ..Default::default() };
    let visitor = server.visitor_from(9).await;
    let mut others = visitor.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    let mut analysis = other_device.analyses().analyze_position(request).await.unwrap().into_inner();
    let (moves, requests) = tokio::sync::mpsc::channel(1);
    let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
    let mut play = other_device.games().play(requests).await.unwrap().into_inner();

    let token = replace_token(ada, 7).await.unwrap();
    let last_move = v1::PlayRequest { game_id: game.clone(), ply: 0, square: "d3".into() };
    let _ = moves.send(last_move).await;
    assert_eq!(watcher.close_reason().await, v1::CloseReason::LoggedOut);
    let reason = within(async {
        loop {
            match play.message().await.unwrap().unwrap().event.unwrap().event.unwrap() {
                v1::play_event::Event::Closing(closing) => return closing.reason(),
                event => assert!(!matches!(event, v1::play_event::Event::TurnClosed(_)), "{event:?}"),
            }
        }
    });
    assert_eq!(reason.await, v1::CloseReason::LoggedOut);
    within(closed(rooms)).await;
    let analysed = within(async {
        while let Ok(Some(answer)) = analysis.message().await {
            if let Some(v1::analyze_position_response::Message::Closing(closing)) = answer.message {
                return Some(closing.reason());
            }
        }
        None
    })
    .await;
    assert_eq!(analysed, Some(v1::CloseReason::LoggedOut));
    assert!(others.message().await.unwrap().is_some(), "a stream of another caller goes on");

    let back = Player::new(server.channel().await, ada.profile.clone(), &token);
    let mut turns = back.turns().await;
    assert_eq!(turns.turn_request().await.ply, 0, "no move was played with the old token");
    back.play(game, 0, "d3").await.unwrap();
    refused(ada.play(game, 2, "c5").await, Code::Unauthenticated, "TOKEN_INVALID");
    assert_eq!(seated.white.room(&seated.room).await.owner_id, ada.id);
}

#[tokio::test]
async fn a_play_token_plays_and_ends_with_its_token() {
    let server = TestServer::open().await;
    let answer = log_in(&server, "Ada").await.unwrap();
    let (profile, play_token) = (answer.player.unwrap(), answer.play_token);
    let owner = Player::new(server.channel().await, profile.clone(), &answer.token);
    assert_eq!(owner.me().await.play_token, play_token);
    let bot = Player::new(server.channel().await, profile.clone(), &play_token);
    let mut turns = bot.turns().await;
    bot.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    let turn = turns.turn_request().await;
    bot.play(&turn.game_id, turn.ply, &turn.position.unwrap().legal_moves[0]).await.unwrap();
    let me = bot.me().await;
    assert_eq!((me.player.unwrap(), me.play_token.as_str(), me.game_ids.len()), (profile.clone(), "", 1));
    assert!(me.turns_open);
    refused(claim(&bot).await, Code::PermissionDenied, "FULL_TOKEN_NEEDED");
    refused(replace_token(&bot, 7).await, Code::PermissionDenied, "FULL_TOKEN_NEEDED");

    let new_token: String = (7..39).map(|byte| format!("{byte:02x}")).collect();
    let request = v1::ReplaceTokenRequest { new_token };
    let next = owner.sessions().replace_token(request).await.unwrap().into_inner().play_token;
    assert_eq!(turns.close_reason().await, v1::CloseReason::LoggedOut);
    refused(bot.sessions().get_me(v1::GetMeRequest {}).await, Code::Unauthenticated, "TOKEN_INVALID");
    let me = Player::new(server.channel().await, profile, &next).me().await;
    assert_eq!((me.game_ids, me.turns_open), (vec![turn.game_id], false), "the game goes on");
}

/// What went wrong, as the kind, the method, the game and the number.
async fn problems(player: &Player) -> Vec<(Kind, String, String, i32)> {
    let problems = player.me().await.problems;
    assert!(problems.iter().all(|problem| problem.at.is_some() && !problem.message.is_empty()));
    let rows = problems.into_iter();
    rows.map(|problem| (problem.kind.unwrap(), problem.method, problem.game_id, problem.count)).collect()
}

#[tokio::test]
async fn a_bot_author_sees_refusals_rejected_moves_and_lost_games() {
    let server = TestServer::open().await;
    let bot = server.bot("Bot").await;
    let room = bot.create_with(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let game = bot.start(&room).await.unwrap().game_id;
    assert_eq!(problems(&bot).await, []);
    // A call that only asks is no problem.
    refused(bot.try_room("0000000000zz").await, Code::NotFound, "ROOM_NOT_FOUND");
    refused(bot.join("0000000000zz").await, Code::NotFound, "ROOM_NOT_FOUND");
    let claim = v1::ClaimGameRequest { game_id: game.clone(), claim: v1::GameClaim::Win.into() };
    refused(bot.games().claim_game(claim).await, Code::FailedPrecondition, "WRONG_PHASE");
    for _ in 0..2 {
        refused(bot.play(&game, 0, "a1").await, Code::FailedPrecondition, "ILLEGAL_MOVE");
    }
    let refused = |reason: v1::ErrorReason| Kind::Refused(reason.into());
    let unary = (refused(v1::ErrorReason::IllegalMove), "GameService/PlayMove".to_owned(), game.clone(), 2);
    let joined = (refused(v1::ErrorReason::RoomNotFound), "RoomService/JoinRoom".to_owned(), String::new(), 1);
    assert_eq!(problems(&bot).await, [unary.clone(), joined.clone()]);

    let (moves, requests) = tokio::sync::mpsc::channel(1);
    let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
    let mut stream = bot.games().play(requests).await.unwrap().into_inner();
    moves.send(v1::PlayRequest { game_id: game.clone(), ply: 0, square: "a1".into() }).await.unwrap();
    let rejected = within(async {
        loop {
            if let Some(v1::play_event::Event::MoveRejected(rejected)) =
                stream.message().await.unwrap().unwrap().event.unwrap().event
            {
                return rejected;
            }
        }
    })
    .await;
    assert_eq!(rejected.reason, "ILLEGAL_MOVE");
    let noted = problems(&bot).await;
    assert!(noted.contains(&(refused(v1::ErrorReason::IllegalMove), "GameService/Play".into(), game.clone(), 1)));
    // The third illegal move has forfeited the game.
    assert!(noted.contains(&(Kind::Lost(v1::GameEndReason::Kicked.into()), String::new(), game.clone(), 1)));
    assert_eq!(noted[2..], [unary, joined]);
    assert_eq!(problems(&server.bot("Other").await).await, []);
}

#[tokio::test]
async fn a_game_lost_on_time_is_a_problem_of_the_loser() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings { move_limit: millis(1_000), ..private() }).await;
    assert_eq!(seated.black.turns().await.game_ended().await.outcome.unwrap().reason(), v1::GameEndReason::Timeout);
    let lost = Kind::Lost(v1::GameEndReason::Timeout.into());
    assert_eq!(problems(&seated.black).await, [(lost, String::new(), seated.game.clone(), 1)]);
    assert_eq!(problems(&seated.white).await, []);
}

/// Reads the room list until it closes because of the token.
async fn closed(mut rooms: tonic::Streaming<v1::WatchRoomsResponse>) {
    while let Some(update) = rooms.message().await.unwrap() {
        if let Some(v1::watch_rooms_response::Message::Closing(closing)) = update.message {
            assert_eq!(closing.reason(), v1::CloseReason::LoggedOut);
            return;
        }
    }
    panic!("no reason");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_replacements_of_a_token_wins_and_no_stream_outlives_it() {
    let server = TestServer::open().await;
    let mut player = server.human("Ada").await;
    let room = player.create(private()).await.room_id;
    for round in 0..10 {
        let (old, mut games) = (&player, player.games());
        let (replaced, turns, watcher) = tokio::join!(
            futures_util::future::join_all((0..8).map(|call| replace_token(old, 8 * round + call))),
            games.watch_turns(v1::WatchTurnsRequest::default()),
            old.try_watch(&room, None),
        );
        let (won, lost): (Vec<_>, Vec<_>) = replaced.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 7));
        lost.into_iter().for_each(|lost| drop(refused(lost, Code::Unauthenticated, "TOKEN_INVALID")));
        // A call with the old token is either refused, or its stream ends.
        if let Ok(mut watcher) = watcher {
            assert_eq!(watcher.close_reason().await, v1::CloseReason::LoggedOut);
        }
        if let Ok(turns) = turns {
            let mut turns = turns.into_inner();
            within(async { while let Ok(Some(_)) = turns.message().await {} }).await;
        }
        let token = won.into_iter().next().unwrap().unwrap();
        let next = Player::new(server.channel().await, player.profile.clone(), &token);
        assert_eq!(next.room(&room).await.owner_id, player.id);
        player = next;
    }
}
