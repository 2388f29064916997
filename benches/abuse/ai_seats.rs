//! The time to the answer of an AI, while the AI seats of other players' rooms use all AI threads. The goal is at most
//! twice the time on an idle server.
//!
//! The same game is played each time, so each answer is compared with that to the same move on the idle server.

use std::{
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use reversi::proto::v1::{
    self, room_event::Event, session_service_client::SessionServiceClient, watch_room_response::Message,
};
use tonic::{Streaming, transport::Endpoint};

use crate::{
    min_median_max,
    process::{Player, Server},
};

pub(crate) const NAME: &str = "AI seats";

const ROUNDS: usize = 3;
/// Measured answers of each game.
const ANSWERS: usize = 6;
/// The opponent of the measured player, and the AIs on both seats of all other rooms.
const OPPONENT: &str = "expert:13";
const OTHERS: &str = "expert:16";
const ROOMS_PER_PLAYER: usize = 64;
/// Numbers of players who each own [`ROOMS_PER_PLAYER`] rooms, at an address each, measured in turn.
const LOADS: [usize; 2] = [1, 40];

pub(crate) async fn measure() {
    let mut times = [const { Vec::new() }; 1 + LOADS.len()];
    for round in 0..ROUNDS {
        println!("{NAME}: round {} of {ROUNDS}", round + 1);
        let server = Server::start(&["--log", "error"]);
        // Another address than the owner of the other rooms.
        let newcomer = human(&server, "Newcomer", Ipv4Addr::new(127, 0, 0, 2).into()).await;
        times[0].extend(answer_times(&newcomer).await);
        let mut owners = Vec::new();
        for (load, players) in LOADS.into_iter().enumerate() {
            while owners.len() < players {
                owners.push(Owner::start(&server, owners.len()).await);
            }
            let searched = players * ROOMS_PER_PLAYER * 9 / 10;
            while newcomer.info().await.ai_load.unwrap().waiting < i32::try_from(searched).unwrap() {}
            times[load + 1].extend(answer_times(&newcomer).await);
        }
    }
    let rooms = |load: usize| format!("{} other rooms of {OTHERS}", LOADS[load] * ROOMS_PER_PLAYER);
    println!("{:32} {:>24} {:>20}", "ms to an answer", "median (range)", "ratio (range)");
    report("no other room", &times[0], &times[0]);
    for load in 0..LOADS.len() {
        report(&rooms(load), &times[load + 1], &times[0]);
    }
}

fn report(name: &str, times: &[Duration], idle: &[Duration]) {
    let [least, median, most] = min_median_max(times.iter().map(|time| time.as_secs_f64() * 1e3));
    let [low, usual, high] =
        min_median_max(times.iter().zip(idle).map(|(time, idle)| time.as_secs_f64() / idle.as_secs_f64()));
    let times = format!("{median:.0} ({least:.0}-{most:.0})");
    println!("{name:32} {times:>24} {:>20}", format!("{usual:.2} ({low:.2}-{high:.2})"));
}

/// A connected player who owns many rooms of AIs only.
struct Owner {
    /// Keeps the owner connected: the rooms of a connected owner do not yield.
    _turns: Streaming<v1::WatchTurnsResponse>,
}

impl Owner {
    async fn start(server: &Server, number: usize) -> Self {
        let address = Ipv4Addr::new(127, 0, 1, u8::try_from(number + 1).unwrap());
        let owner = human(server, &format!("Owner {number}"), address.into()).await;
        let turns = owner.turns().await;
        for _ in 0..ROOMS_PER_PLAYER {
            let room = owner.create(v1::RoomSettings::default(), [OTHERS; 2]).await.room_id;
            owner.start(&room).await;
        }
        Self { _turns: turns }
    }
}

async fn human(server: &Server, name: &str, address: IpAddr) -> Player {
    let endpoint = Endpoint::from_shared(server.url.clone()).unwrap().local_address(Some(address));
    let channel = endpoint.connect().await.unwrap();
    let request = v1::LogInRequest { display_name: name.into(), ..Default::default() };
    let token = SessionServiceClient::new(channel.clone()).log_in(request).await.unwrap().into_inner().token;
    Player::over(channel, token)
}

/// Plays against [`OPPONENT`] with first legal moves. Returns the times from a move to the answer.
async fn answer_times(player: &Player) -> Vec<Duration> {
    let room = player.create(v1::RoomSettings::default(), ["me", OPPONENT]).await.room_id;
    let mut watch = player.watch(&room).await;
    let game = player.start(&room).await;
    let mut legal = player.room(&room).await.game.unwrap().position.unwrap().legal_moves;
    let mut ply = 0;
    let mut times = Vec::new();
    while times.len() < ANSWERS {
        let began = Instant::now();
        player.play(&game, ply, &legal[0]).await.unwrap();
        legal = next_turn(&mut watch, ply + 1).await;
        times.push(began.elapsed());
        ply += 2;
    }
    player.rooms().leave_room(v1::LeaveRoomRequest { room_id: room }).await.unwrap();
    times
}

/// Waits for the move of this ply. Returns the legal moves after it.
async fn next_turn(watch: &mut Streaming<v1::WatchRoomResponse>, ply: i32) -> Vec<String> {
    loop {
        if let Message::Event(event) = watch.message().await.unwrap().unwrap().message.unwrap()
            && let Some(Event::MovePlayed(played)) = event.event
            && played.ply.as_ref().unwrap().ply == ply
        {
            return played.position.unwrap().legal_moves;
        }
    }
}
