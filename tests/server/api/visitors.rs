//! Callers without a token: what they may read, and their share of the limits.

use std::time::Duration;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use reversi::proto::{
    DESCRIPTORS,
    v1::{
        self, analyze_position_request::Subject, analyze_position_response::Message as PositionMessage,
        join_room_request::Room as By,
    },
};
use tonic::{Code, Request, Status, transport::Channel};

use crate::harness::in_process::{
    Answer, Player, TestServer, Watcher, check, field, named, private, refusal, refused, within,
};

const EXHAUSTED: Code = Code::ResourceExhausted;

/// The methods that need no token, but for `LogIn`.
const OPEN: [&str; 20] = [
    "AnalysisService/AnalyzeGame",
    "AnalysisService/AnalyzePosition",
    "LobbyService/GetServerInfo",
    "LobbyService/ListPlayers",
    "LobbyService/ListRooms",
    "LobbyService/WatchRooms",
    "RecordService/ExportGames",
    "RecordService/ExplorePosition",
    "RecordService/GetAiStats",
    "RecordService/GetGame",
    "RecordService/GetPlayerStats",
    "RecordService/ListGames",
    "RecordService/ListRatings",
    "RoomService/GetRoom",
    "RoomService/WatchRoom",
    "TournamentService/GetTournament",
    "TournamentService/ListMeetings",
    "TournamentService/ListTournaments",
    "TournamentService/WatchTournament",
    "TournamentService/ExportTournament",
];

/// Every method of the API but `LogIn`.
fn methods() -> Vec<String> {
    let files = FileDescriptorSet::decode(DESCRIPTORS).unwrap().file;
    let services = files.iter().filter(|file| file.package() == "reversi.v1").flat_map(|file| &file.service);
    let methods = services
        .flat_map(|service| service.method.iter().map(|method| format!("{}/{}", service.name(), method.name())));
    methods.filter(|method| method != "SessionService/LogIn").collect()
}

