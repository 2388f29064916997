//! Listing and creating rooms.

mod invitations;
mod seeks;

use std::collections::{BTreeMap, BTreeSet};

use reversi::proto::v1::{self, room_event, watch_rooms_response::Message};
use tokio::task::JoinSet;
use tonic::{Code, Streaming};

use crate::{
    api::records::lost_to_roxanne,
    harness::in_process::{
        Player, ServerOptions, TestServer, check, field, millis, named, private, refusal, refused, within,
    },
};

#[tokio::test]
async fn the_server_lists_its_ais_and_limits() {
    let server = TestServer::open().await;
    let info = server.human("Ada").await.info().await;
    let kinds: Vec<_> = info.ai_kinds.iter().map(|kind| kind.kind.as_str()).collect();
    assert!(kinds.contains(&"roxanne") && kinds.contains(&"mcts-roxanne"), "{kinds:?}");
    assert!(info.ai_kinds.iter().all(|kind| (1..=kind.levels).contains(&kind.default_level)));
    assert_eq!((info.players, info.rooms, info.games, info.draining), (1, 0, 0, false));
    let limits = info.limits.unwrap();
    assert_eq!((limits.name_characters, limits.seats_per_human, limits.message_bytes), (24, 1, 16 * 1024));
    assert_eq!(info.connections, 1, "the connection of this client");
    assert_eq!(info.ai_load.unwrap().threads, 1);
}

/// Compares by name, so that no limit can be omitted.
#[tokio::test]
async fn the_server_lists_every_limit() {
    let server = TestServer::open().await;
    let listed = format!("{:?}", server.human("Ada").await.info().await.limits.unwrap());
    let limits = format!("{:?}", ServerOptions::default().limits);
    let limits = limits.trim_start_matches("Limits { ").trim_end_matches(" }");
    for (name, value) in limits.split(", ").map(|limit| limit.split_once(": ").unwrap()) {
        let value = match value.strip_suffix('s') {
            Some(seconds) => format!("Some(Duration {{ seconds: {seconds}"),
            None => value.to_owned(),
        };
        let is_listed = |end| listed.contains(&format!(" {name}: {value}{end}"));
        assert!([",", " "].into_iter().any(is_listed), "{name}: {value} in {listed}");
    }
}

#[tokio::test]
async fn the_list_is_paged_newest_first() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(ada.create(named(&format!("room {number}"))).await.room_id);
    }
    ada.create(private()).await;
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListRoomsRequest { page_size: 2, page_token: token, ..Default::default() };
        let page = ada.lobby().list_rooms(request).await.unwrap().into_inner();
        assert!(page.rooms.len() <= 2);
        seen.extend(page.rooms.into_iter().map(|row| row.room_id));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_page_token_is_for_one_method_and_filter() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for name in ["one", "two"] {
        ada.create(named(name)).await;
    }
    let request = v1::ListRoomsRequest { page_size: 1, ..Default::default() };
    let token = ada.lobby().list_rooms(request).await.unwrap().into_inner().next_page_token;
    let of = |filter, page_token: &str| v1::ListRoomsRequest { filter, page_token: page_token.into(), page_size: 0 };
    let same = of(Some(v1::RoomFilter::default()), &token);
    assert_eq!(ada.lobby().list_rooms(same).await.unwrap().into_inner().rooms.len(), 1);
    let open = v1::RoomFilter { open_seat: true, ..Default::default() };
    for (filter, token) in [(Some(open), &*token), (None, &token[1..]), (None, "x"), (None, "1.000000000000")] {
        let answer = ada.lobby().list_rooms(of(filter, token)).await;
        assert_eq!(field(&refused(answer, Code::InvalidArgument, "BAD_PAGE_TOKEN")), "page_token");
    }
    let request = v1::ListGamesRequest { page_token: token, ..Default::default() };
    refused(ada.records().list_games(request).await, Code::InvalidArgument, "BAD_PAGE_TOKEN");
}

