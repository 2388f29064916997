//! Limits by address, calls that are refused before their message is read, and calls of higher cost.

use std::time::Duration;

use prost::Message;
use reversi::{
    grpc::Access,
    proto::v1::{self, session_service_client::SessionServiceClient},
    runtime::Limits,
};
use tokio::{task::JoinSet, time::Instant};
use tonic::{Code, Request, Status, transport::Channel};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_types::StatusExt as _;

use crate::harness::in_process::{
    Answer, Player, ServerOptions, TestServer, check, occupant, refusal, refused, within,
};

const EXHAUSTED: Code = Code::ResourceExhausted;
const GET_ME: &str = "/reversi.v1.SessionService/GetMe";
const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

#[tokio::test]
async fn players_of_one_address_share_limits_on_rooms_seats_and_streams() {
    let server = TestServer::limited(|limits| {
        (limits.rooms_per_address, limits.seats_per_address, limits.streams_per_address) = (3, 1, 2);
    })
    .await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let make = async || ada.create(v1::RoomSettings::default()).await.room_id;
    let rooms = [make().await, make().await];
    bea.join(&rooms[0]).await.unwrap();
    refused(bea.try_create(v1::CreateRoomRequest::default()).await, EXHAUSTED, "QUOTA_ROOMS");
    refused(bea.join(&rooms[1]).await, EXHAUSTED, "QUOTA_ROOMS");
    let cleo = server.human("Cleo").await;
    refused(cleo.join(&rooms[0]).await, EXHAUSTED, "QUOTA_ROOMS");

    ada.sit(&rooms[0], 0).await.unwrap();
    refused(bea.sit(&rooms[0], 1).await, EXHAUSTED, "QUOTA_SEATS");
    let stand = v1::LeaveSeatRequest { room_id: rooms[0].clone() };
    ada.rooms().leave_seat(stand).await.unwrap();
    bea.sit(&rooms[0], 1).await.unwrap();

    let (_first, _second) = (ada.watch(&rooms[0]).await, bea.turns().await);
    check("third stream", &ada.try_watch(&rooms[0], None).await.err().unwrap(), EXHAUSTED, "QUOTA_STREAMS");

    ada.close(&rooms[1]).await.unwrap();
    cleo.join(&rooms[0]).await.unwrap();
}

