//! Invitations: seats that are kept for a player for some time.

use reversi::proto::v1::{self, play_event::Event, seat_invitation::Player as Guest, set_seat_request::Occupant};
use tonic::Code;

use crate::harness::in_process::{Player, TestServer, Turns, field, private, refused};

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
