//! Rooms: members, seats, owners, and permissions.

use reversi::proto::v1::{self, join_room_request::Room as By, set_seat_request::Occupant};
use tonic::{Code, Status};

use crate::harness::in_process::{Player, TestServer, check, field, named, private, refusal, refused};

fn ai(kind: &str) -> Occupant {
    Occupant::Ai(v1::AiSeat { kind: kind.into(), ..Default::default() })
}

fn millis(millis: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds: 0, nanos: i32::try_from(millis).unwrap() * 1_000_000 })
}

async fn swap(player: &Player, room: &str) -> Result<u64, Status> {
    let request = v1::SwapSeatsRequest { room_id: room.into() };
    Ok(player.rooms().swap_seats(request).await?.into_inner().seq)
}

async fn transfer(player: &Player, room: &str, to: &str) -> Result<u64, Status> {
    let request = v1::TransferOwnershipRequest { room_id: room.into(), player_id: to.into() };
    Ok(player.rooms().transfer_ownership(request).await?.into_inner().seq)
}

async fn leave_seat(player: &Player, room: &str) -> Result<u64, Status> {
    let request = v1::LeaveSeatRequest { room_id: room.into() };
    Ok(player.rooms().leave_seat(request).await?.into_inner().seq)
}

#[tokio::test]
async fn only_the_owner_may_act_as_the_owner() {
    let server = TestServer::open().await;
    let (owner, member, outsider) =
        (server.human("Owner").await, server.human("Member").await, server.human("Outsider").await);
    let room = owner.create(named("hers")).await.room_id;
    member.join(&room).await.unwrap();
    let before = owner.room(&room).await.seq;
    // The owner is known by the token, whatever the client displays.
    for player in [&member, &outsider] {
        let cases = [
            ("swap", refusal(swap(player, &room).await)),
            ("seat", refusal(player.set_seat(&room, 0, ai("random")).await)),
            ("reserve", refusal(player.set_seat(&room, 0, Occupant::ReservedFor(player.id.clone())).await)),
            ("kick", refusal(player.kick(&room, &owner.id, false).await)),
            ("ban", refusal(player.kick(&room, &owner.id, true).await)),
            ("transfer", refusal(transfer(player, &room, &player.id).await)),
            ("settings", refusal(player.update_settings(&room, "name", named("mine")).await)),
            ("start", refusal(player.start(&room).await)),
            ("close", refusal(player.close(&room).await)),
        ];
        for (what, status) in cases {
            check(what, &status, Code::PermissionDenied, "NOT_OWNER");
        }
    }
    assert_eq!(owner.room(&room).await.seq, before);
}

#[tokio::test]
async fn a_non_member_may_neither_take_a_seat_nor_chat() {
    let server = TestServer::open().await;
    let (owner, outsider) = (server.human("Owner").await, server.human("Outsider").await);
    let room = owner.create(named("hers")).await.room_id;
    refused(outsider.sit(&room, 0).await, Code::PermissionDenied, "NOT_MEMBER");
    refused(outsider.chat(&room, "hi").await, Code::PermissionDenied, "NOT_MEMBER");
    refused(outsider.ready(&room).await, Code::PermissionDenied, "NOT_MEMBER");
    refused(owner.ready(&room).await, Code::PermissionDenied, "NOT_SEATED");
}

