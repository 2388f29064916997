//! Selects the service of a call by its name.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use tonic::{body::Body, codec::CompressionEncoding::Gzip, service::Routes};
use tower::Service;

use super::Services;
use crate::proto::generated_services::{
    analysis_service_server::{self, AnalysisServiceServer},
    game_service_server::{self, GameServiceServer},
    lobby_service_server::{self, LobbyServiceServer},
    record_service_server::{self, RecordServiceServer},
    room_service_server::{self, RoomServiceServer},
    session_service_server::{self, SessionServiceServer},
    tournament_service_server::{self, TournamentServiceServer},
};

/// The names of the services over a runtime.
pub(crate) const NAMES: [&str; 7] = [
    session_service_server::SERVICE_NAME,
    lobby_service_server::SERVICE_NAME,
    room_service_server::SERVICE_NAME,
    game_service_server::SERVICE_NAME,
    record_service_server::SERVICE_NAME,
    analysis_service_server::SERVICE_NAME,
    tournament_service_server::SERVICE_NAME,
];

/// The services over a runtime. Tonic's own router would box the bodies of each call three more times.
#[derive(Clone)]
pub(crate) struct ServiceRouter(Arc<All>);

struct All {
    session: SessionServiceServer<Services>,
    lobby: LobbyServiceServer<Services>,
    room: RoomServiceServer<Services>,
    game: GameServiceServer<Services>,
    record: RecordServiceServer<Services>,
    analysis: AnalysisServiceServer<Services>,
    tournament: TournamentServiceServer<Services>,
    /// Health and reflection, and the refusal of unknown services.
    others: Routes,
}

impl ServiceRouter {
    pub(crate) fn new(services: Services, others: Routes) -> Self {
        let max = services.runtime.limits().message_bytes;
        let all = Arc::new(services);
        let own = || Arc::clone(&all);
        Self(Arc::new(All {
            session: SessionServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            lobby: LobbyServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            room: RoomServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            game: GameServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            record: RecordServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            analysis: AnalysisServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
            tournament: TournamentServiceServer::from_arc(own()).max_decoding_message_size(max).accept_compressed(Gzip),
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
            tournament_service_server::SERVICE_NAME => all.tournament.clone().call(request),
            _ => Box::pin(all.others.clone().call(request)),
        }
    }
}
