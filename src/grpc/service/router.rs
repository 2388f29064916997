//! Selects the service of a call by its name.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use tonic::{body::Body, service::Routes};
use tower::Service;

use super::{analysis::Analyses, game::Games, lobby::Lobby, record::Records, room::Rooms, session::Session};
use crate::{
    grpc::transport::connection_limit::ConnectionLimit,
    proto::server::{
        analysis_service_server::{self, AnalysisServiceServer},
        game_service_server::{self, GameServiceServer},
        lobby_service_server::{self, LobbyServiceServer},
        record_service_server::{self, RecordServiceServer},
        room_service_server::{self, RoomServiceServer},
        session_service_server::{self, SessionServiceServer},
    },
    runtime::Runtime,
};

/// The services over a runtime. Tonic's own router would box the bodies of each call three more times.
#[derive(Clone)]
pub(crate) struct ServiceRouter(Arc<All>);

struct All {
    session: SessionServiceServer<Session>,
    lobby: LobbyServiceServer<Lobby>,
    room: RoomServiceServer<Rooms>,
    game: GameServiceServer<Games>,
    record: RecordServiceServer<Records>,
    analysis: AnalysisServiceServer<Analyses>,
    /// Health and reflection, and the refusal of unknown services.
    others: Routes,
}

impl ServiceRouter {
    pub(crate) fn new(runtime: &Runtime, connections: &Arc<ConnectionLimit>, others: Routes) -> Self {
        let (own, most) = (|| runtime.clone(), runtime.limits().message_bytes);
        let lobby = Lobby { runtime: own(), connections: Arc::clone(connections) };
        Self(Arc::new(All {
            session: SessionServiceServer::new(Session { runtime: own() }).max_decoding_message_size(most),
            lobby: LobbyServiceServer::new(lobby).max_decoding_message_size(most),
            room: RoomServiceServer::new(Rooms { runtime: own() }).max_decoding_message_size(most),
            game: GameServiceServer::new(Games { runtime: own() }).max_decoding_message_size(most),
            record: RecordServiceServer::new(Records { runtime: own() }).max_decoding_message_size(most),
            analysis: AnalysisServiceServer::new(Analyses { runtime: own() }).max_decoding_message_size(most),
            others,
        }))
    }
}

impl Service<Request<Body>> for ServiceRouter {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The services are always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let all = &*self.0;
        match request.uri().path().split('/').nth(1).unwrap_or_default() {
            session_service_server::SERVICE_NAME => all.session.clone().call(request),
            lobby_service_server::SERVICE_NAME => all.lobby.clone().call(request),
            room_service_server::SERVICE_NAME => all.room.clone().call(request),
            game_service_server::SERVICE_NAME => all.game.clone().call(request),
            record_service_server::SERVICE_NAME => all.record.clone().call(request),
            analysis_service_server::SERVICE_NAME => all.analysis.clone().call(request),
            _ => Box::pin(all.others.clone().call(request)),
        }
    }
}
