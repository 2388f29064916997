//! Invitations: seats that are kept for a player for some time.

use reversi::proto::v1::{self, play_event::Event, seat_invitation::Player as Guest, set_seat_request::Occupant};
use tonic::Code;

use crate::harness::in_process::{
    Player, SeatedRoom, TestServer, Turns, check, field, named, private, refusal, refused,
};

/// An invitation that stays open until the end of the test.
fn invitation(guest: Guest) -> v1::SeatInvitation {
    v1::SeatInvitation { player: Some(guest), lasts: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }) }
}

fn by_name(name: &str) -> v1::SeatInvitation {
    invitation(Guest::DisplayName(name.into()))
}

async fn invited(turns: &mut Turns) -> v1::PlayerInvited {
    let wanted = |event| if let Event::Invited(invited) = event { Some(invited) } else { None };
    turns.until(wanted).await
}

async fn ended(turns: &mut Turns) -> v1::PlayerInvitationEnded {
    let wanted = |event| if let Event::InvitationEnded(ended) = event { Some(ended) } else { None };
    turns.until(wanted).await
}

async fn decline(player: &Player, room: &str, reason: &str) -> Result<u64, tonic::Status> {
    let request = v1::DeclineInvitationRequest { room_id: room.into(), reason: reason.into() };
    Ok(player.rooms().decline_invitation(request).await?.into_inner().seq)
}

/// A private room of which the caller has black, with an invitation to white.
async fn inviting(owner: &Player, invite: v1::SeatInvitation) -> Result<v1::Room, tonic::Status> {
    let me = v1::seat::Occupant::Player(v1::Player::default());
    let seats = [me, v1::seat::Occupant::Invite(invite)];
    let seat = |occupant| v1::Seat { occupant: Some(occupant), ..Default::default() };
    let settings = v1::RoomSettings { rated: true, ..private() };
    let seats = seats.into_iter().map(seat).collect();
    owner.try_create(v1::CreateRoomRequest { settings: Some(settings), seats, ..Default::default() }).await
}

#[tokio::test]
async fn a_guest_who_joins_has_the_seat() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let (mut owners, mut guests) = (owner.turns().await, guest.turns().await);
    let made = inviting(&owner, by_name("gUEST")).await.unwrap();
    let received = invited(&mut guests).await;
    assert_eq!((&received.room_id, received.seat, &received.join_code), (&made.room_id, 1, &made.join_code));
    assert_eq!((received.by.unwrap().player_id, received.by_rating), (owner.id.clone(), 0));
    let until = received.expires_at.unwrap();
    assert_eq!(made.seats[1].reserved_until, Some(until), "the same in the room");
    assert!(received.settings.unwrap().rated);
    let joined = guest.join(&made.room_id).await.unwrap();
    let seat = v1::seat::Occupant::Player(guest.profile.clone());
    assert_eq!((&joined.seats[1].occupant, joined.seats[1].reserved_until), (&Some(seat), None));
    for turns in [&mut owners, &mut guests] {
        let accepted = ended(turns).await;
        assert_eq!((accepted.room_id.as_str(), accepted.seat), (made.room_id.as_str(), 1));
        assert_eq!(
            (accepted.reason(), accepted.player.unwrap()),
            (v1::InvitationEndReason::Accepted, guest.profile.clone())
        );
    }
}

#[tokio::test]
async fn a_guest_without_a_free_seat_only_becomes_a_member() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let owner = server.human("Owner").await;
    let made = inviting(&owner, invitation(Guest::PlayerId(seated.black.id.clone()))).await.unwrap();
    let joined = seated.black.join(&made.room_id).await.unwrap();
    assert_eq!(joined.seats[1].occupant, Some(v1::seat::Occupant::Reserved(seated.black.profile.clone())));
    seated.black.resign(&seated.game).await.unwrap();
    seated.black.join(&made.room_id).await.unwrap();
    let first = seated.white.room(&seated.room).await;
    assert_eq!(first.members.len(), 2, "a call that joins takes the player out of no other room");
    seated.black.sit(&made.room_id, 1).await.unwrap();
    let seats = seated.black.room(&made.room_id).await.seats;
    assert_eq!(seats[1].occupant, Some(v1::seat::Occupant::Player(seated.black.profile.clone())));
}