#[tokio::test]
async fn a_refused_call_waits_a_quarter_of_a_second() {
    let server = TestServer::limited(|limits| limits.rooms_per_player = 1).await;
    let ada = server.human("Ada").await;
    ada.create(v1::RoomSettings::default()).await;
    let asked = Instant::now();
    refused(ada.try_create(v1::CreateRoomRequest::default()).await, EXHAUSTED, "QUOTA_ROOMS");
    assert!(asked.elapsed() >= Duration::from_millis(250), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn without_limits_by_address_only_limits_by_player_apply() {
    let server = TestServer::limited(|limits| {
        (limits.rooms_per_address, limits.seats_per_address, limits.streams_per_address) = (0, 0, 0);
        (limits.connections_per_address, limits.calls_per_address, limits.log_ins_per_minute) = (0, 0, 0);
        (limits.rooms_per_player, limits.log_in_burst) = (1, 1);
    })
    .await;
    for name in ["Ada", "Bea"] {
        let player = server.human(name).await;
        player.create(v1::RoomSettings::default()).await;
        refused(player.try_create(v1::CreateRoomRequest::default()).await, EXHAUSTED, "QUOTA_ROOMS");
    }
}

#[tokio::test]
async fn players_of_one_address_share_the_rates_of_requests_and_chat() {
    let server = TestServer::limited(|limits| {
        (limits.requests_per_second_per_address, limits.request_burst_per_address) = (1, 100);
        (limits.chats_per_second_per_address, limits.chat_burst_per_address) = (1, 2);
    })
    .await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let room = ada.create(v1::RoomSettings::default()).await.room_id;
    bea.join(&room).await.unwrap();
    let mut chats = 0;
    let too_fast = loop {
        if let Err(status) = [&ada, &bea][chats % 2].chat(&room, "hello").await {
            break status;
        }
        chats += 1;
    };
    check("chat", &too_fast, EXHAUSTED, "RATE");
    // The burst of two, and perhaps one more after a second.
    assert!((2..=3).contains(&chats), "{chats} lines of chat");
    // The limit counts requests of both players, and requests without a player.
    let mut sessions = SessionServiceClient::new(server.channel().await);
    let too_fast = loop {
        ada.room(&room).await;
        let status = refusal(sessions.get_me(v1::GetMeRequest {}).await);
        if status.code() != Code::Unauthenticated {
            break status;
        }
    };
    check("requests", &too_fast, EXHAUSTED, "RATE");
    // One more may be allowed a second later.
    let too_fast = loop {
        if let Err(status) = bea.try_room(&room).await {
            break status;
        }
    };
    check("requests of the other", &too_fast, EXHAUSTED, "RATE");
}

/// Plays a game in a new room, and closes it.
async fn play_one_game(player: &Player) -> Result<(), Status> {
    let room = player.create_with(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let started = player.start(&room).await;
    if let Ok(game) = &started {
        player.resign(&game.game_id).await.unwrap();
    }
    player.close(&room).await.unwrap();
    started.map(|_| ())
}

#[tokio::test]
async fn games_have_a_rate_by_player_and_by_address() {
    let server = TestServer::limited(|limits| {
        (limits.games_per_minute, limits.game_burst) = (1, 2);
        (limits.games_per_minute_per_address, limits.game_burst_per_address) = (1, 3);
    })
    .await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    play_one_game(&ada).await.unwrap();
    play_one_game(&ada).await.unwrap();
    let details = refused(play_one_game(&ada).await, EXHAUSTED, "RATE");
    let delay = details.retry_info().unwrap().retry_delay.unwrap();
    assert!(delay.as_secs() > 30 && delay.as_secs() <= 60, "{delay:?}");
    let ai = ada.quick_start_with_ai("random", v1::SidePreference::Black).await;
    refused(ai, EXHAUSTED, "RATE");
    let seats = ["random", "random"].map(|kind| v1::Seat { occupant: Some(occupant(kind)), ..Default::default() });
    let settings = Some(v1::RoomSettings { auto_start: true, ..Default::default() });
    let alone = v1::CreateRoomRequest { settings, seats: seats.to_vec(), ..Default::default() };
    refused(ada.try_create(alone).await, EXHAUSTED, "RATE");
    assert_eq!(ada.me().await.room_ids, [""; 0], "a refused game leaves no room");
    play_one_game(&bea).await.unwrap();
    refused(play_one_game(&bea).await, EXHAUSTED, "RATE");
}

#[tokio::test]
async fn a_refused_game_of_two_players_may_start_later() {
    let server = TestServer::limited(|limits| (limits.games_per_minute, limits.game_burst) = (600, 1)).await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    seated.black.resign(&seated.game).await.unwrap();
    seated.white.ready(&seated.room).await.unwrap();
    // A tenth of a second for each game.
    while let Err(status) = seated.black.start(&seated.room).await {
        check("a game", &status, EXHAUSTED, "RATE");
        let delay = status.get_error_details().retry_info().unwrap().retry_delay.unwrap();
        assert!(delay.as_millis() <= 100, "{delay:?}");
    }
}

/// The error of a call whose message is never sent.
async fn wait_for_answer(channel: Channel, path: &'static str, token: Option<String>) -> Status {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    let mut request = Request::new(tokio_stream::pending::<v1::LogInRequest>());
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    let codec = tonic_prost::ProstCodec::<_, v1::LogInResponse>::default();
    refusal(client.client_streaming(request, path.parse().unwrap(), codec).await)
}

#[tokio::test]
async fn a_call_without_a_valid_token_is_refused_before_its_message_arrives() {
    let server = TestServer::open().await;
    for (token, reason) in
        [(None, "TOKEN_MISSING"), (Some("x"), "TOKEN_INVALID"), (Some(&"0".repeat(64)), "TOKEN_INVALID")]
    {
        let token = token.map(str::to_owned);
        let refusal = within(wait_for_answer(server.channel().await, GET_ME, token)).await;
        check(reason, &refusal, Code::Unauthenticated, reason);
    }
}

/// Makes one call more than may wait for their messages: the last is refused, and the others keep waiting.
async fn exceed_waiting_calls(server: &TestServer, path: &'static str, token: Option<&str>) -> JoinSet<Status> {
    let (channel, mut calls) = (server.channel().await, JoinSet::new());
    for _ in 0..4 {
        calls.spawn(wait_for_answer(channel.clone(), path, token.map(str::to_owned)));
    }
    let refused = within(calls.join_next()).await.unwrap().unwrap();
    check("a call above the limit", &refused, EXHAUSTED, "RATE");
    assert_eq!(calls.len(), 3);
    calls
}

#[tokio::test]
async fn calls_without_a_message_are_limited_by_player() {
    let server = TestServer::limited(|limits| limits.calls_per_player = 3).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let waiting = exceed_waiting_calls(&server, GET_ME, Some(&ada.token)).await;
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, EXHAUSTED, "RATE");
    bea.me().await;
    drop(waiting);
    within(async { while ada.sessions().get_me(v1::GetMeRequest {}).await.is_err() {} }).await;
}

#[tokio::test]
async fn a_stream_counts_as_a_call_while_it_is_open() {
    let server = TestServer::limited(|limits| limits.calls_per_player = 3).await;
    let ada = server.human("Ada").await;
    let open = async || ada.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(open().await.unwrap());
    }
    refused(open().await, EXHAUSTED, "RATE");
    streams.pop();
    within(async { while open().await.is_err() {} }).await;
}

#[tokio::test]
async fn calls_without_a_token_are_limited_by_address() {
    let server = TestServer::limited(|limits| limits.calls_per_address = 3).await;
    let ada = server.human("Ada").await;
    let waiting = exceed_waiting_calls(&server, LOG_IN, None).await;
    refused(ada.sessions().get_me(v1::GetMeRequest {}).await, EXHAUSTED, "RATE");
    drop(waiting);
    within(async { while ada.sessions().get_me(v1::GetMeRequest {}).await.is_err() {} }).await;

    // A stream without a token counts while it is open.
    let mut health = HealthClient::new(server.channel().await);
    let mut received = Vec::new();
    for _ in 0..3 {
        received.push(health.watch(HealthCheckRequest::default()).await.unwrap());
    }
    refused(health.watch(HealthCheckRequest::default()).await, EXHAUSTED, "RATE");
    drop(received);
    within(async { while health.watch(HealthCheckRequest::default()).await.is_err() {} }).await;
}

#[tokio::test]
async fn the_message_limit_applies_to_health_and_reflection() {
    let server = TestServer::limited(|limits| limits.message_bytes = 1_000).await;
    let request = HealthCheckRequest { service: "x".repeat(1_000) };
    assert!(request.encoded_len() > 1_000);
    let status = refusal(HealthClient::new(server.channel().await).check(request).await);
    check("health", &status, Code::OutOfRange, "MESSAGE_TOO_LARGE");
}

/// How often a player can make a call with a budget of a hundred requests.
async fn count_calls(player: &Player, call: impl AsyncFn(&Player) -> Result<(), Status>) -> usize {
    for done in 0..200 {
        if let Err(status) = call(player).await {
            check("an expensive call", &status, EXHAUSTED, "RATE");
            return done;
        }
    }
    panic!("the call was not counted");
}

#[tokio::test]
async fn expensive_calls_count_as_several_requests() {
    let server = TestServer::limited(|limits| (limits.requests_per_second, limits.request_burst) = (1, 100)).await;
    let (ada, bea, cleo) = (server.human("Ada").await, server.human("Bea").await, server.human("Cleo").await);
    let (dora, eve, fay) = (server.human("Dora").await, server.human("Eve").await, server.human("Fay").await);
    let page = |text: &str| v1::ListRoomsRequest {
        page_size: 200,
        filter: Some(v1::RoomFilter { text: text.into(), ..Default::default() }),
        ..Default::default()
    };
    ada.create(v1::RoomSettings::default()).await;
    let plain = count_calls(&bea, async |player| player.lobby().list_rooms(page("")).await.map(drop)).await;
    assert!(plain <= 50, "a page of the room list: {plain}");
    let sought = count_calls(&cleo, async |player| player.lobby().list_rooms(page("tea")).await.map(drop)).await;
    assert!(sought < plain, "a search in the room list: {sought}");
    let followed =
        count_calls(&dora, async |player| player.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.map(drop));
    let followed = followed.await;
    assert!(followed <= 80, "a stream of the room list: {followed}");
    let games = v1::ListGamesRequest { page_size: 200, ..Default::default() };
    let searched = count_calls(&eve, async |player| player.records().list_games(games.clone()).await.map(drop)).await;
    assert!(searched <= 10, "a search in all games: {searched}");
    let stats = v1::GetPlayerStatsRequest { display_name: "Ada".into(), ..Default::default() };
    let asked =
        count_calls(&fay, async |player| player.records().get_player_stats(stats.clone()).await.map(drop)).await;
    assert!(asked <= 70, "statistics: {asked}");
}

#[tokio::test]
async fn unread_answers_count_as_calls() {
    let server = TestServer::limited(|limits| (limits.calls_per_player, limits.request_burst) = (2, 100_000_000)).await;
    let ada = server.human("Ada").await;
    let (deaf, mut unread) = (server.with_window(&ada, 0).await, JoinSet::new());
    for _ in 0..2 {
        let deaf = deaf.clone();
        unread.spawn(async move { deaf.info().await });
    }
    let call = async || ada.sessions().get_me(v1::GetMeRequest {}).await;
    let too_many = loop {
        if let Err(status) = within(call()).await {
            break status;
        }
    };
    check("a third call", &too_many, EXHAUSTED, "RATE");
    unread.shutdown().await;
    while within(call()).await.is_err() {}
}

async fn reserve(owner: &Player, room: &str, guest: &Player) -> Answer<u64> {
    owner.set_seat(room, 1, v1::set_seat_request::Occupant::ReservedFor(guest.id.clone())).await?;
    owner.set_seat(room, 1, v1::set_seat_request::Occupant::Open(v1::OpenSeat {})).await
}

/// The number of invitations of the guest until one is refused, and that refusal.
async fn invitations(owner: &Player, room: &str, guest: &Player) -> (usize, Status) {
    let mut sent = 0;
    loop {
        match reserve(owner, room, guest).await {
            Ok(_) => sent += 1,
            Err(status) => break (sent, status),
        }
    }
}

/// A room with a seat for the guest.
fn reserved_room(guest: &Player) -> v1::CreateRoomRequest {
    let occupants = [v1::seat::Occupant::Reserved(guest.profile.clone()), occupant("open")];
    let seats = occupants.map(|occupant| v1::Seat { occupant: Some(occupant), ..Default::default() }).to_vec();
    v1::CreateRoomRequest { seats, ..Default::default() }
}

#[tokio::test]
async fn invitations_are_limited_by_inviter_and_by_invited() {
    let server = TestServer::limited(|limits| limits.request_burst = 10_000).await;
    let [ada, bea, cy] = [server.human("Ada").await, server.human("Bea").await, server.human("Cy").await];
    let room = ada.create(v1::RoomSettings::default()).await.room_id;
    let (sent, too_fast) = invitations(&ada, &room, &bea).await;
    let details = check("the invited", &too_fast, EXHAUSTED, "RATE");
    assert!(details.retry_info().unwrap().retry_delay.is_some());
    assert_eq!(sent, 10, "by one player");
    // The rest is left for others, also by a room whose seat is reserved from the start.
    let seats = reserved_room(&bea);
    for _ in 0..5 {
        cy.try_create(seats.clone()).await.unwrap();
    }
    refused(cy.try_create(seats).await, EXHAUSTED, "RATE");
    // Oneself is not invited, and others still are, up to the rate of the inviter.
    for _ in 0..200 {
        reserve(&ada, &room, &ada).await.unwrap();
    }
    let mut guests = 0;
    let too_fast = loop {
        let guest = server.human(&format!("guest {guests}")).await;
        let of_guest = async || {
            for _ in 0..10 {
                reserve(&ada, &room, &guest).await?;
            }
            Ok(())
        };
        match of_guest().await {
            Ok(()) => guests += 1,
            Err(status) => break status,
        }
    };
    check("the inviter", &too_fast, EXHAUSTED, "RATE");
    assert!((9..=15).contains(&guests), "{guests} guests of ten invitations");
}

/// Logs in from an address behind a trusted proxy.
pub(super) async fn log_in_at(server: &TestServer, address: &str, name: &str) -> Player {
    let mut request = Request::new(v1::LogInRequest { display_name: name.into(), ..Default::default() });
    request.metadata_mut().insert("x-forwarded-for", address.parse().unwrap());
    let channel = server.channel().await;
    let answer = SessionServiceClient::new(channel.clone()).log_in(request).await.unwrap().into_inner();
    Player::new(channel, answer.player.unwrap(), &answer.token)
}

/// A server behind a trusted proxy, where a player may be in one room.
pub(super) async fn proxied_server() -> TestServer {
    let access = Access { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Access::default() };
    let limits = Limits { rooms_per_player: 1, request_burst: 10_000, ..Limits::default() };
    TestServer::with(ServerOptions { access, limits, ..Default::default() }).await
}

#[tokio::test]
async fn inviters_of_one_network_count_as_one() {
    let server = proxied_server().await;
    let guest = log_in_at(&server, "203.0.113.1", "Gus").await;
    let mut sent = Vec::new();
    for (number, address) in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3", "198.51.100.1"].iter().enumerate() {
        let owner = log_in_at(&server, address, &format!("Owner {number}")).await;
        let room = owner.create(v1::RoomSettings::default()).await.room_id;
        let (by_owner, too_fast) = invitations(&owner, &room, &guest).await;
        check("one more", &too_fast, EXHAUSTED, "RATE");
        sent.push(by_owner);
    }
    assert_eq!(sent, [10, 0, 0, 0, 5]);
}

