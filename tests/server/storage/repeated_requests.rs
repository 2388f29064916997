//! Requests with ids that are sent again after the server was killed.

use futures_util::future::join_all;
use reversi::proto::v1::{self, quick_start_request::Opponent, seat::Occupant};
use reversi_needs::needs;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

use super::shared_rooms::{AGAIN, TIMEOUT};
use crate::harness::{
    postgres::database,
    process::{Player, Server},
};

/// Sends a request until the server serves.
async fn until_served<T>(request: impl AsyncFn() -> Result<T, Status>) -> Result<T, Status> {
    let served = async {
        loop {
            match request().await {
                Err(status) if status.code() == Code::Unavailable => sleep(AGAIN).await,
                answer => return answer,
            }
        }
    };
    timeout(TIMEOUT, served).await.expect("the server serves")
}

fn ai() -> v1::AiSeat {
    v1::AiSeat { kind: "random".into(), level: 1, seed: 7 }
}

async fn create(player: &Player) -> Result<String, Status> {
    let seat = |occupant| v1::Seat { occupant: Some(occupant), ..Default::default() };
    let seats = vec![seat(Occupant::Player(v1::Player::default())), seat(Occupant::Ai(ai()))];
    let request = v1::CreateRoomRequest { seats, request_id: "create".into(), ..Default::default() };
    let create = async || player.lobby().create_room(request.clone()).await;
    Ok(until_served(create).await?.into_inner().room.unwrap().room_id)
}

/// Starts a game, and returns it with the number of its last event.
async fn start(player: &Player, room: &str) -> Result<(String, u64), Status> {
    let request = v1::StartGameRequest { room_id: room.into(), request_id: "start".into() };
    let started = until_served(async || player.rooms().start_game(request.clone()).await).await?.into_inner();
    Ok((started.game_id, started.seq))
}

async fn quick_start(player: &Player, id: &str, opponent: Opponent) -> Result<String, Status> {
    let request = v1::QuickStartRequest { opponent: Some(opponent), request_id: id.into(), ..Default::default() };
    let start = async || player.lobby().quick_start(request.clone()).await;
    Ok(until_served(start).await?.into_inner().room.unwrap().room_id)
}

async fn against_ai(player: &Player) -> Result<String, Status> {
    quick_start(player, "ai", Opponent::Ai(ai())).await
}

async fn against_anyone(player: &Player) -> Result<String, Status> {
    quick_start(player, "anyone", Opponent::Anyone(v1::Anyone::default())).await
}

fn code<T>(answer: Result<T, Status>) -> Code {
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// All requests are repeated after each of two kills of a server with these options.
async fn check_repeats(options: &[&str]) {
    let mut server = Server::start(options);
    let [mut ada, mut bea] = [Player::bot(&server.url, "Ada", 4).await, Player::bot(&server.url, "Bea", 1).await];
    let turns = ada.turns().await;
    let room = create(&ada).await.unwrap();
    let started = start(&ada, &room).await.unwrap();
    let quick = against_ai(&ada).await.unwrap();
    let waits = against_anyone(&ada).await.unwrap();
    assert_eq!(against_anyone(&bea).await.unwrap(), waits);
    drop(turns);
    for is_first in [true, false] {
        server.kill();
        server = Server::start(options);
        [ada, bea] =
            [Player::with_token(&server.url, &ada.token).await, Player::with_token(&server.url, &bea.token).await];
        let found = join_all([&ada, &bea].map(async |player| against_anyone(player).await.unwrap())).await;
        assert_eq!(found, [&waits[..]; 2]);
        if is_first {
            assert_eq!(against_ai(&ada).await.unwrap(), quick);
            assert_eq!(create(&ada).await.unwrap(), room);
            assert_eq!(start(&ada, &room).await.unwrap(), started);
            let me = ada.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner();
            assert_eq!((me.room_ids.len(), me.game_ids.len()), (3, 3));
            for room_id in [&room, &quick] {
                ada.rooms().leave_room(v1::LeaveRoomRequest { room_id: room_id.clone() }).await.unwrap();
            }
        }
        // The rooms have closed.
        assert_eq!(code(against_ai(&ada).await), Code::NotFound);
        assert_eq!(code(create(&ada).await), Code::NotFound);
        assert_eq!(code(start(&ada, &room).await), Code::NotFound);
        assert_eq!(code(start(&ada, &waits).await), Code::AlreadyExists);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_ids_are_repeated_after_a_kill() {
    let folder = TempDir::new().unwrap();
    check_repeats(&["--data", folder.path().to_str().unwrap()]).await;
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn requests_with_ids_are_repeated_after_a_kill_over_postgres() {
    let database = database();
    check_repeats(&["--store", &database.url()]).await;
}
