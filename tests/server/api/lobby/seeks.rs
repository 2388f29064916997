//! Players who look for a game with terms: a clock, rated or not, and opponents of some kinds and ratings.

use reversi::proto::v1::{self, room_event};
use tonic::Code;

use crate::harness::in_process::{Answer, Player, TestServer, field, millis, named, refused};

async fn seek(player: &Player, settings: v1::RoomSettings) -> Answer<v1::Room> {
    let opponent = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default()));
    let request = v1::QuickStartRequest { opponent, settings: Some(settings), ..Default::default() };
    Ok(player.lobby().quick_start(request).await?.into_inner().room.unwrap())
}

/// A minute for all moves, rated, for opponents of these kinds and ratings.
fn rated(kinds: &[v1::PlayerKind], [min_rating, max_rating]: [i32; 2]) -> v1::RoomSettings {
    let kinds = kinds.iter().map(|kind| (*kind).into()).collect();
    let opponents = Some(v1::Opponents { kinds, min_rating, max_rating });
    v1::RoomSettings { total_time: millis(60_000), rated: true, opponents, ..Default::default() }
}

const ALL: [i32; 2] = [0, 0];

#[tokio::test]
async fn players_meet_who_want_the_same_game_and_accept_each_other() {
    use v1::PlayerKind::{Bot, Human};

    let server = TestServer::limited(|limits| limits.seats_per_bot = 8).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let (bot, other) = (server.bot("Bot").await, server.log_in("Other", Bot, 8).await);
    let waits = seek(&ada, rated(&[Human], ALL)).await.unwrap();
    assert_eq!(seek(&ada, rated(&[Human], ALL)).await.unwrap().room_id, waits.room_id, "waits on");
    let for_bots = seek(&bot, rated(&[Bot], ALL)).await.unwrap();
    let strong = seek(&other, rated(&[], [1_501, 0])).await.unwrap();
    let unrated = seek(&other, v1::RoomSettings { rated: false, ..rated(&[], ALL) }).await.unwrap();
    let without_clock = seek(&other, v1::RoomSettings { rated: true, ..Default::default() }).await.unwrap();
    let rooms = [&waits, &for_bots, &strong, &unrated, &without_clock].map(|room| room.room_id.clone());
    assert_eq!(std::collections::BTreeSet::from(rooms).len(), 5, "each waits in a room of its own");

    // The oldest that accepts her would be that of another kind, clock or rating.
    let met = seek(&bea, rated(&[], [1_500, 1_500])).await.unwrap();
    assert_eq!((met.room_id.clone(), met.phase()), (waits.room_id, v1::RoomPhase::Playing));
    let settings = met.settings.unwrap();
    assert!(settings.rated && settings.total_time == millis(60_000) && settings.move_limit == millis(0));
    let met = seek(&other, rated(&[Bot], ALL)).await.unwrap();
    assert_eq!((met.room_id.clone(), met.phase()), (for_bots.room_id, v1::RoomPhase::Playing));
}

#[tokio::test]
async fn an_ai_of_about_the_same_rating_plays_a_player_who_waits_in_vain() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let seek = async |seconds| {
        let house_after = Some(prost_types::Duration { seconds, nanos: 0 });
        let opponent = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone { house_after }));
        let (settings, request_id) = (Some(rated(&[], ALL)), format!("after {seconds}"));
        let request = v1::QuickStartRequest { opponent, settings, request_id, ..Default::default() };
        Ok(ada.lobby().quick_start(request).await?.into_inner().room.unwrap())
    };
    let waits = seek(7_200).await.unwrap();
    assert_eq!(seek(3_600).await.unwrap().phase(), v1::RoomPhase::Lobby, "it has not waited for an hour");
    for repeat in [false, true] {
        let found = seek(0).await.unwrap();
        assert_eq!((&found.room_id, found.phase()), (&waits.room_id, v1::RoomPhase::Playing), "repeat: {repeat}");
    }
    let found = seek(0).await.unwrap();
    let is_ai = |seat: &v1::Seat| matches!(&seat.occupant, Some(v1::seat::Occupant::Ai(ai)) if (ai.kind.as_str(), ai.level) == ("expert", 3));
    assert!(found.seats.iter().any(is_ai), "{:?}", found.seats);
    assert_eq!(field(&refused(seek(-1).await, Code::InvalidArgument, "BAD_ARGUMENT")), "anyone.house_after");
}

