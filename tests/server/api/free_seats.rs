//! A player at its limit of seats who starts or joins a game: rooms in which it plays none are left.

use reversi::proto::v1::{self, seat::Occupant};
use tonic::Code;

use crate::harness::in_process::{Answer, Player, SeatedRoom, TestServer, named, occupant, refused};

const EXHAUSTED: Code = Code::ResourceExhausted;

/// The rooms in which a player has a seat.
async fn seats(player: &Player) -> Vec<String> {
    let mut rooms: Vec<_> = player.me().await.seats.into_iter().map(|held| held.room_id).collect();
    rooms.sort();
    rooms
}

async fn quick_start(player: &Player) -> Answer<v1::Room> {
    player.quick_start_with_ai("random", v1::SidePreference::Black).await
}

/// A request for a new room with these occupants.
fn new_room(seats: [Occupant; 2]) -> v1::CreateRoomRequest {
    let seats = seats.map(|kind| v1::Seat { occupant: Some(kind), ..Default::default() });
    v1::CreateRoomRequest { seats: seats.to_vec(), ..Default::default() }
}

/// A new room in which the player has finished a game.
async fn finished(player: &Player) -> String {
    let room = playing(player).await;
    player.resign(&format!("{room}-1")).await.unwrap();
    room
}

/// A new room in which the player plays.
async fn playing(player: &Player) -> String {
    let room = player.create_with(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    player.start(&room).await.unwrap();
    room
}

#[tokio::test]
async fn the_seat_of_a_finished_game_is_given_up_for_the_next_game() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let waiting = bea.quick_start_with_anyone().await.unwrap().room_id;
    let lobby = bea.create(v1::RoomSettings::default()).await.room_id;
    let mut left = finished(&ada).await;
    for step in ["quick start", "create", "take a seat", "match"] {
        let now = match step {
            "quick start" => quick_start(&ada).await.unwrap().room_id,
            "create" => finished(&ada).await,
            "take a seat" => {
                ada.join(&lobby).await.unwrap();
                ada.sit(&lobby, 0).await.unwrap();
                lobby.clone()
            }
            _ => ada.quick_start_with_anyone().await.unwrap().room_id,
        };
        assert_eq!((seats(&ada).await, ada.me().await.room_ids), (vec![now.clone()], vec![now.clone()]), "{step}");
        if left != lobby {
            // Nobody else was there.
            refused(ada.try_room(&left).await, Code::NotFound, "ROOM_NOT_FOUND");
        }
        if step == "quick start" {
            ada.resign(&format!("{now}-1")).await.unwrap();
        }
        left = now;
    }
    assert_eq!(left, waiting, "the last request was matched with Bea's");
}

#[tokio::test]
async fn the_others_keep_the_room_that_a_player_leaves() {
    let server = TestServer::open().await;
    let SeatedRoom { black, white, room, game } = server.two_player_game(v1::RoomSettings::default()).await;
    black.resign(&game).await.unwrap();
    quick_start(&black).await.unwrap();
    let left = white.room(&room).await;
    assert_eq!((left.owner_id, left.members.len()), (white.id.clone(), 1));
    assert_eq!(left.seats[0].occupant, Some(occupant("open")));
    assert_eq!(seats(&white).await, [room]);
}

#[tokio::test]
async fn a_running_game_is_not_left_and_the_refusal_names_its_room() {
    let server = TestServer::open().await;
    let series = v1::RoomSettings { games: 2, ..named("series") };
    let SeatedRoom { black, room, game, .. } = server.two_player_game(series).await;
    let lobby = server.human("Eve").await.create(v1::RoomSettings::default()).await.room_id;
    black.join(&lobby).await.unwrap();
    // In the first game of the series, and between it and the second.
    for between in [false, true] {
        if between {
            black.resign(&game).await.unwrap();
            assert!(black.room(&room).await.series.unwrap().next_game_at.is_some());
        }
        let create = new_room([occupant("me"), occupant("random")]);
        let refusals = [
            refused(quick_start(&black).await, EXHAUSTED, "QUOTA_SEATS"),
            refused(black.quick_start_with_anyone().await, EXHAUSTED, "QUOTA_SEATS"),
            refused(black.try_create(create).await, EXHAUSTED, "QUOTA_SEATS"),
            refused(black.sit(&lobby, 0).await, EXHAUSTED, "QUOTA_SEATS"),
        ];
        for details in refusals {
            assert_eq!(details.error_info().unwrap().metadata.get("room_id"), Some(&room));
        }
        assert_eq!(seats(&black).await, std::slice::from_ref(&room));
    }
}