#[tokio::test]
async fn a_guest_declines_with_a_reason_for_the_inviter() {
    let server = TestServer::open().await;
    let (owner, guest, other) = (server.human("Owner").await, server.human("Guest").await, server.human("Other").await);
    let mut owners = owner.turns().await;
    let made = inviting(&owner, by_name("Guest")).await.unwrap();
    let room = made.room_id;
    refused(decline(&other, &room, "").await, Code::NotFound, "ROOM_NOT_FOUND");
    refused(decline(&owner, &room, "").await, Code::FailedPrecondition, "WRONG_PHASE");
    for reason in ["x".repeat(101), "a\u{202e}b".to_owned()] {
        let bad = refused(decline(&guest, &room, &reason).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&bad), "reason");
    }
    let mut watched = owner.watch(&room).await;
    watched.snapshot().await;
    let seq = decline(&guest, &room, " no time ").await.unwrap();
    let event = watched.event().await;
    assert_eq!(
        (event.seq, event.state.unwrap().seats[1].occupant.clone()),
        (seq, Some(v1::seat::Occupant::Open(v1::OpenSeat {})))
    );
    let Some(v1::room_event::Event::InvitationEnded(seen)) = event.event else { panic!("{:?}", event.event) };
    assert_eq!((seen.expired, seen.reason.as_str(), seen.player), (false, "no time", Some(guest.profile.clone())));
    let told = ended(&mut owners).await;
    assert_eq!((told.reason(), told.message.as_str()), (v1::InvitationEndReason::Declined, "no time"));
    refused(guest.join(&room).await, Code::NotFound, "ROOM_NOT_FOUND");
    // A guest who was away learns only how it ended.
    owner.set_seat(&room, 1, Occupant::Invite(by_name("Guest"))).await.unwrap();
    owner.set_seat(&room, 1, Occupant::Open(v1::OpenSeat {})).await.unwrap();
    let mut missed = guest.turns().await;
    for reason in [v1::InvitationEndReason::Declined, v1::InvitationEndReason::Withdrawn] {
        let Some(Event::InvitationEnded(told)) = missed.next().await else { panic!("another event") };
        assert_eq!(told.reason(), reason);
    }
}

#[tokio::test]
async fn an_invitation_has_a_known_guest_and_a_bounded_time() {
    let server = TestServer::open().await;
    let (owner, gone) = (server.human("Owner").await, server.human("Gone").await);
    let room = owner.create(private()).await.room_id;
    let request = v1::LogOutRequest { give_up_name: true, ..Default::default() };
    gone.sessions().log_out(request).await.unwrap();
    for guest in [Guest::DisplayName("Nobody".into()), Guest::DisplayName("Gone".into()), Guest::PlayerId(gone.id)] {
        let wish = Occupant::Invite(invitation(guest.clone()));
        refused(owner.set_seat(&room, 1, wish).await, Code::NotFound, "PLAYER_NOT_FOUND");
        refused(inviting(&owner, invitation(guest)).await, Code::NotFound, "PLAYER_NOT_FOUND");
    }
    let lasting = |seconds| {
        let lasts = Some(prost_types::Duration { seconds, nanos: 0 });
        v1::SeatInvitation { lasts, ..by_name("Owner") }
    };
    for (wish, wrong, reason) in [
        (lasting(9), "invite.lasts", "BAD_ARGUMENT"),
        (lasting(86_401), "invite.lasts", "BAD_ARGUMENT"),
        (by_name(" "), "invite.display_name", "BAD_NAME"),
        (invitation(Guest::PlayerId("x".into())), "invite.player_id", "BAD_ID"),
        (v1::SeatInvitation::default(), "invite.player", "BAD_ARGUMENT"),
    ] {
        let set = owner.set_seat(&room, 1, Occupant::Invite(wish.clone())).await;
        assert_eq!(field(&refused(set, Code::InvalidArgument, reason)), wrong);
        let created = refused(inviting(&owner, wish).await, Code::InvalidArgument, reason);
        assert_eq!(field(&created), format!("seats[1].{wrong}"));
    }
    assert_eq!(owner.me().await.room_ids, [room], "no other room was created");
}