#[tokio::test]
async fn the_list_is_filtered() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let open = ada.create(named("Sunday")).await.room_id;
    let slow = v1::RoomSettings { ai_pause: millis(10_000), ..named("Monday") };
    let playing = bea.create_with(slow, ["random", "random"]).await.room_id;
    bea.start(&playing).await.unwrap();
    let cases = [
        (v1::RoomFilter { text: "sUN".into(), ..Default::default() }, vec![&open]),
        (v1::RoomFilter { text: "bea".into(), ..Default::default() }, vec![&playing]),
        (v1::RoomFilter { open_seat: true, ..Default::default() }, vec![&open]),
        (v1::RoomFilter { phase: v1::RoomPhase::Playing.into(), ..Default::default() }, vec![&playing]),
        (v1::RoomFilter::default(), vec![&playing, &open]),
    ];
    for (filter, want) in cases {
        let request = v1::ListRoomsRequest { filter: Some(filter), ..Default::default() };
        let rows = ada.lobby().list_rooms(request).await.unwrap().into_inner().rooms;
        assert_eq!(rows.iter().map(|row| &row.room_id).collect::<Vec<_>>(), want);
    }
    let wrong = [
        (v1::RoomFilter { phase: 9, ..Default::default() }, "filter.phase"),
        (v1::RoomFilter { text: "x".repeat(1_000), ..Default::default() }, "filter.text"),
    ];
    for (filter, path) in wrong {
        let request = v1::ListRoomsRequest { filter: Some(filter.clone()), ..Default::default() };
        let details = refused(ada.lobby().list_rooms(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), path);
        let request = v1::WatchRoomsRequest { filter: Some(filter) };
        refused(ada.lobby().watch_rooms(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
    }
}

/// The next message but heartbeats, of which the first comes at a random time.
async fn next_message(stream: &mut Streaming<v1::WatchRoomsResponse>) -> Message {
    loop {
        match within(stream.message()).await.unwrap().unwrap().message.unwrap() {
            Message::Heartbeat(_) => {}
            message => return message,
        }
    }
}

#[tokio::test]
async fn a_watcher_of_the_list_gets_every_change() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let first = ada.create(named("first")).await.room_id;
    let mut list = bea.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    let Message::Snapshot(rows) = next_message(&mut list).await else { panic!("a snapshot comes first") };
    assert_eq!(rows.rooms.iter().map(|row| &row.room_id).collect::<Vec<_>>(), [&first]);
    let hidden = ada.create(private()).await.room_id;
    let second = ada.create_with(named("second"), ["me", "random"]).await.room_id;
    let Message::Upserted(row) = next_message(&mut list).await else { panic!("expected a row") };
    assert_eq!((&row.room_id, row.seats_taken, row.owner_name.as_str()), (&second, 2, "Ada"));
    // A room that becomes private is removed from the list, and later changes of it are not sent.
    ada.update_settings(&second, "visibility", private()).await.unwrap();
    let Message::Removed(gone) = next_message(&mut list).await else { panic!("expected a removal") };
    assert_eq!(gone, second);
    ada.close(&hidden).await.unwrap();
    ada.close(&first).await.unwrap();
    let Message::Removed(gone) = next_message(&mut list).await else { panic!("expected a removal") };
    assert_eq!(gone, first);
}

#[tokio::test]
async fn the_list_shows_boards_only_of_rooms_that_everyone_may_watch() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for (name, watching, password, shown) in [
        ("open", v1::Watching::Everyone, "", true),
        ("members", v1::Watching::Members, "", false),
        ("locked", v1::Watching::Everyone, "sesame", false),
    ] {
        let settings = v1::RoomSettings { watching: watching.into(), ..named(name) };
        let seats = ["roxanne", "mcts"].map(|kind| v1::Seat {
            occupant: Some(v1::seat::Occupant::Ai(v1::AiSeat { kind: kind.into(), level: 0, seed: 1 })),
            ..Default::default()
        });
        let request = v1::CreateRoomRequest {
            settings: Some(settings),
            seats: seats.to_vec(),
            password: password.into(),
            ..Default::default()
        };
        let room = ada.try_create(request).await.unwrap().room_id;
        let mut watcher = ada.watch(&room).await;
        watcher.snapshot().await;
        let game = ada.start(&room).await.unwrap().game_id;
        watcher.until(|event| matches!(event, room_event::Event::MovePlayed(_)).then_some(())).await;
        ada.abort(&game).await.unwrap();

        let position = ada.room(&room).await.game.unwrap().position.unwrap();
        let row = ada.list_rooms().await.into_iter().find(|row| row.room_id == room).unwrap();
        let board = if shown { (position.black, position.white) } else { (0, 0) };
        assert_eq!((row.black, row.white), board, "{name}");
        assert_eq!(row.last_move.is_empty(), !shown, "{name}");
        assert_eq!(row.black_discs, position.black_discs, "{name}");
    }
}

