//! The connection of a simulated client, and its calls about sessions.

use hyper_util::rt::TokioIo;
use reversi::{
    proto::{
        convert::WireEnum as _,
        v1::{
            self, game_service_client::GameServiceClient, lobby_service_client::LobbyServiceClient,
            room_service_client::RoomServiceClient, session_service_client::SessionServiceClient,
        },
    },
    room::{DisplayName, PlayerId},
    runtime::Token,
};
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, Endpoint},
};
use tower::service_fn;

use super::network::{Cable, GrpcServer};
use crate::sim::{plan::ClientPlan, rng::Rng};

/// A client's connection, restored when it breaks. Clones share it.
#[derive(Clone)]
pub(crate) struct GrpcClient {
    channel: Channel,
    cable: Cable,
    bearer: Bearer,
}

pub(super) type Transport = InterceptedService<Channel, Bearer>;

/// Adds the client's token to every call.
#[derive(Clone)]
pub(super) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

impl GrpcClient {
    /// Connects at the first call.
    pub(crate) fn new(server: &GrpcServer, token: Option<&Token>, rng: &mut Rng) -> Self {
        let (network, cable) = (server.network().clone(), Cable::default());
        let buffer = rng.pick(&[256, 4 * 1024, 64 * 1024]);
        // With a small window, a client that reads slowly holds up the server.
        let window = rng.pick(&[None, Some(1024)]);
        let connected = cable.clone();
        let connector = service_fn(move |_| {
            let stream = network.connect(buffer, &connected);
            async { stream.map(TokioIo::new) }
        });
        let endpoint = Endpoint::from_static("http://simulated").initial_stream_window_size(window);
        Self { channel: endpoint.connect_with_connector_lazy(connector), cable, bearer: Bearer(token.map(bearer)) }
    }

    /// Cuts the connection. The next call connects again.
    pub(crate) fn cut(&self) {
        self.cable.cut();
    }

    /// Returns the new player and its token, which the next calls have.
    pub(crate) async fn log_in(&mut self, name: &DisplayName, plan: &ClientPlan) -> Result<(PlayerId, Token), Status> {
        let (display_name, kind) = (name.to_string(), plan.kind.wire().into());
        let request = v1::LogInRequest { display_name, kind, seats: plan.seats.into(), ..Default::default() };
        let answer = SessionServiceClient::new(self.channel.clone()).log_in(request).await?.into_inner();
        let token = answer.token.parse().expect("a token");
        self.bearer = Bearer(Some(bearer(&token)));
        Ok((answer.player.expect("a player").player_id.parse().expect("an id"), token))
    }

    /// The player with the client's token.
    pub(crate) async fn me(&self) -> Result<PlayerId, Status> {
        let answer = self.sessions().get_me(v1::GetMeRequest {}).await?.into_inner();
        Ok(answer.player.expect("a player").player_id.parse().expect("an id"))
    }

    pub(crate) async fn log_out(&self) -> Result<(), Status> {
        self.sessions().log_out(v1::LogOutRequest::default()).await?;
        Ok(())
    }

    fn sessions(&self) -> SessionServiceClient<Transport> {
        SessionServiceClient::new(self.transport())
    }

    pub(super) fn lobby(&self) -> LobbyServiceClient<Transport> {
        LobbyServiceClient::new(self.transport())
    }

    pub(super) fn rooms(&self) -> RoomServiceClient<Transport> {
        RoomServiceClient::new(self.transport())
    }

    pub(super) fn games(&self) -> GameServiceClient<Transport> {
        GameServiceClient::new(self.transport())
    }

    fn transport(&self) -> Transport {
        InterceptedService::new(self.channel.clone(), self.bearer.clone())
    }
}

fn bearer(token: &Token) -> MetadataValue<Ascii> {
    format!("Bearer {}", token.reveal()).parse().expect("a token in ASCII")
}
