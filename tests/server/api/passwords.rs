//! Guesses at the passwords of rooms.

use std::time::Duration;

use reversi::proto::v1::{self, join_room_request::Room as By};
use tonic::Code;

use crate::harness::in_process::{Answer, Player, TestServer, check, refused};

const PIN: &str = "48151";

async fn locked_room(owner: &Player) -> v1::Room {
    owner.try_create(v1::CreateRoomRequest { password: PIN.into(), ..Default::default() }).await.unwrap()
}

async fn guess(player: &Player, room: &v1::Room, password: &str) -> Answer<v1::Room> {
    player.join_by(By::RoomId(room.room_id.clone()), password).await
}

/// Checks that the guess has to wait, and returns for how long.
#[track_caller]
fn delay<T>(answer: Answer<T>) -> Duration {
    let details = refused(answer, Code::ResourceExhausted, "RATE");
    details.retry_info().unwrap().retry_delay.unwrap()
}

#[tokio::test]
async fn guesses_of_one_address_are_slowed_down_and_others_join_at_once() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let room = locked_room(&owner).await;
    let (eve, mallory) = (server.human_from(9, "Eve").await.unwrap(), server.human_from(9, "Mallory").await.unwrap());
    let guest = server.human_from(10, "Gus").await.unwrap();
    let mut wrong = 0;
    let status = loop {
        let status = guess(&eve, &room, &format!("{wrong:05}")).await.unwrap_err();
        if status.code() != Code::PermissionDenied {
            break status;
        }
        check("a wrong guess", &status, Code::PermissionDenied, "BAD_PASSWORD");
        wrong += 1;
    };
    let wait = delay::<()>(Err(status.clone()));
    assert!(wrong >= 5 && wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?} after {wrong} guesses");
    assert!(status.message().contains("try again in 1 s"), "{status:?}");
    // Another log-in does not help, and nobody learns whether the guess was right.
    let watch = v1::WatchRoomRequest { room_id: room.room_id.clone(), password: PIN.into(), ..Default::default() };
    let mut rooms = mallory.rooms();
    // At once: each refusal takes a part of the second.
    let (wrong, right, watched) =
        tokio::join!(guess(&mallory, &room, "0"), guess(&mallory, &room, PIN), rooms.watch_room(watch));
    delay(wrong);
    delay(right);
    delay(watched);
    guess(&guest, &room, PIN).await.unwrap();
    guest.room(&room.room_id).await;
    let other = locked_room(&owner).await;
    guess(&eve, &other, PIN).await.unwrap();
}

#[tokio::test]
async fn addresses_that_guessed_wrong_wait_for_each_other() {
    let server = TestServer::limited(|limits| limits.players_per_address = 5).await;
    let owner = server.human("Owner").await;
    let room = locked_room(&owner).await;
    let mut made = 0;
    for host in 10..45 {
        let eve = server.human_from(host, &format!("eve {host}")).await.unwrap();
        refused(guess(&eve, &room, "0").await, Code::PermissionDenied, "BAD_PASSWORD");
        made += u32::from(guess(&eve, &room, "1").await.unwrap_err().code() == Code::PermissionDenied);
    }
    assert!((15..25).contains(&made), "{made} addresses had a second guess");
    let guest = server.human_from(200, "Gus").await.unwrap();
    guess(&guest, &room, PIN).await.unwrap();
}

#[tokio::test]
async fn wrong_codes_of_one_address_are_slowed_down() {
    let server = TestServer::limited(|limits| limits.wrong_guesses_per_address = 2).await;
    let owner = server.human("Owner").await;
    let room = owner.create(v1::RoomSettings::default()).await;
    let (eve, mallory) = (server.human_from(9, "Eve").await.unwrap(), server.human_from(9, "Mallory").await.unwrap());
    let guest = server.human_from(10, "Gus").await.unwrap();
    let by = |code: &str| By::JoinCode(code.into());
    for code in ["aaaaaaaa", "?"] {
        refused(eve.join_by(by(code), "").await, Code::NotFound, "ROOM_NOT_FOUND");
    }
    delay(mallory.join_by(by(&room.join_code), "").await);
    guest.join_by(by(&room.join_code), "").await.unwrap();
}

#[tokio::test]
async fn a_right_code_of_a_hidden_room_waits_like_a_wrong_one() {
    let server = TestServer::limited(|limits| limits.wrong_guesses_per_address = 1).await;
    let owner = server.human("Owner").await;
    let private = v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..Default::default() };
    let (hidden, open) = (owner.create(private).await, owner.create(v1::RoomSettings::default()).await);
    let eve = server.human_from(9, "Eve").await.unwrap();
    let watch = |room: &v1::Room, code: &str| {
        let (room_id, join_code) = (room.room_id.clone(), code.to_owned());
        let mut rooms = eve.rooms();
        async move { rooms.watch_room(v1::WatchRoomRequest { room_id, join_code, ..Default::default() }).await }
    };
    refused(watch(&hidden, "aaaaaaaa").await, Code::NotFound, "ROOM_NOT_FOUND");
    delay(watch(&hidden, &hidden.join_code).await);
    watch(&open, "aaaaaaaa").await.unwrap();
}

#[tokio::test]
async fn a_new_password_replaces_the_old_one() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Gus").await);
    let room = locked_room(&owner).await;
    let id = room.room_id.clone();
    let change = |password: &str, clear_password| v1::UpdateSettingsRequest {
        room_id: id.clone(),
        password: password.into(),
        clear_password,
        ..Default::default()
    };
    owner.rooms().update_settings(change("23", false)).await.unwrap();
    refused(guess(&guest, &room, PIN).await, Code::PermissionDenied, "BAD_PASSWORD");
    guess(&guest, &room, "23").await.unwrap();
    refused(guest.rooms().update_settings(change("42", false)).await, Code::PermissionDenied, "NOT_OWNER");
    guest.leave(&room.room_id).await.unwrap();
    owner.rooms().update_settings(change("", true)).await.unwrap();
    guess(&guest, &room, "any").await.unwrap();
}