#[tokio::test]
async fn no_seat_is_given_up_for_a_request_that_is_refused() {
    let server = TestServer::limited(|limits| limits.rooms_per_player = 2).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let held = finished(&ada).await;
    let invalid = Code::InvalidArgument;
    refused(ada.quick_start_with_ai("nobody", v1::SidePreference::Black).await, invalid, "BAD_ARGUMENT");
    refused(ada.try_create(new_room([occupant("me"), occupant("nobody")])).await, invalid, "BAD_ARGUMENT");
    let taken = playing(&bea).await;
    refused(ada.sit(&taken, 0).await, Code::PermissionDenied, "NOT_MEMBER");
    ada.join(&taken).await.unwrap();
    refused(ada.sit(&taken, 0).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    bea.resign(&format!("{taken}-1")).await.unwrap();
    refused(ada.sit(&taken, 1).await, Code::FailedPrecondition, "SEAT_TAKEN");
    refused(quick_start(&ada).await, EXHAUSTED, "QUOTA_ROOMS");
    assert_eq!(seats(&ada).await, [held]);
}

#[tokio::test]
async fn a_bot_leaves_as_few_rooms_as_needed_and_the_oldest_game_first() {
    let server = TestServer::open().await;
    let bot = server.log_in("Bot", v1::PlayerKind::Bot, 4).await;
    // The first room has waited for longest, the second has a running game, the games of the others are over.
    let waits = bot.create_with(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
    let plays = playing(&bot).await;
    let (late, early) = (playing(&bot).await, finished(&bot).await);
    bot.resign(&format!("{late}-1")).await.unwrap();
    let mut held = vec![waits.clone(), plays.clone(), late.clone(), early.clone()];
    for left in [&early, &late, &waits] {
        let room = playing(&bot).await;
        held.retain(|room| room != left);
        held.push(room);
        held.sort();
        assert_eq!(seats(&bot).await, held);
    }
    refused(quick_start(&bot).await, EXHAUSTED, "QUOTA_SEATS");
    assert_eq!(seats(&bot).await, held);
}

#[tokio::test]
async fn concurrent_requests_get_no_seat_above_the_limit() {
    let server = TestServer::open().await;
    // With a seat to give up, and with a free one.
    for (name, has_finished) in [("Ada", true), ("Bea", false)] {
        let player = server.human(name).await;
        if has_finished {
            finished(&player).await;
        }
        let create = || player.try_create(new_room([occupant("me"), occupant("open")]));
        let outcomes = tokio::join!(create(), quick_start(&player), create(), create());
        assert!(outcomes.0.is_ok() || outcomes.1.is_ok() || outcomes.2.is_ok() || outcomes.3.is_ok());
        let me = player.me().await;
        assert_eq!((me.seats.len(), me.room_ids.len()), (1, 1), "{name}");
    }
}

#[tokio::test]
async fn a_repeated_request_gives_up_no_further_seat() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    finished(&ada).await;
    let once = || v1::CreateRoomRequest { request_id: "once".into(), ..new_room([occupant("me"), occupant("random")]) };
    let (first, second) = tokio::join!(ada.try_create(once()), ada.try_create(once()));
    let room = first.unwrap().room_id;
    assert_eq!((second.unwrap().room_id, seats(&ada).await), (room.clone(), vec![room.clone()]));
    assert_eq!(ada.try_create(once()).await.unwrap().room_id, room);
    let next = finished(&ada).await;
    // The first room has closed, and its request is not run again.
    refused(ada.try_create(once()).await, Code::NotFound, "ROOM_NOT_FOUND");
    assert_eq!(seats(&ada).await, [next]);
}
