//! Runs the services on a socket, within the limits of the wire.

use axum::Router;
use thiserror::Error;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Status, service::Routes, transport::Server};
use tonic_web::GrpcWebLayer;
use tower::util::{MapResponseLayer, option_layer};

use super::{
    layer::{
        auth::Gate,
        cors::{self, Origin},
        drain::Farewell,
        http1_pacing::Throttle,
        request_id::NameCalls,
        web_page::Front,
    },
    service::router::Services,
    transport::{connection_limit::Crowd, listener::Listener, tls::Tls},
};
use crate::{
    grpc::status,
    {
        proto::DESCRIPTORS,
        runtime::{Limits, Runtime},
    },
};

/// Who may come in, and how.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Speaks TLS, and nothing else.
    pub tls: Option<Tls>,
    /// Pages of these origins may call, and not only those that come from the server's own.
    pub allow_origins: Vec<Origin>,
    /// Answers what is asked for by GET: the page, where there is one.
    pub page: Option<Router>,
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
    let health_service = health_service.max_decoding_message_size(limits.message_bytes);
    let others = others(&limits, &end)?.add_service(Farewell { service: health_service, end: end.clone() });
    let services = Services::new(&runtime, &crowd, others);
    let listener = Listener { socket, tls: access.tls, crowd, patience: limits.opening };

    let (draining, drained) = (shutdown.clone(), runtime.clone());
    let signal = async move {
        draining.cancelled().await;
        health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        drained.drain();
        end.cancel();
    };
    let server = transport(&limits)
        .layer(Throttle)
        .layer(NameCalls::new((runtime.random() >> 32) as u32))
        // Outside of gRPC-Web, which takes every HTTP/1.1 request for a call.
        .layer(option_layer(access.page.map(|page| Front { page })))
        // Outside of gRPC-Web, which knows nothing of a browser's questions beforehand.
        .layer(option_layer(cors::layer(&access.allow_origins)))
        .layer(GrpcWebLayer::new())
        .layer(MapResponseLayer::new(name_refusals_of_transport))
        .layer(Gate { runtime: runtime.clone() })
        .serve_with_incoming_shutdown(services, listener.incoming(), signal);

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
    Server::builder()
        .accept_http1(true)
        .timeout(limits.call_time)
        .max_concurrent_streams(limits.streams_per_connection)
        .http2_max_header_list_size(limits.header_bytes)
        .http2_max_pending_accept_reset_streams(Some(limits.resets_unseen))
        .http2_max_local_error_reset_streams(Some(limits.resets_for_faults))
        .max_frame_size(limits.frame_bytes)
        .initial_stream_window_size(limits.stream_window)
        .initial_connection_window_size(limits.connection_window)
        .http2_keepalive_interval(Some(limits.keepalive))
        .http2_keepalive_timeout(Some(limits.keepalive_answer))
}

/// The services that are not of this server only.
fn others(limits: &Limits, end: &CancellationToken) -> Result<Routes, ServeError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?
        .max_decoding_message_size(limits.message_bytes);
    Ok(Routes::new(Farewell { service: reflection, end: end.clone() }))
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