#[tokio::test]
async fn a_second_room_does_not_affect_the_first() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let first = ada.create(named("first")).await.room_id;
    let second = ada.create(named("second")).await.room_id;
    // A second room, and the player is in both.
    assert_ne!(first, second);
    let rooms: BTreeSet<_> = ada.me().await.room_ids.into_iter().collect();
    assert_eq!(rooms, BTreeSet::from([first.clone(), second.clone()]));
    ada.close(&first).await.unwrap();
    assert_eq!(ada.me().await.room_ids, [second]);
}

#[tokio::test]
async fn quick_start_does_not_use_rooms_of_others() {
    let server = TestServer::open().await;
    let mut rooms = BTreeSet::new();
    for number in 0..20 {
        let player = server.human(&format!("Player {number}")).await;
        rooms.insert(player.quick_start_with_ai("random", v1::SidePreference::White).await.unwrap().room_id);
    }
    assert_eq!(rooms.len(), 20);
    let (ada, bea, eve) = (server.human("Ada").await, server.human("Bea").await, server.human("Eve").await);
    let waits = ada.quick_start_with_anyone().await.unwrap();
    assert_eq!(
        ada.quick_start_with_anyone().await.unwrap().room_id,
        waits.room_id,
        "a second request waits in the same room"
    );
    assert_eq!(bea.quick_start_with_anyone().await.unwrap().phase(), v1::RoomPhase::Playing);
    assert_ne!(eve.quick_start_with_anyone().await.unwrap().room_id, waits.room_id);
}

#[tokio::test]
async fn quick_start_needs_an_opponent() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let no_opponent = ada.lobby().quick_start(v1::QuickStartRequest::default()).await;
    assert_eq!(field(&refused(no_opponent, Code::InvalidArgument, "BAD_ARGUMENT")), "opponent");
    refused(ada.quick_start_with_ai("nobody", v1::SidePreference::Black).await, Code::InvalidArgument, "BAD_ARGUMENT");
    let anyone = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default()));
    let request = v1::QuickStartRequest { opponent: anyone, side: 9, ..Default::default() };
    assert_eq!(field(&refused(ada.lobby().quick_start(request).await, Code::InvalidArgument, "BAD_ARGUMENT")), "side");
    assert_eq!(ada.info().await.rooms, 0, "a refused request creates no room");
}

#[tokio::test]
async fn a_repeated_request_creates_one_room() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let request = || v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    let (first, second) = tokio::join!(ada.try_create(request()), ada.try_create(request()));
    let room = first.unwrap().room_id;
    assert_eq!(second.unwrap().room_id, room);
    assert_eq!((ada.try_create(request()).await.unwrap().room_id, ada.info().await.rooms), (room.clone(), 1));
    let long = v1::CreateRoomRequest { request_id: "x".repeat(65), ..Default::default() };
    assert_eq!(field(&refused(ada.try_create(long).await, Code::InvalidArgument, "BAD_ARGUMENT")), "request_id");
    // The same id from another player is a different request.
    assert_ne!(server.human("Bea").await.try_create(request()).await.unwrap().room_id, room);
}

#[tokio::test]
async fn calls_with_ids_have_the_rate_of_games() {
    let server = TestServer::limited(|limits| (limits.games_per_minute, limits.game_burst) = (1, 2)).await;
    let ada = server.human("Ada").await;
    let create = async |id: &str| {
        let room = ada.try_create(v1::CreateRoomRequest { request_id: id.into(), ..Default::default() }).await?.room_id;
        ada.close(&room).await
    };
    for id in ["1", "2", "", ""] {
        create(id).await.unwrap();
    }
    refused(create("3").await, Code::ResourceExhausted, "RATE");
    create("").await.unwrap();
}

#[tokio::test]
async fn a_repeated_request_shows_nothing_to_who_may_no_longer_see_the_room() {
    let server = TestServer::open().await;
    let (ada, bob) = (server.human("Ada").await, server.human("Bob").await);
    let request = || v1::CreateRoomRequest { request_id: "once".into(), ..Default::default() };
    let room = ada.try_create(request()).await.unwrap().room_id;
    bob.join(&room).await.unwrap();
    let transfer = v1::TransferOwnershipRequest { room_id: room.clone(), player_id: bob.id.clone() };
    ada.rooms().transfer_ownership(transfer).await.unwrap();
    ada.leave(&room).await.unwrap();
    let members_only = v1::RoomSettings { watching: v1::Watching::Members.into(), ..Default::default() };
    bob.update_settings(&room, "watching", members_only).await.unwrap();
    let get = v1::GetRoomRequest { room_id: room, ..Default::default() };
    let unseen = ada.rooms().get_room(get).await.unwrap_err();
    assert_eq!(ada.try_create(request()).await.unwrap_err().code(), unseen.code());
}