async fn set_availability(player: &Player, availability: v1::Availability) -> Result<(), tonic::Status> {
    let request = v1::SetAvailabilityRequest { availability: Some(availability) };
    player.lobby().set_availability(request).await.map(drop)
}

/// An invitation is refused by this field, and the message has what is accepted.
fn not_accepted<T>(answer: Result<T, tonic::Status>, wrong: &str, told: &str) {
    let status = refusal(answer);
    let details = check("an invitation", &status, Code::FailedPrecondition, "NOT_ACCEPTED");
    assert_eq!(field(&details), format!("availability.{wrong}"));
    assert!(status.message().contains(told), "{}", status.message());
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

#[tokio::test]
async fn an_invitation_that_the_guest_does_not_accept_is_refused_and_leaves_nothing() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let mut guests = guest.turns().await;
    let own = owner.create(private()).await.room_id;
    let all = v1::Availability::default();
    let (bots, unrated) = (v1::PlayerKind::Bot.into(), v1::RatedPreference::Unrated.into());
    for (accepted, wrong) in [
        (v1::Availability { unavailable: true, ..all.clone() }, "unavailable"),
        (v1::Availability { kinds: vec![bots], ..all.clone() }, "kinds"),
        (v1::Availability { longest_total: seconds(60), ..all.clone() }, "longest_total"),
        (v1::Availability { shortest_move: seconds(61), ..all.clone() }, "shortest_move"),
        (v1::Availability { rated: unrated, ..all.clone() }, "rated"),
        (v1::Availability { shortest_increment: seconds(1), ..all.clone() }, "shortest_increment"),
        (v1::Availability { min_rating: 1_501, ..all.clone() }, "min_rating"),
        (v1::Availability { max_rating: 1_499, ..all.clone() }, "max_rating"),
    ] {
        set_availability(&guest, accepted).await.unwrap();
        let created = refused(inviting(&owner, by_name("Guest")).await, Code::FailedPrecondition, "NOT_ACCEPTED");
        assert_eq!(field(&created), format!("availability.{wrong}"));
        if wrong != "rated" {
            let set = owner.set_seat(&own, 1, Occupant::Invite(by_name("Guest"))).await;
            refused(set, Code::FailedPrecondition, "NOT_ACCEPTED");
        }
    }
    assert_eq!(owner.me().await.room_ids, std::slice::from_ref(&own));
    set_availability(&guest, v1::Availability { rated: unrated, ..all.clone() }).await.unwrap();
    // An unrated game is accepted.
    owner.set_seat(&own, 1, Occupant::Invite(by_name("Guest"))).await.unwrap();
    assert_eq!(invited(&mut guests).await.room_id, own, "the first");
    set_availability(&guest, v1::Availability { unavailable: true, ..all.clone() }).await.unwrap();
    let reserved = owner.set_seat(&own, 1, Occupant::ReservedFor(guest.id.clone())).await;
    refused(reserved, Code::FailedPrecondition, "NOT_ACCEPTED");
    for (bad, wrong) in [
        (v1::Availability { kinds: vec![9], ..all.clone() }, "availability.kinds"),
        (v1::Availability { rated: 9, ..all.clone() }, "availability.rated"),
        (v1::Availability { longest_move: seconds(-1), ..all.clone() }, "availability.longest_move"),
        (
            v1::Availability { shortest_total: seconds(2), longest_total: seconds(1), ..all.clone() },
            "availability.longest_total",
        ),
        (
            v1::Availability { shortest_increment: seconds(2), longest_increment: seconds(1), ..all },
            "availability.longest_increment",
        ),
        (v1::Availability { min_rating: -1, ..Default::default() }, "availability.min_rating"),
        (v1::Availability { max_rating: 65_536, ..Default::default() }, "availability.max_rating"),
        (v1::Availability { min_rating: 1_700, max_rating: 1_400, ..Default::default() }, "availability.max_rating"),
        (v1::Availability { games_at_once: 1_001, ..Default::default() }, "availability.games_at_once"),
        (v1::Availability { opponents_a_day: -1, ..Default::default() }, "availability.opponents_a_day"),
    ] {
        let refusal = refused(set_availability(&guest, bad).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&refusal), wrong);
    }
}

