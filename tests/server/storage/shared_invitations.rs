//! Players at two real servers that share the rooms invite each other.

use reversi::proto::v1::{self, InvitationEndReason, play_event::Event, seat_invitation::Player as Guest};
use reversi_needs::needs;
use tokio::time::{sleep, timeout};
use tonic::{Code, Status, Streaming};

use super::shared_rooms::{AGAIN, TIMEOUT, balanced, start};
use crate::harness::{postgres::database, process::Player};

type Turns = Streaming<v1::WatchTurnsResponse>;

async fn next<T>(turns: &mut Turns, wanted: impl Fn(Event) -> Option<T>) -> T {
    let found = async {
        loop {
            let event = turns.message().await.unwrap().unwrap().event.unwrap().event.unwrap();
            if let Some(found) = wanted(event) {
                return found;
            }
        }
    };
    timeout(TIMEOUT, found).await.expect("the event")
}

async fn invited(turns: &mut Turns) -> v1::PlayerInvited {
    next(turns, |event| if let Event::Invited(invited) = event { Some(invited) } else { None }).await
}

async fn ended(turns: &mut Turns) -> (InvitationEndReason, String) {
    let ended = |event| if let Event::InvitationEnded(ended) = event { Some(ended) } else { None };
    let ended = next(turns, ended).await;
    (ended.reason(), ended.message)
}

/// A private room with the player at black and an invitation to white.
async fn invite(player: &Player, name: &str) -> Result<v1::Room, Status> {
    let seat = |occupant| v1::Seat { occupant: Some(occupant), ..Default::default() };
    let guest = v1::SeatInvitation { player: Some(Guest::DisplayName(name.into())), lasts: None };
    let me = v1::seat::Occupant::Player(v1::Player::default());
    let settings = v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..Default::default() };
    let request = v1::CreateRoomRequest {
        settings: Some(settings),
        seats: vec![seat(me), seat(v1::seat::Occupant::Invite(guest))],
        ..Default::default()
    };
    Ok(player.lobby().create_room(request).await?.into_inner().room.unwrap())
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_player_at_another_server_is_invited_by_name_and_declines_or_comes() {
    let database = database();
    let servers = [(); 2].map(|()| start(&database));
    balanced(&database, 2).await;
    let ada = Player::bot(&servers[0].url, "Ada", 9).await;
    let bea = Player::bot(&servers[1].url, "Bea", 9).await;
    let (mut adas, mut beas) = (ada.turns().await, bea.turns().await);
    // The rooms of one server are at either, by their ids.
    for number in 0..4 {
        let made = invite(&ada, "Bea").await.unwrap();
        let received = invited(&mut beas).await;
        assert_eq!((&received.room_id, received.by.unwrap().display_name.as_str()), (&made.room_id, "Ada"));
        assert!(received.expires_at.is_some() && received.settings.is_some());
        let room_id = made.room_id;
        let end = if number % 2 == 0 {
            let request = v1::DeclineInvitationRequest { room_id, reason: "no time".into() };
            bea.rooms().decline_invitation(request).await.unwrap();
            (InvitationEndReason::Declined, "no time".to_owned())
        } else {
            let room = Some(v1::join_room_request::Room::RoomId(room_id));
            let request = v1::JoinRoomRequest { room, ..Default::default() };
            let joined = bea.rooms().join_room(request).await.unwrap().into_inner().room.unwrap();
            assert!(
                matches!(&joined.seats[1].occupant, Some(v1::seat::Occupant::Player(player)) if player.display_name == "Bea")
            );
            (InvitationEndReason::Accepted, String::new())
        };
        assert_eq!((ended(&mut adas).await, ended(&mut beas).await), (end.clone(), end));
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn all_servers_list_a_player_with_its_availability_and_refuse_what_it_does_not_accept() {
    let database = database();
    let servers = [(); 2].map(|()| start(&database));
    balanced(&database, 2).await;
    let ada = Player::bot(&servers[0].url, "Ada", 1).await;
    let bea = Player::bot(&servers[1].url, "Bea", 1).await;
    let turns = bea.turns().await;
    let accepted = v1::Availability { rated: v1::RatedPreference::Rated.into(), ..Default::default() };
    let request = v1::SetAvailabilityRequest { availability: Some(accepted.clone()) };
    bea.lobby().set_availability(request).await.unwrap();
    let listed = async || {
        let answer = ada.lobby().list_players(v1::ListPlayersRequest::default()).await.unwrap().into_inner();
        let row = |online: v1::OnlinePlayer| (online.player.unwrap().display_name, online.availability, online.seats);
        answer.players.into_iter().map(row).collect::<Vec<_>>()
    };
    // The other server is told a moment later.
    let until = async |wanted: &[(String, Option<v1::Availability>, i32)]| {
        let reached = async {
            while listed().await != wanted {
                sleep(AGAIN).await;
            }
        };
        timeout(TIMEOUT, reached).await.expect("the list");
    };
    let row = |seats| ("Bea".to_owned(), Some(accepted.clone()), seats);
    until(&[row(0)]).await;
    let refused = invite(&ada, "Bea").await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert_eq!(refused.metadata().get("reversi-reason").unwrap(), "NOT_ACCEPTED");
    // A server that still knows what was set before writes what is set again.
    let there = Player::with_token(&servers[0].url, &bea.token).await;
    for (set, player) in [(v1::Availability::default(), &there), (accepted.clone(), &bea)] {
        let request = v1::SetAvailabilityRequest { availability: Some(set.clone()) };
        player.lobby().set_availability(request).await.unwrap();
        for player in [&bea, &there] {
            let reached = async {
                let me = async || player.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner();
                while me().await.availability.as_ref() != Some(&set) {
                    sleep(AGAIN).await;
                }
            };
            timeout(TIMEOUT, reached).await.expect("what was set last");
        }
    }
    bea.create(v1::RoomSettings::default(), ["me", "open"]).await;
    until(&[row(1)]).await;
    drop(turns);
    until(&[]).await;
}
