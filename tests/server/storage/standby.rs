//! Two real servers over one PostgreSQL database: the second takes over when the first is killed, is stopped, freezes,
//! or is asked to end.

use std::time::Duration;

use reversi::proto::v1::{self, lobby_service_client::LobbyServiceClient, room_event, watch_room_response::Message};
use reversi_needs::needs;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout},
};
use tonic::{Code, Status, transport::Endpoint};
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use super::{
    faults::node,
    shared_rooms::{start_with, until},
};
use crate::{
    cli::command::{reversi, text},
    harness::{
        postgres::{Database, Proxy, database},
        process::{self, Player, Server},
    },
};

/// Timeout of each wait; a takeover lasts less than five seconds on a machine without other work.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Credits may be greater than the downtime by the time since the last renewal of the lease, and that of the takeover.
const MAX_EXTRA_CREDIT: Duration = Duration::from_secs(1);

fn start(database: &Database) -> Server {
    start_with(&database.url(), &[])
}

pub(super) async fn health(server: &Server, service: &str) -> ServingStatus {
    loop {
        let channel = Endpoint::from_shared(server.url.clone()).unwrap().connect().await.unwrap();
        let request = HealthCheckRequest { service: service.to_owned() };
        match HealthClient::new(channel).check(request).await {
            Ok(answer) => return answer.into_inner().status(),
            // A server out of service closes connections.
            Err(status) => assert_eq!(status.code(), Code::Cancelled, "{status}"),
        }
    }
}

pub(super) fn reason(status: &Status) -> &str {
    status.metadata().get("reversi-reason").map_or("", |reason| reason.to_str().unwrap())
}

/// Two servers, and two players in a game on the first.
struct ActiveAndStandby {
    database: Database,
    active: Server,
    standby: Server,
    players: [Player; 2],
    room: String,
    game: String,
}

impl ActiveAndStandby {
    async fn start() -> Self {
        Self::start_over(|database| database.url()).await
    }

    /// The first server reaches the database by a URL of its own.
    async fn start_over(url: impl FnOnce(&Database) -> String) -> Self {
        let database = database();
        let active = start_with(&url(&database), &[]);
        let standby = start(&database);
        let (black, white) = (active.log_in("Bea", 1 << 20).await, active.log_in("Wim", 1 << 20).await);
        let settings = v1::RoomSettings { move_limit: Some(seconds(600)), ..Default::default() };
        let room = black.create(settings, ["me", "open"]).await.room_id;
        white.join_and_sit(&room, 1).await;
        let game = black.start(&room).await;
        Self { database, active, standby, players: [black, white], room, game }
    }

    /// Makes moves until there are this many, or one is not acknowledged. Returns those that were.
    async fn play(&self, until: usize, acknowledged: Option<&watch::Sender<usize>>) -> Vec<String> {
        let mut moves = Vec::new();
        while moves.len() < until {
            let Ok(room) = get(&self.players[0], &self.room).await else { break };
            let game = room.game.unwrap();
            let square = game.position.clone().unwrap().legal_moves[0].clone();
            let player = &self.players[usize::from(game.position.unwrap().side_to_move() == v1::Side::White)];
            if player.play(&self.game, game.ply, &square).await.is_err() {
                break;
            }
            moves.push(square);
            if let Some(acknowledged) = acknowledged {
                acknowledged.send_replace(moves.len());
            }
        }
        moves
    }

    /// Waits until the standby serves the players, and connects them to it. Returns when, and the room then.
    async fn take_over(&mut self) -> (Instant, v1::Room) {
        for player in &mut self.players {
            *player = Player::with_token(&self.standby.url, &player.token).await;
        }
        let taken = async {
            loop {
                match get(&self.players[0], &self.room).await {
                    Ok(room) => return (Instant::now(), room),
                    // CANCELLED where the standby closed the connection, to serve it anew.
                    Err(status) => assert!(matches!(status.code(), Code::Unavailable | Code::Cancelled), "{status}"),
                }
            }
        };
        let taken = timeout(TIMEOUT, taken).await.expect("the standby takes over");
        assert_eq!(health(&self.standby, "").await, ServingStatus::Serving);
        taken
    }
}