#[tokio::test]
async fn a_repeated_start_starts_one_game() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let settings = v1::RoomSettings { ai_pause: millis(10_000), ..named("machines") };
    let seats = ["random", "random"].map(|kind| v1::Seat {
        occupant: Some(v1::seat::Occupant::Ai(v1::AiSeat { kind: kind.into(), ..Default::default() })),
        ..Default::default()
    });
    let request = v1::CreateRoomRequest {
        settings: Some(settings),
        seats: seats.to_vec(),
        request_id: "r".into(),
        ..Default::default()
    };
    let room = ada.try_create(request).await.unwrap().room_id;
    let start = || v1::StartGameRequest { room_id: room.clone(), request_id: "s".into() };
    let first = ada.rooms().start_game(start()).await.unwrap().into_inner();
    assert!(first.game_id.starts_with(&room), "{first:?}");
    let again = ada.rooms().start_game(start()).await.unwrap().into_inner();
    assert_eq!(again.game_id, first.game_id);
    refused(ada.start(&room).await, Code::FailedPrecondition, "ROOM_IN_GAME");
}

#[tokio::test]
async fn a_request_id_is_for_one_method_and_body() {
    let server = TestServer::limited(|limits| limits.seats_per_human = 3).await;
    let ada = server.human("Ada").await;
    let reused = "REQUEST_ID_REUSED";
    let create = |name: &str, password: &str| v1::CreateRoomRequest {
        settings: Some(named(name)),
        password: password.into(),
        request_id: "id".into(),
        ..Default::default()
    };
    let room = ada.try_create(create("one", "")).await.unwrap().room_id;
    refused(ada.try_create(create("two", "")).await, Code::AlreadyExists, reused);
    assert_eq!(ada.try_create(create("one", "secret")).await.unwrap().room_id, room, "the password does not count");
    let quick = async |id: &str, side: v1::SidePreference| {
        let opponent =
            Some(v1::quick_start_request::Opponent::Ai(v1::AiSeat { kind: "random".into(), ..Default::default() }));
        let request =
            v1::QuickStartRequest { opponent, side: side.into(), request_id: id.into(), ..Default::default() };
        ada.lobby().quick_start(request).await.map(|started| started.into_inner().room.unwrap().room_id)
    };
    refused(quick("id", v1::SidePreference::Black).await, Code::AlreadyExists, reused);
    quick("quick", v1::SidePreference::Black).await.unwrap();
    refused(quick("quick", v1::SidePreference::White).await, Code::AlreadyExists, reused);
    let start = async |id: &str, room: &str| {
        let request = v1::StartGameRequest { room_id: room.into(), request_id: id.into() };
        ada.rooms().start_game(request).await.map(|started| started.into_inner().game_id)
    };
    refused(start("id", &room).await, Code::AlreadyExists, reused);
    let first = ada.create_with(named("first"), ["me", "random"]).await.room_id;
    let second = ada.create_with(named("second"), ["random", "random"]).await.room_id;
    // A refused request does not use its id up.
    refused(start("start", &room).await, Code::FailedPrecondition, "SEATS_NOT_READY");
    start("start", &first).await.unwrap();
    refused(start("start", &second).await, Code::AlreadyExists, reused);
    assert_eq!(ada.info().await.games, 2);
}