#[tokio::test]
async fn the_clock_and_the_rating_of_an_invitation_may_be_bounded_on_both_sides() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings { rated: true, ..named("rated") }).await;
    let mut turns = seated.black.turns().await;
    seated.play_to_end().await;
    let black = turns.until(|event| if let Event::RatingChanged(told) = event { told.own } else { None }).await;
    let [stronger, weaker] =
        if black.after > 1_500 { [&seated.black, &seated.white] } else { [&seated.white, &seated.black] };
    let guest = server.human("Guest").await;
    let clocked = async |by: &Player, increment| {
        let settings = v1::RoomSettings { total_time: seconds(60), increment: seconds(increment), ..private() };
        let invite = v1::seat::Occupant::Invite(by_name("Guest"));
        let seats = vec![v1::Seat::default(), v1::Seat { occupant: Some(invite), ..Default::default() }];
        by.try_create(v1::CreateRoomRequest { settings: Some(settings), seats, ..Default::default() }).await
    };
    let blitz =
        v1::Availability { shortest_increment: seconds(1), longest_increment: seconds(2), ..Default::default() };
    set_availability(&guest, blitz).await.unwrap();
    for (increment, wrong, accepted) in
        [(0, "shortest_increment", "(at least 1 s)"), (3, "longest_increment", "(at most 2 s)")]
    {
        not_accepted(clocked(stronger, increment).await, wrong, accepted);
    }
    clocked(stronger, 2).await.unwrap();
    for (by, accepted, wrong, told) in [
        (weaker, v1::Availability { min_rating: 1_500, ..Default::default() }, "min_rating", "(at least 1500)"),
        (stronger, v1::Availability { max_rating: 1_500, ..Default::default() }, "max_rating", "(at most 1500)"),
    ] {
        set_availability(&guest, accepted).await.unwrap();
        not_accepted(clocked(by, 0).await, wrong, told);
        let room = by.create(private()).await.room_id;
        for wish in [Occupant::Invite(by_name("Guest")), Occupant::ReservedFor(guest.id.clone())] {
            not_accepted(by.set_seat(&room, 1, wish).await, wrong, told);
        }
        clocked(if wrong == "min_rating" { stronger } else { weaker }, 0).await.unwrap();
        // A player without a rating counts as 1500.
        clocked(&server.human(&format!("New {wrong}")).await, 0).await.unwrap();
    }
}

#[tokio::test]
async fn a_player_may_bound_its_games_at_once_and_its_opponents_a_day() {
    let server = TestServer::open().await;
    let SeatedRoom { black: earlier, white: guest, game, room } = server.two_player_game(named("first")).await;
    let stranger = server.human("Stranger").await;
    let name = guest.profile.display_name.clone();
    let one_game = v1::Availability { games_at_once: 1, ..Default::default() };
    set_availability(&guest, one_game).await.unwrap();
    let busy = refused(inviting(&stranger, by_name(&name)).await, Code::FailedPrecondition, "NOT_ACCEPTED");
    assert_eq!(field(&busy), "availability.games_at_once");
    earlier.resign(&game).await.unwrap();
    let one_opponent = v1::Availability { opponents_a_day: 1, ..Default::default() };
    set_availability(&guest, one_opponent).await.unwrap();
    let second = refused(inviting(&stranger, by_name(&name)).await, Code::FailedPrecondition, "NOT_ACCEPTED");
    assert_eq!(field(&second), "availability.opponents_a_day");
    inviting(&earlier, by_name(&name)).await.unwrap();
    let set = stranger.set_seat(&room, 1, Occupant::Invite(by_name(&name))).await;
    refused(set, Code::PermissionDenied, "NOT_OWNER");
}