pub(super) fn seconds(seconds: i64) -> prost_types::Duration {
    prost_types::Duration { seconds, nanos: 0 }
}

pub(super) async fn get(player: &Player, room: &str) -> Result<v1::Room, Status> {
    let request = v1::GetRoomRequest { room_id: room.to_owned(), ..Default::default() };
    Ok(player.rooms().get_room(request).await?.into_inner().room.unwrap())
}

pub(super) fn squares(room: &v1::Room) -> Vec<&str> {
    room.game.as_ref().unwrap().plies.iter().filter(|ply| !ply.pass).map(|ply| ply.square.as_str()).collect()
}

#[needs(postgres)]
#[tokio::test]
async fn a_standby_is_alive_and_not_ready_and_says_so() {
    let mut servers = ActiveAndStandby::start().await;
    assert_eq!(health(&servers.active, "").await, ServingStatus::Serving);
    assert_eq!(health(&servers.standby, "").await, ServingStatus::NotServing);
    assert_eq!(health(&servers.standby, "liveness").await, ServingStatus::Serving);
    let channel = Endpoint::from_shared(servers.standby.url.clone()).unwrap().connect().await.unwrap();
    let refused = LobbyServiceClient::new(channel).get_server_info(v1::GetServerInfoRequest {}).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused)), (Code::Unavailable, "STANDBY"), "{refused}");
    let (head, _) = process::http_get(&format!("{}/", servers.standby.url));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let url = servers.database.url();
    let games = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(games.path(), "f5d6c3\n").unwrap();
    let import = reversi(&["import", "--store", &url, games.path().to_str().unwrap()]).output().unwrap();
    let error = text(&import.stderr);
    assert!(
        !import.status.success() && error.contains("another server uses it; stop all servers that use it first"),
        "{error}"
    );
    // The end of a standby changes nothing for the players.
    let (clean, log) = std::mem::replace(&mut servers.standby, start(&servers.database)).stop().await;
    assert!(clean && log.contains("stands by for the server at 127.0.0.1:"), "{log}");
    assert_eq!(servers.play(1, None).await.len(), 1);
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_game_goes_on_when_the_server_is_killed() {
    let mut servers = ActiveAndStandby::start().await;
    let (sender, mut count) = watch::channel(0);
    let killing = async {
        count.wait_for(|count| *count >= 5).await.unwrap();
        servers.active.signal("KILL");
        Instant::now()
    };
    let (acknowledged, killed) = tokio::join!(servers.play(60, Some(&sender)), killing);
    let (taken, room) = servers.take_over().await;
    let played = squares(&room);
    assert!(played.len() <= acknowledged.len() + 1, "{played:?} after {acknowledged:?}");
    assert_eq!(played[..acknowledged.len()], acknowledged);
    let credit = credit(&servers).await;
    assert!(credit <= taken - killed + MAX_EXTRA_CREDIT, "{credit:?} after {:?}", taken - killed);
    assert_eq!(servers.play(5, None).await.len(), 5, "the game goes on");
}