#[tokio::test]
async fn an_invitation_that_is_not_sent_does_not_count_for_the_invited() {
    let server = proxied_server().await;
    let guest = log_in_at(&server, "203.0.113.1", "Gus").await;
    let friend = log_in_at(&server, "198.51.100.1", "Flo").await;
    let eve = log_in_at(&server, "198.51.100.2", "Eve").await;
    let foreign = friend.create(v1::RoomSettings::default()).await.room_id;
    let own = eve.try_create(reserved_room(&guest)).await.unwrap().room_id;
    let reserved = || v1::set_seat_request::Occupant::ReservedFor(guest.id.clone());
    for _ in 0..11 {
        refused(eve.set_seat(&foreign, 1, reserved()).await, Code::PermissionDenied, "NOT_OWNER");
        refused(eve.set_seat("unknown", 1, reserved()).await, Code::NotFound, "ROOM_NOT_FOUND");
        refused(eve.try_create(reserved_room(&guest)).await, EXHAUSTED, "QUOTA_ROOMS");
        eve.set_seat(&own, 0, reserved()).await.unwrap();
    }
    let (sent, too_fast) = invitations(&friend, &foreign, &guest).await;
    check("one more", &too_fast, EXHAUSTED, "RATE");
    assert_eq!(sent, 9, "one of ten was sent before");
}
