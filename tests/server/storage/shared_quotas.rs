//! One player at three real servers that share the rooms: its rooms, its seats and its requests with ids count at all.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reversi::proto::v1::{self, quick_start_request::Opponent, seat::Occupant};
use reversi_needs::needs;
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

use super::shared_rooms::{AGAIN, TIMEOUT, balanced, start};
use crate::harness::{
    postgres::database,
    process::{Player, Server},
};

const SEATS: usize = 3;

/// Three servers, and a bot that is connected to all.
async fn three_servers() -> ([Server; 3], [Player; 3]) {
    let database = database();
    let servers = [(); 3].map(|()| start(&database));
    balanced(&database, 3).await;
    let first = Player::bot(&servers[0].url, "Ada", SEATS as i32).await;
    let second = Player::with_token(&servers[1].url, &first.token).await;
    let third = Player::with_token(&servers[2].url, &first.token).await;
    (servers, [first, second, third])
}

/// Sends a request until it is answered: another server may be busy with it, or about to release the place that it
/// kept.
async fn answer(request: impl AsyncFn() -> Result<String, Status>) -> String {
    let answered = async {
        loop {
            match request().await {
                Ok(answer) => return answer,
                Err(status) => {
                    assert!(matches!(status.code(), Code::Unavailable | Code::ResourceExhausted), "{status}")
                }
            }
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, answered).await.expect("the request is answered")
}

/// Sends a request to all servers at once, checks that the answers are equal, and returns the answer.
async fn same_at_all(players: &[Player; 3], request: impl AsyncFn(&Player) -> Result<String, Status>) -> String {
    let [first, second, third] = players;
    let answer = async |player| answer(async || request(player).await).await;
    let (answer, at_second, at_third) = tokio::join!(answer(first), answer(second), answer(third));
    assert_eq!([&at_second, &at_third], [&answer; 2]);
    answer
}

/// Begins a game against an AI, and returns its room. It goes on until the player moves.
async fn play_ai(player: &Player, request: &str) -> Result<String, Status> {
    let ai = v1::AiSeat { kind: "random".into(), level: 0, seed: 7 };
    let opponent = Some(Opponent::Ai(ai));
    let request = v1::QuickStartRequest { opponent, request_id: request.into(), ..Default::default() };
    Ok(player.lobby().quick_start(request).await?.into_inner().room.unwrap().room_id)
}

async fn me(player: &Player) -> v1::GetMeResponse {
    player.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner()
}

async fn leave(player: &Player, room: &str) {
    player.rooms().leave_room(v1::LeaveRoomRequest { room_id: room.into() }).await.unwrap();
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn rooms_and_seats_of_a_player_count_at_every_server() {
    let (_servers, players) = three_servers().await;
    let mut rooms = BTreeSet::new();
    for player in &players {
        rooms.insert(play_ai(player, "").await.unwrap());
    }
    for player in &players {
        let refused = play_ai(player, "").await.unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        assert!(refused.message().contains("you play in room"), "{refused}");
        let me = me(player).await;
        assert_eq!(me.room_ids.iter().cloned().collect::<BTreeSet<_>>(), rooms);
        assert_eq!((me.seats.len(), me.game_ids.len()), (SEATS, SEATS));
    }
    for room in rooms {
        leave(&players[2], &room).await;
    }
    // No more than the limit, also when they are asked for at once.
    let asked = (0..4 * SEATS).map(async |number| play_ai(&players[number % 3], "").await);
    let begun = join_all(asked).await.into_iter().filter(Result::is_ok).count();
    assert!((1..=SEATS).contains(&begun), "{begun} games");
    assert_eq!(me(&players[0]).await.seats.len(), begun);
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_an_id_takes_effect_once_at_all_servers() {
    let (mut servers, players) = three_servers().await;
    let [here, there, _] = &players;
    let create = async |player: &Player| {
        let seat = |occupant| v1::Seat { occupant: Some(occupant), ..Default::default() };
        let ai = Occupant::Ai(v1::AiSeat { kind: "random".into(), level: 0, seed: 7 });
        let seats = vec![seat(Occupant::Player(v1::Player::default())), seat(ai)];
        let request = v1::CreateRoomRequest { seats, request_id: "1".into(), ..Default::default() };
        Ok(player.lobby().create_room(request).await?.into_inner().room.unwrap().room_id)
    };
    let room = same_at_all(&players, create).await;
    let start = async |player: &Player| {
        let request = v1::StartGameRequest { room_id: room.clone(), request_id: "start".into() };
        Ok(player.rooms().start_game(request).await?.into_inner().game_id)
    };
    same_at_all(&players, start).await;
    let begun = same_at_all(&players, async |player| play_ai(player, "2").await).await;
    let me = me(there).await;
    assert_eq!((me.room_ids.len(), me.game_ids.len()), (2, 2), "no game has ended");
    // A request that is refused can be sent again.
    let third = answer(async || play_ai(here, "").await).await;
    assert_eq!(play_ai(there, "3").await.unwrap_err().code(), Code::ResourceExhausted);
    leave(here, &third).await;
    let third = answer(async || play_ai(here, "3").await).await;
    assert_eq!(play_ai(there, "3").await.unwrap(), third);
    servers[0].kill();
    assert_eq!(answer(async || play_ai(there, "2").await).await, begun, "the other server has the room");
    leave(there, &begun).await;
    let reused = play_ai(there, "1").await.unwrap_err();
    assert_eq!(reused.code(), Code::AlreadyExists, "an id of another method: {reused}");
    let closed = play_ai(there, "2").await.unwrap_err();
    assert_eq!(closed.code(), Code::NotFound, "not made again: {closed}");
}