/// The outcome of a call with an empty message.
async fn call(channel: &Channel, method: &str, header: Option<(&'static str, &str)>) -> Result<(), Status> {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let mut request = Request::new(());
    if let Some((name, value)) = header {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    let path = format!("/reversi.v1.{method}").parse().unwrap();
    let answer = client.server_streaming(request, path, tonic_prost::ProstCodec::<(), ()>::default()).await?;
    within(answer.into_inner().message()).await.map(drop)
}

#[tokio::test]
async fn only_calls_that_read_need_no_token() {
    let server = TestServer::open().await;
    let channel = server.channel().await;
    let methods = methods();
    assert!(OPEN.iter().all(|open| methods.iter().any(|method| method == open)));
    for method in &methods {
        let outcome = call(&channel, method, None).await;
        match outcome {
            Err(status) if !OPEN.contains(&method.as_str()) => {
                check(method, &status, Code::Unauthenticated, "TOKEN_MISSING");
            }
            outcome => {
                assert!(OPEN.contains(&method.as_str()), "{method}: {outcome:?}");
                assert_ne!(outcome.err().map(|status| status.code()), Some(Code::Unauthenticated), "{method}");
            }
        }
        for (name, value, reason) in [
            ("authorization", "Bearer 12", "TOKEN_INVALID"),
            ("authorization", &format!("Bearer {}", "0".repeat(64)), "TOKEN_INVALID"),
            ("authorization", "Basic QWRh", "TOKEN_MISSING"),
            // An administrator has an account, too.
            ("reversi-admin", "12", "TOKEN_MISSING"),
        ] {
            let status = refusal(call(&channel, method, Some((name, value))).await);
            check(&format!("{method} with {value}"), &status, Code::Unauthenticated, reason);
        }
    }
}

/// The methods that a play token does not permit.
const FOR_FULL_TOKENS: [&str; 7] = [
    "RoomService/RemoveChat",
    "SessionService/AddBan",
    "SessionService/ClaimName",
    "SessionService/ListBans",
    "SessionService/LogOut",
    "SessionService/RemoveBan",
    "SessionService/ReplaceToken",
];

#[tokio::test]
async fn a_play_token_permits_all_calls_but_those_over_the_account_or_the_server() {
    let server = TestServer::open().await;
    let (channel, ada) = (server.channel().await, server.human("Ada").await);
    let play_token = format!("Bearer {}", ada.me().await.play_token);
    for method in methods() {
        let outcome = call(&channel, &method, Some(("authorization", &play_token))).await;
        if FOR_FULL_TOKENS.contains(&method.as_str()) {
            check(&method, &refusal(outcome), Code::PermissionDenied, "FULL_TOKEN_NEEDED");
            assert_eq!(ada.me().await.problems[0].method, method);
        } else if let Err(status) = outcome {
            assert!(![Code::PermissionDenied, Code::Unauthenticated].contains(&status.code()), "{method}: {status:?}");
        }
    }
    // Without its prefix it is nothing.
    let digits = play_token.replace("play_", "");
    let status = refusal(call(&channel, "SessionService/GetMe", Some(("authorization", &digits))).await);
    check("the digits", &status, Code::Unauthenticated, "TOKEN_INVALID");
}

#[tokio::test]
async fn a_visitor_watches_and_is_not_seen() {
    let mut server = TestServer::open().await;
    let seated = server.two_player_game(named("open")).await;
    let visitor = server.visitor_from(1).await;
    let mut watcher = visitor.watch(&seated.room).await;
    let seen = watcher.snapshot().await;
    assert_eq!((seen.members.len(), seen.join_code.as_str()), (2, ""));
    let mut own = seated.black.watch(&seated.room).await;
    own.snapshot().await;
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    assert_eq!(watcher.event().await, own.event().await, "a visitor is no event of the room");
    let room = seated.black.room(&seated.room).await;
    assert_eq!((room.members.len(), room.watchers), (2, 2));
    assert_eq!(seated.black.info().await.players, 2);

    assert_eq!(visitor.list_rooms().await.len(), 1);
    seated.white.resign(&seated.game).await.unwrap();
    let game = v1::GetGameRequest { game_id: seated.game.clone() };
    visitor.records().get_game(game).await.unwrap();
    let games = visitor.records().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(games.len(), 1);
    let stats = v1::GetPlayerStatsRequest { player_id: seated.white.id.clone(), ..Default::default() };
    assert_eq!(visitor.records().get_player_stats(stats).await.unwrap().into_inner().stats.unwrap().lost, 1);
    let mut export = visitor.records().export_games(v1::ExportGamesRequest::default()).await.unwrap().into_inner();
    assert_eq!(within(export.message()).await.unwrap().unwrap().game_id, seated.game);

    server.stop();
    assert_eq!(watcher.close_reason().await, v1::CloseReason::Draining);
    drop((watcher, own, export));
    assert!(server.stopped().await);
}

async fn watch_with(player: &Player, room: &v1::Room, join_code: &str, password: &str) -> Answer<Watcher> {
    let (room_id, join_code, password) = (room.room_id.clone(), join_code.into(), password.into());
    player.watch_with(v1::WatchRoomRequest { room_id, join_code, password, ..Default::default() }).await
}

#[tokio::test]
async fn a_visitor_sees_what_a_player_in_no_room_sees() {
    let server = TestServer::open().await;
    let (ada, visitor) = (server.human("Ada").await, server.visitor_from(1).await);
    let hidden = ada.create(private()).await;
    let members = v1::RoomSettings { watching: v1::Watching::Members.into(), ..named("members") };
    let members = ada.create(members).await;
    let locked = v1::CreateRoomRequest { password: "sesame".into(), ..Default::default() };
    let locked = ada.try_create(locked).await.unwrap();
    refused(visitor.try_room(&hidden.room_id).await, Code::NotFound, "ROOM_NOT_FOUND");
    refused(visitor.try_room(&members.room_id).await, Code::PermissionDenied, "NOT_MEMBER");
    refused(visitor.try_room(&locked.room_id).await, Code::PermissionDenied, "BAD_PASSWORD");
    let denied = refusal(watch_with(&visitor, &locked, "", "wrong").await.map(drop));
    check("a wrong password", &denied, Code::PermissionDenied, "BAD_PASSWORD");
    watch_with(&visitor, &locked, "", "sesame").await.unwrap().snapshot().await;
    watch_with(&visitor, &hidden, &hidden.join_code, "").await.unwrap().snapshot().await;

    let game = ada.create_with(private(), ["me", "random"]).await.room_id;
    let game = ada.start(&game).await.unwrap().game_id;
    ada.resign(&game).await.unwrap();
    let get = v1::GetGameRequest { game_id: game };
    refused(visitor.records().get_game(get).await, Code::NotFound, "GAME_NOT_FOUND");
    let games = visitor.records().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(games, []);
}

#[tokio::test]
async fn visitors_count_at_their_address() {
    let server = TestServer::limited(|limits| {
        (limits.streams_per_address, limits.players_per_address) = (2, 1);
        (limits.requests_per_second_per_address, limits.request_burst_per_address) = (1, 100);
    })
    .await;
    let visitor = server.visitor_from(1).await;
    visitor.list_rooms().await;
    let ada = server.human_from(1, "Ada").await.unwrap();
    let list = async |player: &Player| player.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await;
    let _streams = (list(&visitor).await.unwrap(), list(&server.visitor_from(1).await).await.unwrap());
    refused(list(&visitor).await, EXHAUSTED, "QUOTA_STREAMS");
    refused(list(&ada).await, EXHAUSTED, "QUOTA_STREAMS");
    let other = server.visitor_from(2).await;
    let _other = list(&other).await.unwrap();

    let too_fast = loop {
        if let Err(status) = visitor.lobby().list_rooms(v1::ListRoomsRequest::default()).await {
            break status;
        }
    };
    check("a visitor", &too_fast, EXHAUSTED, "RATE");
    refused(ada.lobby().list_rooms(v1::ListRoomsRequest::default()).await, EXHAUSTED, "RATE");
    other.list_rooms().await;
}

#[tokio::test]
async fn without_limits_by_address_its_visitors_share_those_of_one_player() {
    let server = TestServer::limited(|limits| {
        (limits.streams_per_address, limits.calls_per_address, limits.log_ins_per_minute) = (0, 0, 0);
        (limits.streams_per_player, limits.requests_per_second, limits.request_burst) = (2, 1, 100);
    })
    .await;
    let visitors = [server.visitor_from(1).await, server.visitor_from(1).await, server.visitor_from(1).await];
    let [one, two, three] = &visitors;
    let list = async |visitor: &Player| visitor.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await;
    let _streams = (list(one).await.unwrap(), list(two).await.unwrap());
    refused(list(three).await, EXHAUSTED, "QUOTA_STREAMS");
    let mut calls = 0;
    while visitors[calls % 3].lobby().list_rooms(v1::ListRoomsRequest::default()).await.is_ok() {
        calls += 1;
    }
    assert!(calls <= 100, "{calls} calls");
    server.human("Ada").await.list_rooms().await;
}

/// An analysis of the start, without a bound but the server's.
async fn analyze(player: &Player) -> Answer<tonic::Streaming<v1::AnalyzePositionResponse>> {
    let subject = Some(Subject::Transcript(String::new()));
    let request = v1::AnalyzePositionRequest { subject, lines: 1, ..Default::default() };
    Ok(player.analyses().analyze_position(request).await?.into_inner())
}

#[tokio::test]
async fn visitors_have_a_small_share_of_the_analyses() {
    let server = TestServer::limited(|limits| limits.analyses = 12).await;
    let from = async |host| server.visitor_from(host).await;
    let first = analyze(&from(1).await).await.unwrap();
    refused(analyze(&from(1).await).await, EXHAUSTED, "QUOTA_ANALYSES");
    let ada = server.human_from(1, "Ada").await.unwrap();
    let (_adas, _other) = (analyze(&ada).await.unwrap(), analyze(&from(2).await).await.unwrap());
    // Visitors are refused when a quarter of the server's analyses are under way.
    refused(analyze(&from(3).await).await, EXHAUSTED, "QUOTA_ANALYSES");
    let _more = analyze(&server.human_from(3, "Bea").await.unwrap()).await.unwrap();
    drop((first, _other));
    let visitor = from(3).await;
    within(async { while analyze(&visitor).await.is_err() {} }).await;
}

#[tokio::test]
async fn a_visitor_has_a_quarter_of_the_time_for_an_analysis() {
    let server = TestServer::limited(|limits| limits.analysis_time = Duration::from_secs(8)).await;
    let began = tokio::time::Instant::now();
    let mut analysis = analyze(&server.visitor_from(1).await).await.unwrap();
    loop {
        let message = within(analysis.message()).await.unwrap().unwrap().message.unwrap();
        if let PositionMessage::Analysis(v1::PositionAnalysis { r#final: true, .. }) = message {
            break;
        }
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(8), "{took:?}");
    let wrong = v1::AnalyzePositionRequest { lines: -1, subject: Some(Subject::Transcript("".into())), budget: None };
    let visitor = server.visitor_from(1).await;
    let details = refused(visitor.analyses().analyze_position(wrong).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&details), "lines");
}

#[tokio::test]
async fn an_invitation_shows_its_room_without_joining() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let made = ada.create(v1::RoomSettings { rated: true, ..private() }).await;
    let visitor = server.visitor_from(1).await;
    let by_code = |code: &str| v1::GetRoomRequest { join_code: code.into(), ..Default::default() };
    let seen = visitor.rooms().get_room(by_code(&made.join_code)).await.unwrap().into_inner().room.unwrap();
    assert_eq!((&seen.room_id, seen.settings.unwrap().rated), (&made.room_id, true));
    assert_eq!((seen.members.len(), seen.join_code.as_str()), (1, ""), "a visitor has not joined");

    let locked = v1::CreateRoomRequest { password: "sesame".into(), ..Default::default() };
    let locked = ada.try_create(locked).await.unwrap();
    ada.chat(&locked.room_id, "the password is not sesame").await.unwrap();
    server.human("Bea").await.join_by(By::JoinCode(locked.join_code.clone()), "sesame").await.unwrap();
    let seen = visitor.rooms().get_room(by_code(&locked.join_code)).await.unwrap().into_inner().room.unwrap();
    assert_eq!((&seen.room_id, seen.has_password, seen.seats.len()), (&locked.room_id, true, 2));
    let members: Vec<_> = seen.members.into_iter().filter_map(|member| Some(member.player?.player_id)).collect();
    assert_eq!((members, seen.owner_id.as_str()), (vec![ada.id.clone()], ada.id.as_str()), "only who invites");
    assert_eq!((seen.game, seen.chat, seen.join_code.as_str()), (None, vec![], ""));

    refused(visitor.rooms().get_room(by_code("000000")).await, Code::NotFound, "ROOM_NOT_FOUND");
    let guesses = (0..50).map(|number| format!("{number:06}"));
    for guess in guesses {
        if refusal(visitor.rooms().get_room(by_code(&guess)).await).code() == EXHAUSTED {
            return;
        }
    }
    panic!("guesses are not limited");
}