#[tokio::test]
async fn repeated_quick_starts_meet_the_same_player() {
    let server = TestServer::open().await;
    let [ada, bea] = [server.human("Ada").await, server.human("Bea").await];
    let _turns = (ada.turns().await, bea.turns().await);
    let quick = async |player: &Player, id: &str| {
        let opponent = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default()));
        let request = v1::QuickStartRequest { opponent, request_id: id.into(), ..Default::default() };
        player.lobby().quick_start(request).await.map(|started| started.into_inner().room.unwrap().room_id)
    };
    let room = quick(&bea, "1").await.unwrap();
    // She waits there already, and this id is of that room from now on.
    assert_eq!(quick(&bea, "2").await.unwrap(), room);
    let (one, same) = tokio::join!(quick(&ada, "1"), quick(&ada, "1"));
    assert_eq!([one.unwrap(), same.unwrap()], [&room[..]; 2]);
    for (player, id) in [(&bea, "1"), (&bea, "2"), (&ada, "1")] {
        assert_eq!(quick(player, id).await.unwrap(), room);
    }
    assert_eq!((ada.info().await.rooms, ada.info().await.games), (1, 1));
    bea.resign(&ada.room(&room).await.game.unwrap().game_id).await.unwrap();
    ada.leave(&room).await.unwrap();
    assert_eq!(quick(&ada, "1").await.unwrap(), room, "also after she has left it");
    bea.leave(&room).await.unwrap();
    for (player, id) in [(&bea, "1"), (&bea, "2"), (&ada, "1")] {
        refused(quick(player, id).await, Code::NotFound, "ROOM_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_repeated_start_always_returns_its_first_game() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let room = ada.create_with(named("again"), ["me", "random"]).await.room_id;
    let start = async |id: &str| {
        let request = v1::StartGameRequest { room_id: room.clone(), request_id: id.into() };
        ada.rooms().start_game(request).await.unwrap().into_inner()
    };
    let first = start("first").await;
    ada.resign(&first.game_id).await.unwrap();
    let second = start("second").await;
    assert_ne!(second.game_id, first.game_id);
    assert_eq!((start("first").await, start("second").await), (first, second));
}

#[tokio::test]
async fn a_long_list_is_sent_in_several_messages() {
    let server = TestServer::limited(|limits| limits.rooms_per_player = 600).await;
    let ada = server.human("Ada").await;
    fill(&ada, 503).await;
    let mut list = ada.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    let Message::Snapshot(rows) = next_message(&mut list).await else { panic!("a snapshot comes first") };
    let mut seen: Vec<_> = rows.rooms.into_iter().map(|row| row.room_id).collect();
    assert_eq!(seen.len(), 500);
    for _ in 0..3 {
        let Message::Upserted(row) = next_message(&mut list).await else { panic!("expected a row") };
        seen.push(row.room_id);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 503);
}

async fn fill(player: &Player, rooms: usize) -> Vec<String> {
    let mut made = Vec::new();
    for _ in 0..rooms {
        made.push(player.create(v1::RoomSettings::default()).await.room_id);
    }
    made
}

#[tokio::test]
async fn quotas_are_refused_with_a_retry_delay() {
    let server = TestServer::limited(|limits| (limits.rooms_per_player, limits.streams_per_player) = (2, 2)).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let rooms = fill(&ada, 2).await;
    let (more, exhausted) = (v1::CreateRoomRequest::default(), Code::ResourceExhausted);
    refused(ada.try_create(more.clone()).await, exhausted, "QUOTA_ROOMS");
    let beas = fill(&bea, 1).await;
    refused(ada.join(&beas[0]).await, exhausted, "QUOTA_ROOMS");
    ada.close(&rooms[0]).await.unwrap();
    ada.join(&beas[0]).await.unwrap();

    ada.sit(&rooms[1], 0).await.unwrap();
    let ai = v1::set_seat_request::Occupant::Ai(v1::AiSeat { kind: "random".into(), ..Default::default() });
    ada.set_seat(&rooms[1], 1, ai).await.unwrap();
    let game = ada.start(&rooms[1]).await.unwrap().game_id;
    refused(ada.sit(&beas[0], 0).await, exhausted, "QUOTA_SEATS");
    refused(ada.sit(&rooms[1], 7).await, Code::InvalidArgument, "BAD_ARGUMENT");
    ada.resign(&game).await.unwrap();
    let stand = v1::LeaveSeatRequest { room_id: rooms[1].clone() };
    ada.rooms().leave_seat(stand).await.unwrap();
    ada.sit(&beas[0], 0).await.unwrap();

    let (_one, _two) = (ada.watch(&beas[0]).await, ada.turns().await);
    let third = ada.try_watch(&beas[0], None).await.err().unwrap();
    check("third stream", &third, exhausted, "QUOTA_STREAMS");
    let list = ada.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await;
    check("list", &refusal(list), exhausted, "QUOTA_STREAMS");
}

#[tokio::test]
async fn a_full_server_refuses_new_rooms() {
    let server = TestServer::limited(|limits| limits.rooms = 1).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    fill(&ada, 1).await;
    refused(bea.try_create(v1::CreateRoomRequest::default()).await, Code::ResourceExhausted, "QUOTA_ROOMS");
}

#[tokio::test]
async fn settings_out_of_bounds_are_refused_with_the_field() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let none = v1::RoomSettings::default;
    let moves = |moves: &str| {
        let opening = Some(v1::opening::Opening::Moves(moves.into()));
        v1::RoomSettings { opening: Some(v1::Opening { opening }), ..none() }
    };
    let cases = [
        (named(&"x".repeat(41)), "settings.name"),
        (named("a\nb"), "settings.name"),
        (v1::RoomSettings { move_limit: millis(99), ..none() }, "settings.move_limit"),
        (v1::RoomSettings { move_limit: millis(0), ..none() }, "settings.move_limit"),
        (v1::RoomSettings { total_time: millis(10), ..none() }, "settings.total_time"),
        (v1::RoomSettings { increment: millis(10), ..none() }, "settings.increment"),
        (v1::RoomSettings { ai_pause: millis(10_001), ..none() }, "settings.ai_pause"),
        (v1::RoomSettings { games: -1, ..none() }, "settings.games"),
        (v1::RoomSettings { games: 1_001, ..none() }, "settings.games"),
        (v1::RoomSettings { visibility: 5, ..none() }, "settings.visibility"),
        (v1::RoomSettings { watching: 5, ..none() }, "settings.watching"),
        (moves("a1"), "settings.opening.moves"),
        (moves("zz"), "settings.opening.moves"),
    ];
    for (settings, path) in cases {
        let request = v1::CreateRoomRequest { settings: Some(settings), ..Default::default() };
        let details = refused(ada.try_create(request).await, Code::InvalidArgument, "BAD_SETTINGS");
        assert_eq!(field(&details), path);
    }
    let three = v1::CreateRoomRequest { seats: vec![v1::Seat::default(); 3], ..Default::default() };
    assert_eq!(field(&refused(ada.try_create(three).await, Code::InvalidArgument, "BAD_ARGUMENT")), "seats");
    assert_eq!(ada.info().await.rooms, 0);
}