#[tokio::test]
async fn seats_are_taken_swapped_and_given_to_ais() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let room = owner.create(named("seats")).await.room_id;
    guest.join(&room).await.unwrap();
    owner.sit(&room, 0).await.unwrap();
    // No player is replaced in a seat.
    refused(guest.sit(&room, 0).await, Code::FailedPrecondition, "SEAT_TAKEN");
    guest.sit(&room, 1).await.unwrap();
    refused(owner.set_seat(&room, 1, ai("random")).await, Code::FailedPrecondition, "SEAT_TAKEN");
    refused(owner.start(&room).await, Code::FailedPrecondition, "SEATS_NOT_READY");
    swap(&owner, &room).await.unwrap();
    let seats = guest.room(&room).await.seats;
    assert!(matches!(&seats[0].occupant, Some(v1::seat::Occupant::Player(player)) if player.player_id == guest.id));
    leave_seat(&guest, &room).await.unwrap();
    owner.set_seat(&room, 0, ai("random")).await.unwrap();
    let seats = guest.room(&room).await.seats;
    assert!(matches!(&seats[0].occupant, Some(v1::seat::Occupant::Ai(ai)) if ai.kind == "random") && seats[0].ready);
    refused(guest.sit(&room, 0).await, Code::FailedPrecondition, "SEAT_TAKEN");
    owner.start(&room).await.unwrap();
    // Not while a game runs.
    refused(leave_seat(&owner, &room).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    refused(swap(&owner, &room).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    // A refused start does not affect the running game.
    let game = owner.room(&room).await.game.unwrap().game_id;
    refused(owner.start(&room).await, Code::FailedPrecondition, "ROOM_IN_GAME");
    assert_eq!(owner.room(&room).await.game.unwrap().game_id, game);
}

#[tokio::test]
async fn unknown_seats_and_ais_are_refused() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let room = owner.create(named("seats")).await.room_id;
    for seat in [-1, 2, i32::MAX] {
        assert_eq!(field(&refused(owner.sit(&room, seat).await, Code::InvalidArgument, "BAD_ARGUMENT")), "seat");
        refused(owner.set_seat(&room, seat, ai("random")).await, Code::InvalidArgument, "BAD_ARGUMENT");
    }
    for (kind, level) in [("", 0), ("nobody", 0), ("random", 99), ("random", -1), ("Random\u{0}", 1)] {
        let wish = Occupant::Ai(v1::AiSeat { kind: kind.into(), level, seed: 0 });
        let details = refused(owner.set_seat(&room, 0, wish).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert!(field(&details).starts_with("ai"), "{kind:?} {level}: {}", field(&details));
    }
    let mut unknown_player = owner.id.clone();
    unknown_player.replace_range(..1, if unknown_player.starts_with('0') { "1" } else { "0" });
    let unknown_player = Occupant::ReservedFor(unknown_player);
    refused(owner.set_seat(&room, 0, unknown_player).await, Code::NotFound, "PLAYER_NOT_FOUND");
    let nothing = v1::SetSeatRequest { room_id: room, seat: 0, occupant: None };
    refused(owner.rooms().set_seat(nothing).await, Code::InvalidArgument, "BAD_ARGUMENT");
}

#[tokio::test]
async fn unknown_rooms_are_not_found() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    for room in ["", "nonsense", "000000000000", "../../etc", &"x".repeat(1_000)] {
        let cases = [
            ("get", refusal(ada.try_room(room).await)),
            ("join", refusal(ada.join(room).await)),
            ("watch", ada.try_watch(room, None).await.err().unwrap()),
            ("sit", refusal(ada.sit(room, 0).await)),
            ("leave", refusal(ada.leave(room).await)),
            ("chat", refusal(ada.chat(room, "hi").await)),
            ("start", refusal(ada.start(room).await)),
            ("settings", refusal(ada.update_settings(room, "name", named("x")).await)),
            ("code", refusal(ada.join_by(By::JoinCode(room.into()), "").await)),
        ];
        for (what, status) in cases {
            check(what, &status, Code::NotFound, "ROOM_NOT_FOUND");
        }
    }
    let neither = v1::JoinRoomRequest::default();
    refused(ada.rooms().join_room(neither).await, Code::NotFound, "ROOM_NOT_FOUND");
}

#[tokio::test]
async fn a_kicked_member_may_return_and_a_banned_one_may_not() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let room = owner.create(named("hers")).await.room_id;
    guest.join(&room).await.unwrap();
    owner.kick(&room, &guest.id, false).await.unwrap();
    refused(owner.kick(&room, &guest.id, false).await, Code::NotFound, "PLAYER_NOT_FOUND");
    refused(owner.kick(&room, "nobody", false).await, Code::NotFound, "PLAYER_NOT_FOUND");
    guest.join(&room).await.unwrap();
    owner.kick(&room, &guest.id, true).await.unwrap();
    assert!(guest.me().await.room_ids.is_empty());
    refused(guest.join(&room).await, Code::PermissionDenied, "BANNED");
    refused(guest.try_room(&room).await, Code::PermissionDenied, "BANNED");
    let watch = guest.try_watch(&room, None).await.err().unwrap();
    check("watch", &watch, Code::PermissionDenied, "BANNED");
    refused(owner.set_seat(&room, 0, Occupant::ReservedFor(guest.id.clone())).await, Code::PermissionDenied, "BANNED");
}