#[tokio::test]
async fn a_seek_is_listed_and_taken_by_those_whom_it_accepts_only() {
    use v1::PlayerKind::Human;

    let server = TestServer::open().await;
    let (ada, bea, bot) = (server.human("Ada").await, server.human("Bea").await, server.bot("Bot").await);
    for (opponents, accepted) in [(rated(&[Human], ALL), true), (rated(&[Human], [0, 1_499]), false)] {
        let room = seek(&ada, opponents.clone()).await.unwrap().room_id;
        let listed = ada.list_rooms().await.into_iter().find(|listed| listed.room_id == room).unwrap();
        assert_eq!((listed.opponents, listed.rated), (opponents.opponents, true));
        let free = i32::from(listed.seats[0].occupant != Some(v1::seat::Occupant::Open(v1::OpenSeat {})));
        for (player, is_welcome) in [(&bot, false), (&bea, accepted)] {
            player.join(&room).await.unwrap();
            let sat = player.sit(&room, free).await;
            if is_welcome {
                sat.unwrap();
                player.ready(&room).await.unwrap();
                assert_eq!(player.room(&room).await.phase(), v1::RoomPhase::Playing);
            } else {
                refused(sat, Code::FailedPrecondition, "NOT_ACCEPTED");
            }
        }
        ada.close(&room).await.unwrap_or_default();
        ada.leave(&room).await.unwrap_or_default();
        bea.leave(&room).await.unwrap_or_default();
    }
}

#[tokio::test]
async fn a_player_who_was_away_meets_one_who_has_waited_since() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.bot("Ada").await, server.bot("Bea").await);
    let turns = ada.turns().await;
    let first = ada.quick_start_with_anyone().await.unwrap().room_id;
    let mut watched = bea.watch(&first).await;
    watched.snapshot().await;
    drop(turns);
    watched.until(|event| matches!(event, room_event::Event::PresenceChanged(_)).then_some(())).await;
    let second = bea.quick_start_with_anyone().await.unwrap();
    assert_ne!(second.room_id, first);
    let _turns = ada.turns().await;
    let met = ada.quick_start_with_anyone().await.unwrap();
    assert_eq!((met.room_id.clone(), met.phase()), (second.room_id, v1::RoomPhase::Playing));
}

#[tokio::test]
async fn the_owner_and_a_reserved_player_need_not_be_accepted() {
    let server = TestServer::open().await;
    let (ada, bot) = (server.human("Ada").await, server.bot("Bot").await);
    let for_strong_bots = v1::RoomSettings { rated: false, ..rated(&[v1::PlayerKind::Bot], [2_000, 0]) };
    let room = ada.create(for_strong_bots).await.room_id;
    ada.sit(&room, 0).await.unwrap();
    ada.sit(&room, 1).await.unwrap();
    bot.join(&room).await.unwrap();
    refused(bot.sit(&room, 0).await, Code::FailedPrecondition, "NOT_ACCEPTED");
    let id = bot.me().await.player.unwrap().player_id;
    ada.set_seat(&room, 0, v1::set_seat_request::Occupant::ReservedFor(id)).await.unwrap();
    bot.sit(&room, 0).await.unwrap();
}

#[tokio::test]
async fn a_player_waits_in_four_rooms_at_most() {
    let server = TestServer::limited(|limits| limits.seats_per_bot = 8).await;
    let bot = server.log_in("Bot", v1::PlayerKind::Bot, 8).await;
    let with_clock = |seconds: u64| v1::RoomSettings { total_time: millis(1_000 * seconds), ..Default::default() };
    for seconds in [60, 120, 180, 240, 240] {
        seek(&bot, with_clock(seconds)).await.unwrap();
    }
    refused(seek(&bot, with_clock(300)).await, Code::ResourceExhausted, "QUOTA_ROOMS");
    assert_eq!(bot.info().await.rooms, 4);
}

#[tokio::test]
async fn a_range_of_ratings_shows_no_private_room() {
    let server = TestServer::open().await;
    let (ada, eve) = (server.human("Ada").await, server.human("Eve").await);
    let private = v1::Visibility::Private.into();
    let room = ada.create(v1::RoomSettings { visibility: private, ..rated(&[], [2_000, 0]) }).await.room_id;
    refused(eve.sit(&room, 0).await, Code::NotFound, "ROOM_NOT_FOUND");
}

#[tokio::test]
async fn opponents_that_cannot_be_are_refused() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let wrong = [
        (rated(&[], [1_700, 1_400]), "settings.opponents.max_rating"),
        (rated(&[], [-1, 0]), "settings.opponents.min_rating"),
        (rated(&[v1::PlayerKind::Unspecified], ALL), "settings.opponents.kinds"),
        (v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..named("private") }, "settings.visibility"),
    ];
    for (settings, expected) in wrong {
        assert_eq!(field(&refused(seek(&ada, settings).await, Code::InvalidArgument, "BAD_SETTINGS")), expected);
    }
    assert_eq!(ada.info().await.rooms, 0);
}
