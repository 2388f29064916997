//! A thousand watchers that never read cost the real server what they cost at first, and no more.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod process;

use process::Server;
use reversi::proto::v1::{
    self, lobby_service_client::LobbyServiceClient, room_service_client::RoomServiceClient, seat,
    session_service_client::SessionServiceClient, watch_room_response::Message,
};
use tonic::{
    Request, Status, Streaming,
    metadata::{Ascii, MetadataValue},
    service::interceptor::InterceptedService,
    transport::{Channel, Endpoint},
};

const CONNECTIONS: usize = 20;
const WATCHERS: usize = 50;

/// Far more than all windows and queues together hold for one watcher.
const EVENTS: u64 = 50_000;

/// By when every watcher has been sent what it takes in.
const FILLED: u64 = 2_000;

/// What the games that are played meanwhile may cost. A copy of the events for each watcher would be 10 GiB.
const MOST_GROWTH: u64 = 64 << 10;

/// One who is logged in, over a connection whose streams take in that much before they are read.
struct Player(InterceptedService<Channel, Bearer>);

#[derive(Clone)]
struct Bearer(MetadataValue<Ascii>);

impl tonic::service::Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

impl Player {
    async fn log_in(server: &Server, name: &str, window: u32) -> Self {
        let endpoint = Endpoint::from_shared(server.url.clone()).unwrap().initial_stream_window_size(window);
        let channel = endpoint.connect().await.unwrap();
        let request = v1::LogInRequest { display_name: name.into(), ..Default::default() };
        let token = SessionServiceClient::new(channel.clone()).log_in(request).await.unwrap().into_inner().token;
        Self(InterceptedService::new(channel, Bearer(format!("Bearer {token}").parse().unwrap())))
    }

    async fn watch(&self, room: &str) -> Streaming<v1::WatchRoomResponse> {
        let request = v1::WatchRoomRequest { room_id: room.into(), ..Default::default() };
        RoomServiceClient::new(self.0.clone()).watch_room(request).await.unwrap().into_inner()
    }

    /// A room in which AIs play more games than are waited for, with the first one begun.
    async fn series(&self) -> String {
        let ai = v1::AiSeat { kind: "random".into(), level: 0, seed: 7 };
        let seat = v1::Seat { occupant: Some(seat::Occupant::Ai(ai)), ..Default::default() };
        let settings = v1::RoomSettings { name: "series".into(), games: 1_000, ..Default::default() };
        let request =
            v1::CreateRoomRequest { settings: Some(settings), seats: vec![seat.clone(), seat], ..Default::default() };
        let mut lobby = LobbyServiceClient::new(self.0.clone());
        lobby.create_room(request).await.unwrap().into_inner().room.unwrap().room_id
    }

    async fn start(&self, room: &str) {
        let request = v1::StartGameRequest { room_id: room.into(), ..Default::default() };
        RoomServiceClient::new(self.0.clone()).start_game(request).await.unwrap();
    }
}

/// Reads until the room has come so far.
async fn follow(watch: &mut Streaming<v1::WatchRoomResponse>, seq: u64) {
    loop {
        match watch.message().await.unwrap().unwrap().message.unwrap() {
            Message::Snapshot(room) if room.seq >= seq => return,
            Message::Event(event) if event.seq >= seq => return,
            Message::Closing(closing) => panic!("too few events: {closing:?}"),
            _ => {}
        }
    }
}

/// The memory that the server holds, in KiB.
fn memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_thousand_watchers_that_never_read_cost_no_more_and_more() {
    let server = Server::start(&["--log", "error"]);
    let owner = Player::log_in(&server, "Owner", 1 << 20).await;
    let room = owner.series().await;
    let mut reader = owner.watch(&room).await;
    let empty = memory(&server);
    let mut asleep = Vec::new();
    for connection in 0..CONNECTIONS {
        let player = Player::log_in(&server, &format!("Sleeper {connection}"), 1 << 10).await;
        for _ in 0..WATCHERS {
            asleep.push(player.watch(&room).await);
        }
    }
    owner.start(&room).await;
    follow(&mut reader, FILLED).await;
    let filled = memory(&server);
    follow(&mut reader, EVENTS).await;
    let after = memory(&server);
    println!("KiB: {empty} empty, {filled} with {} watchers, {after} after {EVENTS} events", asleep.len());
    assert!(after < filled + MOST_GROWTH, "{filled} KiB have become {after}");
}