#[tokio::test]
async fn an_opponent_who_is_met_now_counts_for_the_day() {
    let server = TestServer::open().await;
    let SeatedRoom { black: opponent, white: guest, .. } = server.two_player_game(named("first")).await;
    set_availability(&guest, v1::Availability { opponents_a_day: 1, ..Default::default() }).await.unwrap();
    let name = guest.profile.display_name.clone();
    let stranger = server.human("Stranger").await;
    let second = refused(inviting(&stranger, by_name(&name)).await, Code::FailedPrecondition, "NOT_ACCEPTED");
    assert_eq!(field(&second), "availability.opponents_a_day");
    let _ = opponent;
}

#[tokio::test]
async fn an_invitation_ends_when_its_terms_change() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    let room = owner.create(private()).await.room_id;
    owner.set_seat(&room, 1, Occupant::Invite(by_name("Guest"))).await.unwrap();
    let is_kept = async || matches!(owner.room(&room).await.seats[1].occupant, Some(v1::seat::Occupant::Reserved(_)));
    owner.update_settings(&room, "name", named("other")).await.unwrap();
    assert!(is_kept().await);
    owner.update_settings(&room, "rated", v1::RoomSettings { rated: true, ..Default::default() }).await.unwrap();
    assert!(!is_kept().await);
    let _ = guest;
}

#[tokio::test]
async fn players_who_are_online_are_listed_in_pages() {
    let server = TestServer::open().await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let (bot, away) = (server.bot("Botty").await, server.human("Away").await);
    let _turns = [ada.turns().await, bea.turns().await, bot.turns().await];
    bea.create_with(v1::RoomSettings::default(), ["me", "open"]).await;
    set_availability(&bot, v1::Availability { unavailable: true, ..Default::default() }).await.unwrap();
    let page = async |filter: v1::PlayerFilter, page_token: &str| {
        let request = v1::ListPlayersRequest { filter: Some(filter), page_size: 2, page_token: page_token.into() };
        away.lobby().list_players(request).await.map(tonic::Response::into_inner)
    };
    let all = v1::PlayerFilter::default();
    let first = page(all, "").await.unwrap();
    let last = page(all, &first.next_page_token).await.unwrap();
    assert_eq!((first.players.len(), last.players.len(), last.next_page_token.as_str()), (2, 1, ""));
    let mut listed: Vec<_> = first.players.into_iter().chain(last.players).collect();
    listed.sort_by_key(|online| online.player.clone().unwrap().display_name);
    let seen: Vec<_> = listed.iter().map(|online| (online.player.clone().unwrap(), online.seats)).collect();
    assert_eq!(seen, [(ada.profile.clone(), 0), (bea.profile, 1), (bot.profile, 0)]);
    assert_eq!(listed[0].availability, None);
    assert!(listed[2].availability.clone().unwrap().unavailable);
    for (filter, names) in [
        (v1::PlayerFilter { kind: v1::PlayerKind::Bot.into(), ..all }, &["Botty"][..]),
        (v1::PlayerFilter { free: true, available: true, ..all }, &["Ada"]),
    ] {
        let found = page(filter, "").await.unwrap().players.into_iter();
        assert_eq!(found.map(|online| online.player.unwrap().display_name).collect::<Vec<_>>(), names);
        let bad = refused(page(filter, &first.next_page_token).await, Code::InvalidArgument, "BAD_PAGE_TOKEN");
        assert_eq!(field(&bad), "page_token");
    }
}