#[tokio::test]
async fn ownership_passes_on_and_the_room_closes_when_empty() {
    let server = TestServer::open().await;
    let (owner, heir) = (server.human("Owner").await, server.human("Heir").await);
    let room = owner.create(named("hers")).await.room_id;
    heir.join(&room).await.unwrap();
    transfer(&owner, &room, &heir.id).await.unwrap();
    refused(owner.close(&room).await, Code::PermissionDenied, "NOT_OWNER");
    transfer(&heir, &room, &owner.id).await.unwrap();
    // Another member becomes the owner, and the empty room closes.
    owner.leave(&room).await.unwrap();
    assert_eq!(heir.room(&room).await.owner_id, heir.id);
    heir.leave(&room).await.unwrap();
    refused(heir.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
    assert_eq!((heir.info().await.rooms, heir.list_rooms().await.len()), (0, 0));
}

#[tokio::test]
async fn the_owner_may_end_a_game_of_ais() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let settings = v1::RoomSettings { ai_pause: crate::harness::in_process::millis(10_000), ..named("machines") };
    let room = owner.create_with(settings, ["random", "random"]).await.room_id;
    let game = owner.start(&room).await.unwrap().game_id;
    // No human is seated, so the owner may end the game.
    owner.abort(&game).await.unwrap();
    owner.start(&room).await.unwrap();
    owner.close(&room).await.unwrap();
    refused(owner.try_room(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
    assert_eq!(owner.info().await.games, 0, "B8: no AI computes any more");
}

#[tokio::test]
async fn a_private_room_is_found_only_by_its_code() {
    let server = TestServer::open().await;
    let (owner, friend, outsider) =
        (server.human("Owner").await, server.human("Friend").await, server.human("Outsider").await);
    let made = owner.create(private()).await;
    let (room, code) = (made.room_id.as_str(), made.join_code.clone());
    assert!(outsider.list_rooms().await.is_empty());
    let cases = [
        ("get", refusal(outsider.try_room(room).await)),
        ("join", refusal(outsider.join(room).await)),
        ("watch", outsider.try_watch(room, None).await.err().unwrap()),
        ("sit", refusal(outsider.sit(room, 0).await)),
        ("chat", refusal(outsider.chat(room, "hi").await)),
        ("kick", refusal(outsider.kick(room, &owner.id, false).await)),
        ("start", refusal(outsider.start(room).await)),
        ("close", refusal(outsider.close(room).await)),
        ("leave", refusal(outsider.leave(room).await)),
    ];
    for (what, status) in cases {
        check(what, &status, Code::NotFound, "ROOM_NOT_FOUND");
    }
    let move_there = outsider.play(&format!("{room}-1"), 0, "d3").await;
    refused(move_there, Code::NotFound, "GAME_NOT_FOUND");
    let by_code = v1::WatchRoomRequest { room_id: room.into(), join_code: code.clone(), ..Default::default() };
    friend.rooms().watch_room(by_code).await.unwrap();
    assert_eq!(friend.join_by(By::JoinCode(code), "").await.unwrap().room_id, room);
    assert_eq!(friend.me().await.room_ids, [room]);
}

#[tokio::test]
async fn a_reserved_seat_invites_its_player() {
    let server = TestServer::open().await;
    let (owner, guest, other) = (server.human("Owner").await, server.human("Guest").await, server.human("Other").await);
    let made = owner.create(private()).await;
    owner.set_seat(&made.room_id, 1, Occupant::ReservedFor(guest.id.clone())).await.unwrap();
    let invited = guest
        .turns()
        .await
        .until(|event| match event {
            v1::play_event::Event::Invited(invited) => Some(invited),
            _ => None,
        })
        .await;
    assert_eq!((&invited.room_id, invited.seat, &invited.join_code), (&made.room_id, 1, &made.join_code));
    assert_eq!(invited.by.unwrap().player_id, owner.id);
    other.join_by(By::JoinCode(made.join_code), "").await.unwrap();
    refused(other.sit(&made.room_id, 1).await, Code::FailedPrecondition, "SEAT_TAKEN");
    guest.join(&made.room_id).await.unwrap();
    guest.sit(&made.room_id, 1).await.unwrap();
}

#[tokio::test]
async fn a_withdrawn_invitation_ends_the_streams_of_its_player() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let locked = v1::CreateRoomRequest { password: "sesame".into(), ..Default::default() };
    for made in [owner.create(private()).await, owner.try_create(locked).await.unwrap()] {
        let room = made.room_id;
        owner.set_seat(&room, 1, Occupant::ReservedFor(guest.id.clone())).await.unwrap();
        let (mut inside, mut outside) = (owner.watch(&room).await, guest.watch(&room).await);
        inside.snapshot().await;
        let seq = owner.set_seat(&room, 1, Occupant::Open(v1::OpenSeat {})).await.unwrap();
        assert_eq!(outside.close_reason().await, v1::CloseReason::Kicked);
        assert_eq!(inside.event().await.seq, seq, "a member keeps watching");
    }
}

#[tokio::test]
async fn the_rate_of_chat_is_limited() {
    let server = TestServer::limited(|limits| limits.chat_burst = 3).await;
    let owner = server.human("Owner").await;
    let room = owner.create(v1::RoomSettings::default()).await.room_id;
    let mut said = 0;
    let refusal = loop {
        match owner.chat(&room, "hm").await {
            Ok(_) => said += 1,
            Err(refusal) => break refusal,
        }
        assert!(said < 1_000, "chat is limited");
    };
    check("chat", &refusal, Code::ResourceExhausted, "RATE");
    assert!(said >= 3);
    owner.sit(&room, 0).await.unwrap();
}

#[tokio::test]
async fn a_password_is_required() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let request = v1::CreateRoomRequest { password: "sesame".into(), ..Default::default() };
    let made = owner.try_create(request).await.unwrap();
    assert!(made.has_password && owner.list_rooms().await[0].has_password);
    refused(guest.join(&made.room_id).await, Code::PermissionDenied, "BAD_PASSWORD");
    refused(guest.try_room(&made.room_id).await, Code::PermissionDenied, "BAD_PASSWORD");
    let by = || By::RoomId(made.room_id.clone());
    refused(guest.join_by(by(), "Sesame").await, Code::PermissionDenied, "BAD_PASSWORD");
    let long = refused(guest.join_by(by(), &"x".repeat(65)).await, Code::InvalidArgument, "BAD_ARGUMENT");
    assert_eq!(field(&long), "password");
    guest.join_by(by(), "sesame").await.unwrap();
    guest.room(&made.room_id).await;
}