#[tokio::test]
async fn quick_start_pairs_waiting_players() {
    let server = TestServer::open().await;
    let mut calls = JoinSet::new();
    for number in 0..12 {
        let bot = server.bot(&format!("Bot {number}")).await;
        calls.spawn(async move { bot.quick_start_with_anyone().await.unwrap().room_id });
    }
    let mut rooms = BTreeMap::new();
    for room in within(calls.join_all()).await {
        *rooms.entry(room).or_insert(0) += 1;
    }
    assert!(rooms.len() == 6 && rooms.values().all(|&players| players == 2), "{rooms:?}");
    assert_eq!(server.human("Ada").await.info().await.games, 6);
}

#[tokio::test]
async fn of_two_concurrent_requests_one_gets_the_last_place() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let rooms = fill(&ada, 2).await;
    for room in &rooms {
        bea.join(room).await.unwrap();
    }
    // Two players, one seat.
    let (first, second) = tokio::join!(ada.sit(&rooms[0], 0), bea.sit(&rooms[0], 0));
    assert!(first.is_ok() != second.is_ok());
    // One player, two seats: the second request may give up the seat of the first.
    let eve = server.human("Eve").await;
    for room in &rooms {
        eve.join(room).await.unwrap();
    }
    let (first, second) = tokio::join!(eve.sit(&rooms[0], 1), eve.sit(&rooms[1], 1));
    assert!(first.is_ok() || second.is_ok());
    assert_eq!(eve.me().await.seats.len(), 1);
}

#[tokio::test]
async fn a_row_has_the_terms_of_its_room_and_says_that_its_game_is_over() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings { rated: true, total_time: millis(60_000), ..named("terms") };
    let seated = server.two_player_game(settings).await;
    let row = async || server.visitor_from(1).await.list_rooms().await.remove(0);
    let running = row().await;
    assert_eq!((running.rated, running.finished), (true, false));
    assert_eq!((running.total_time, running.move_limit, running.increment), (millis(60_000), None, None));
    seated.black.resign(&seated.game).await.unwrap();
    let over = row().await;
    assert_eq!((over.rated, over.finished), (true, true));
}

#[tokio::test]
async fn a_row_has_the_ratings_of_the_players_in_its_seats() {
    let server = TestServer::open().await;
    let (ada, eve) = (server.human("Ada").await, server.human("Eve").await);
    lost_to_roxanne(&ada).await;
    ada.create_with(named("tea"), ["roxanne", "me"]).await;
    let listed = eve.list_rooms().await.remove(0);
    assert_eq!((listed.black_rating, listed.white_rating), (0, 1338));
    let stream = eve.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap();
    let first = within(stream.into_inner().message()).await.unwrap().unwrap().message;
    assert_eq!(first, Some(v1::watch_rooms_response::Message::Snapshot(v1::RoomList { rooms: vec![listed] })));
}
