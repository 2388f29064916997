//! Connections, and logged-in players that use them.

use std::time::Duration;

use anyhow::Context as _;
use reversi::proto::v1::{
    self, game_service_client::GameServiceClient, lobby_service_client::LobbyServiceClient,
    room_service_client::RoomServiceClient, session_service_client::SessionServiceClient,
};
use tonic::{
    Request,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The flow-control window of a connection in each direction, in bytes: large enough for a message of each stream.
pub(crate) const WINDOW: u32 = 16 << 20;

/// Connections that players share, or one for each player.
pub(crate) struct Connections {
    url: String,
    /// Empty if each player has its own.
    shared: Vec<Channel>,
}

impl Connections {
    /// Opens `shared` connections; with 0, one for each player on demand.
    pub(crate) async fn open(url: &str, shared: usize) -> anyhow::Result<Self> {
        let mut connections = Self { url: url.to_owned(), shared: Vec::new() };
        for _ in 0..shared {
            connections.shared.push(connect(url).await?);
        }
        Ok(connections)
    }

    /// The connection of player `number`.
    pub(crate) async fn get(&self, number: usize) -> anyhow::Result<Channel> {
        match self.shared.len() {
            0 => connect(&self.url).await,
            shared => Ok(self.shared[number % shared].clone()),
        }
    }
}

async fn connect(url: &str) -> anyhow::Result<Channel> {
    let endpoint = Endpoint::from_shared(url.to_owned()).context("that is no address of a server")?;
    let endpoint = endpoint.connect_timeout(CONNECT_TIMEOUT).tcp_nodelay(true).initial_connection_window_size(WINDOW);
    endpoint.connect().await.with_context(|| format!("no connection to {url}"))
}

#[derive(Clone)]
pub(crate) struct BenchPlayer {
    pub(crate) channel: Channel,
    bearer: MetadataValue<Ascii>,
}

impl BenchPlayer {
    /// Logs in. The process id makes the name unique among concurrent benches.
    pub(crate) async fn log_in(channel: Channel, name: &str) -> anyhow::Result<Self> {
        let display_name = format!("{name}.{}", std::process::id());
        let request =
            v1::LogInRequest { display_name, kind: v1::PlayerKind::Bot.into(), seats: 1, ..Default::default() };
        let answer = SessionServiceClient::new(channel.clone()).log_in(request).await?;
        let mut bearer: MetadataValue<Ascii> = format!("Bearer {}", answer.into_inner().token).parse()?;
        bearer.set_sensitive(true);
        Ok(Self { channel, bearer })
    }

    pub(crate) async fn log_out(self) -> anyhow::Result<()> {
        let request = self.request(v1::LogOutRequest::default());
        SessionServiceClient::new(self.channel.clone()).log_out(request).await?;
        Ok(())
    }

    /// Adds the player's token.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.bearer.clone());
        request
    }

    /// Creates a room and returns its id.
    pub(crate) async fn create(&self, settings: v1::RoomSettings, seats: [v1::Seat; 2]) -> anyhow::Result<String> {
        let request = v1::CreateRoomRequest { settings: Some(settings), seats: seats.to_vec(), ..Default::default() };
        let answer = LobbyServiceClient::new(self.channel.clone()).create_room(self.request(request)).await?;
        Ok(answer.into_inner().room.context("the answer has no room")?.room_id)
    }

    pub(crate) fn rooms(&self) -> RoomServiceClient<Channel> {
        RoomServiceClient::new(self.channel.clone())
    }

    pub(crate) fn games(&self) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel.clone())
    }
}
