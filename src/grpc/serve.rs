//! Runs the services on a socket, within the limits of the wire.

use std::{any::Any, sync::Arc};

use thiserror::Error;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Status, body::Body, service::Routes, transport::Server};
use tonic_web::GrpcWebLayer;
use tower::util::{MapResponseLayer, option_layer};
use tower_http::catch_panic::CatchPanicLayer;

use super::{
    MOST_MESSAGE,
    call::{NameCalls, report_bug},
    cors::{self, Origin},
    farewell::Farewell,
    game,
    listener::Listener,
    lobby,
    pace::Pace,
    record,
    remote::{Crowd, LogIns},
    room, session, status,
    tls::Tls,
};
use crate::{
    proto::{
        DESCRIPTORS,
        server::{
            game_service_server::GameServiceServer, lobby_service_server::LobbyServiceServer,
            record_service_server::RecordServiceServer, room_service_server::RoomServiceServer,
            session_service_server::SessionServiceServer,
        },
    },
    runtime::{Limits, Runtime},
};

/// Streams of one connection that were reset before a service saw them. Beyond it the connection ends: opening and
/// resetting streams costs a client nothing, and is how servers are worn down (CVE-2023-44487). A client that gives up
/// everything at once has its 64 streams.
const RESETS_UNSEEN: usize = 64;

/// The least that HTTP/2 allows. Messages are small, and a large frame keeps others waiting.
const MOST_FRAME: u32 = 16 * 1024;

/// What one stream may send unread: a request of the largest size.
const STREAM_WINDOW: u32 = MOST_MESSAGE as u32;

/// What one connection may send unread: what it can make the server hold.
const CONNECTION_WINDOW: u32 = 4 * STREAM_WINDOW;

/// Who may come in, and how.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Speaks TLS, and nothing else.
    pub tls: Option<Tls>,
    /// Pages of these origins may call, and not only those that come from the server's own.
    pub allow_origins: Vec<Origin>,
}

/// Why a server ended that was not asked to.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket or a connection failed.
    #[error("the server cannot go on: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Reflection could not be set up.
    #[error("the compiled descriptors are unusable: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// As [`serve_with`], for whoever reaches the socket, without TLS.
///
/// # Errors
/// As [`serve_with`].
pub async fn serve(runtime: Runtime, socket: TcpListener, shutdown: CancellationToken) -> Result<bool, ServeError> {
    serve_with(runtime, socket, Access::default(), shutdown).await
}

/// Serves `runtime` on `socket` until `shutdown` is cancelled and every stream has said goodbye, or the drain
/// half of the drain deadline has passed. Returns whether all that is the server's own ended within the other half.
///
/// # Errors
/// When the transport fails.
pub async fn serve_with(
    runtime: Runtime,
    socket: TcpListener,
    access: Access,
    shutdown: CancellationToken,
) -> Result<bool, ServeError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status("", tonic_health::ServingStatus::Serving).await;
    let limits = *runtime.limits();
    let crowd = Crowd::new(&limits);
    let end = CancellationToken::new();
    let routes = routes(&runtime, &crowd, &end)?.add_service(Farewell { service: health_service, end: end.clone() });
    let listener = Listener { socket, tls: access.tls, crowd, patience: limits.opening };

    let (draining, drained) = (shutdown.clone(), runtime.clone());
    let signal = async move {
        draining.cancelled().await;
        health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        drained.drain();
        end.cancel();
    };
    let server = transport(&limits)
        .layer(Pace::new(&limits))
        .layer(NameCalls::new((runtime.random() >> 32) as u32))
        // Outside of gRPC-Web, which knows nothing of a browser's questions beforehand.
        .layer(option_layer(cors::layer(&access.allow_origins)))
        .layer(GrpcWebLayer::new())
        .layer(MapResponseLayer::new(name_refusals_of_transport))
        .layer(CatchPanicLayer::custom(report_bug as fn(Box<dyn Any + Send>) -> http::Response<Body>))
        .add_routes(routes)
        .serve_with_incoming_shutdown(listener.incoming(), signal);

    // One deadline for all: what streams leave of it belongs to the rooms and the AI threads.
    let mut end = None;
    let late = async {
        shutdown.cancelled().await;
        let now = Instant::now();
        end = Some(now + limits.drain);
        tokio::time::sleep_until(now + limits.drain / 2).await;
    };
    tokio::select! {
        ended = server => ended?,
        // One who reads nothing hears no goodbye, and nothing of the server's own waits for that.
        () = late => tracing::warn!("clients that do not take leave are cut off"),
    }
    let left = end.map_or(limits.drain, |end| end.saturating_duration_since(Instant::now()));
    Ok(runtime.shut_down(left).await)
}

/// HTTP as it is spoken with one connection.
fn transport(limits: &Limits) -> Server {
    // Streams that the transport itself has reset because of what the client did, after which the connection ends: as
    // many as it may have are no accident any more.
    let resets_for_faults = limits.streams_per_connection as usize;
    Server::builder()
        .accept_http1(true)
        .timeout(limits.call_time)
        .max_concurrent_streams(limits.streams_per_connection)
        .http2_max_header_list_size(limits.header_bytes)
        .http2_max_pending_accept_reset_streams(Some(RESETS_UNSEEN))
        .http2_max_local_error_reset_streams(Some(resets_for_faults))
        .max_frame_size(MOST_FRAME)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keepalive_interval(Some(limits.keepalive))
        .http2_keepalive_timeout(Some(limits.keepalive_answer))
}

/// The services, and reflection of them.
fn routes(runtime: &Runtime, crowd: &Arc<Crowd>, end: &CancellationToken) -> Result<Routes, ServeError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let own = || runtime.clone();
    let sessions = session::Session { runtime: own(), log_ins: LogIns::new(runtime.limits()) };
    let lobby = lobby::Lobby { runtime: own(), crowd: Arc::clone(crowd) };
    Ok(Routes::new(Farewell { service: reflection, end: end.clone() })
        .add_service(SessionServiceServer::new(sessions).max_decoding_message_size(MOST_MESSAGE))
        .add_service(LobbyServiceServer::new(lobby).max_decoding_message_size(MOST_MESSAGE))
        .add_service(RoomServiceServer::new(room::Rooms { runtime: own() }).max_decoding_message_size(MOST_MESSAGE))
        .add_service(GameServiceServer::new(game::Games { runtime: own() }).max_decoding_message_size(MOST_MESSAGE))
        .add_service(
            RecordServiceServer::new(record::Records { runtime: own() }).max_decoding_message_size(MOST_MESSAGE),
        ))
}

/// Requests that the transport refuses before any service sees them get their reasons here: one too large, and one that
/// is no message of its kind, for which the transport's INTERNAL would blame the server.
fn name_refusals_of_transport<B>(mut response: http::Response<B>) -> http::Response<B> {
    let headers = response.headers_mut();
    if headers.contains_key(status::REASON) {
        return response;
    }
    let refusal = Status::from_header_map(headers).and_then(|refusal| status::unreadable(&refusal));
    // Every status of `status` can be written.
    if let Some(Err(error)) = refusal.map(|refusal| refusal.add_header(headers)) {
        tracing::error!(%error, "a refusal could not be written");
    }
    response
}