/// The last credit of the room.
async fn credit(servers: &ActiveAndStandby) -> Duration {
    let mut watch = servers.players[0].watch_after(&servers.room, Some(1)).await;
    loop {
        if let Message::Event(event) = watch.message().await.unwrap().unwrap().message.unwrap()
            && let Some(room_event::Event::ClockCredited(credited)) = event.event
        {
            return credited.credit.unwrap().try_into().unwrap();
        }
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_frozen_is_fenced_and_ends() {
    let mut servers = ActiveAndStandby::start().await;
    let before = servers.play(4, None).await;
    let [black, _] = servers.players.clone();
    let position = get(&black, &servers.room).await.unwrap().game.unwrap().position.unwrap();
    let square = position.legal_moves[0].clone();
    let mut turns = black.turns().await;
    servers.active.freeze();
    // It waits in the socket of the frozen server, which finds it when it goes on.
    let game = servers.game.clone();
    let mut late = JoinSet::new();
    late.spawn(async move { black.play(&game, 4, &square).await });
    let (_, room) = servers.take_over().await;
    assert_eq!(squares(&room), before);
    assert_eq!(servers.play(3, None).await.len(), 3);
    let room = get(&servers.players[0], &servers.room).await.unwrap();
    servers.active.unfreeze();
    let refused = late.join_next().await.unwrap().unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    assert_eq!(process::close_reason(&mut turns).await, v1::CloseReason::Draining);
    let (clean, log) = servers.active.ended().await;
    assert!(!clean && log.contains("another server has taken over"), "{log}");
    assert_eq!(squares(&get(&servers.players[0], &servers.room).await.unwrap()), squares(&room));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_lost_the_database_sends_its_clients_to_the_standby() {
    let mut proxy = None;
    let mut servers = ActiveAndStandby::start_over(|database| proxy.insert(Proxy::of(database)).url(database)).await;
    let before = servers.play(4, None).await;
    let [black, _] = servers.players.clone();
    let mut turns = black.turns().await;
    let proxy = proxy.unwrap();
    // Two renewals later it has seen the standby.
    let active = node(&servers.database, &servers.active);
    for _ in 0..2 {
        let now = servers.database.sql("SELECT clock_timestamp()");
        until(&servers.database, &format!("SELECT renewed > '{now}' FROM node WHERE id = {active}"), "t").await;
    }
    proxy.hold();
    assert_eq!(timeout(TIMEOUT, process::close_reason(&mut turns)).await.expect("it ends"), v1::CloseReason::Draining);
    assert_eq!(health(&servers.active, "").await, ServingStatus::NotServing);
    let again = Player::with_token(&servers.active.url, &black.token).await;
    let refused = get(&again, &servers.room).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused)), (Code::Unavailable, "OUT_OF_SERVICE"), "{refused}");
    let (_, room) = servers.take_over().await;
    assert_eq!(squares(&room), before);
    assert_eq!(servers.play(3, None).await.len(), 3);
    proxy.release();
    let (clean, log) = servers.active.ended().await;
    assert!(!clean && log.contains("another server has taken over"), "{log}");
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_hands_its_rooms_over() {
    let mut servers = ActiveAndStandby::start().await;
    let before = servers.play(4, None).await;
    servers.active.signal("TERM");
    let (_, room) = servers.take_over().await;
    // Started now, as of two standbys either may take over.
    let active = std::mem::replace(&mut servers.active, start(&servers.database));
    let (clean, log) = active.ended().await;
    assert!(clean, "{log}");
    assert_eq!(squares(&room), before);
    assert_eq!(servers.play(3, None).await.len(), 3);
    // And back.
    std::mem::swap(&mut servers.active, &mut servers.standby);
    servers.active.signal("TERM");
    let (_, room) = servers.take_over().await;
    assert_eq!(squares(&room).len(), 7);
    assert_eq!(servers.database.sql("SELECT count(DISTINCT node) FROM shard WHERE node IS NOT NULL"), "1");
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_and_a_server_without_one_are_drained_by_a_command() {
    let servers = ActiveAndStandby::start().await;
    let url = servers.database.url();
    let [standby, active] = [&servers.standby, &servers.active].map(|server| node(&servers.database, server));
    // It does not read the request.
    servers.standby.freeze();
    let late = reversi(&["nodes", "drain", &standby, "--store", &url, "--wait", "0"]).output().unwrap();
    servers.standby.unfreeze();
    let error = text(&late.stderr);
    assert!(!late.status.success() && error.contains("has not ended after 0 seconds; it is still asked to"), "{error}");
    let (clean, log) = servers.standby.ended().await;
    assert!(clean, "{log}");
    let drained = reversi(&["nodes", "drain", &active, "--store", &url]).output().unwrap();
    assert_eq!(text(&drained.stdout), format!("node {active} has ended\n"), "{}", text(&drained.stderr));
    let (clean, log) = servers.active.ended().await;
    assert!(clean, "{log}");
}