#[tokio::test]
async fn full_rooms_and_long_chat_lines_are_refused() {
    let server = TestServer::limited(|limits| limits.members_per_room = 1).await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let room = owner.create(named("small")).await.room_id;
    refused(guest.join(&room).await, Code::FailedPrecondition, "ROOM_FULL");
    for text in ["", &"x".repeat(301), "a\u{7}"] {
        assert_eq!(field(&refused(owner.chat(&room, text).await, Code::InvalidArgument, "BAD_ARGUMENT")), "text");
    }
    owner.chat(&room, "hello").await.unwrap();
    assert_eq!(guest.room(&room).await.chat[0].text, "hello");
}

#[tokio::test]
async fn settings_are_changed_by_a_mask() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let room = owner.create(v1::RoomSettings { games: 3, ..named("first") }).await.room_id;
    owner.update_settings(&room, "name", v1::RoomSettings { games: 9, ..named("second") }).await.unwrap();
    let settings = owner.room(&room).await.settings.unwrap();
    assert_eq!((settings.name.as_str(), settings.games), ("second", 3));
    let unknown =
        refused(owner.update_settings(&room, "nmae", named("x")).await, Code::InvalidArgument, "BAD_SETTINGS");
    assert_eq!(field(&unknown), "update_mask.paths[0]");
    let many = v1::RoomSettings { games: 1_001, ..Default::default() };
    let bad = refused(owner.update_settings(&room, "games", many).await, Code::InvalidArgument, "BAD_SETTINGS");
    assert_eq!(field(&bad), "settings.games");
}

#[tokio::test]
async fn a_rated_room_takes_no_opening_of_its_owners_choice() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let moves = Some(v1::Opening { opening: Some(v1::opening::Opening::Moves("f5d6c3".into())) });
    let rated = v1::RoomSettings { rated: true, ..named("cup") };
    let given = v1::RoomSettings { opening: moves.clone(), ..named("study") };
    let both = v1::RoomSettings { opening: moves, ..rated.clone() };
    let request = v1::CreateRoomRequest { settings: Some(both.clone()), ..Default::default() };
    let created = refused(owner.try_create(request).await, Code::InvalidArgument, "BAD_SETTINGS");
    assert_eq!(field(&created), "settings.opening.moves");
    for (first, path) in [(rated, "opening"), (given, "rated")] {
        let room = owner.create(first.clone()).await.room_id;
        let changed = owner.update_settings(&room, path, both.clone()).await;
        assert_eq!(field(&refused(changed, Code::InvalidArgument, "BAD_SETTINGS")), "settings.opening.moves");
        let settings = owner.room(&room).await.settings.unwrap();
        assert_eq!((settings.rated, settings.name), (first.rated, first.name));
    }
}

#[tokio::test]
async fn watchers_see_that_a_change_of_terms_clears_readiness() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let room = owner.create(named("first")).await.room_id;
    owner.sit(&room, 0).await.unwrap();
    guest.join(&room).await.unwrap();
    guest.sit(&room, 1).await.unwrap();
    let change = |limit| v1::RoomSettings { move_limit: millis(limit), ..Default::default() };
    for snapshots_only in [false, true] {
        guest.ready(&room).await.unwrap();
        let request = v1::WatchRoomRequest { room_id: room.clone(), snapshots_only, ..Default::default() };
        let mut watcher = guest.watch_with(request).await.unwrap();
        assert!(watcher.snapshot().await.seats[1].ready);
        owner.update_settings(&room, "move_limit", change(if snapshots_only { 200 } else { 100 })).await.unwrap();
        let seats =
            if snapshots_only { watcher.snapshot().await.seats } else { watcher.event().await.state.unwrap().seats };
        assert!(!seats[1].ready);
        refused(owner.start(&room).await, Code::FailedPrecondition, "SEATS_NOT_READY");
    }
}

#[tokio::test]
async fn a_room_of_two_ais_starts_by_itself_if_its_settings_say_so() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let settings = v1::RoomSettings { auto_start: true, games: 1_000, ..named("machines") };
    let room = owner.create_with(settings, ["random", "random"]).await;
    assert_eq!((room.phase(), room.game.unwrap().number), (v1::RoomPhase::Playing, 1));
    let waits = owner.create_with(v1::RoomSettings { auto_start: true, ..named("open") }, ["random", "open"]).await;
    assert_eq!(waits.phase(), v1::RoomPhase::Lobby);
}

#[tokio::test]
async fn an_update_without_a_mask_changes_only_what_it_sets() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let first = v1::RoomSettings { games: 3, rated: true, auto_start: true, ..named("first") };
    let room = owner.create(first).await.room_id;
    let before = owner.room(&room).await.settings.unwrap();
    let request =
        |settings| v1::UpdateSettingsRequest { room_id: room.clone(), settings: Some(settings), ..Default::default() };
    owner.rooms().update_settings(request(named("second"))).await.unwrap();
    owner.rooms().update_settings(request(v1::RoomSettings::default())).await.unwrap();
    let after = owner.room(&room).await.settings.unwrap();
    assert_eq!(after, v1::RoomSettings { name: "second".into(), ..before });
}

#[tokio::test]
async fn concurrent_updates_of_different_settings_all_count() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let room = owner.create(named("first")).await.room_id;
    for round in 1..=10 {
        let games = v1::RoomSettings { games: round + 1, ..Default::default() };
        let pause = v1::RoomSettings { ai_pause: millis(round.into()), ..Default::default() };
        let name = named(&format!("round {round}"));
        let updates = (
            owner.update_settings(&room, "games", games),
            owner.update_settings(&room, "ai_pause", pause),
            owner.update_settings(&room, "name", name.clone()),
        );
        let (games, pause, renamed) = tokio::join!(updates.0, updates.1, updates.2);
        assert!(games.is_ok() && pause.is_ok() && renamed.is_ok());
        let settings = owner.room(&room).await.settings.unwrap();
        assert_eq!((settings.games, settings.ai_pause, settings.name), (round + 1, millis(round.into()), name.name));
    }
}

#[tokio::test]
async fn wrong_passwords_and_codes_are_limited() {
    let server = TestServer::limited(|limits| limits.wrong_guesses_per_minute = 3).await;
    let (owner, thief, guest) = (server.human("Ada").await, server.human("Eve").await, server.human("Gus").await);
    let request = v1::CreateRoomRequest { password: "sesame".into(), ..Default::default() };
    let made = owner.try_create(request).await.unwrap();
    let by_id = || v1::join_room_request::Room::RoomId(made.room_id.clone());
    let by_code = |code: &str| v1::join_room_request::Room::JoinCode(code.into());
    refused(thief.join_by(by_id(), "open").await, Code::PermissionDenied, "BAD_PASSWORD");
    refused(thief.join_by(by_code("aaaaaaaa"), "").await, Code::NotFound, "ROOM_NOT_FOUND");
    let watch = v1::WatchRoomRequest { room_id: made.room_id.clone(), password: "up".into(), ..Default::default() };
    refused(thief.rooms().watch_room(watch).await, Code::PermissionDenied, "BAD_PASSWORD");
    // Now even the right code is refused.
    refused(thief.join_by(by_id(), "sesame").await, Code::ResourceExhausted, "RATE");
    refused(thief.join_by(by_code(&made.join_code), "sesame").await, Code::ResourceExhausted, "RATE");
    refused(thief.join(&made.room_id).await, Code::PermissionDenied, "BAD_PASSWORD");
    for _ in 0..5 {
        guest.join_by(by_code(&made.join_code), "sesame").await.unwrap();
        guest.leave(&made.room_id).await.unwrap();
    }
}
