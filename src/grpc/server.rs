//! Serves a runtime on a socket: the listener, the layers and the services put together.

use std::sync::Arc;

use axum::Router;
use thiserror::Error;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Status, service::Routes, transport::Server};
use tonic_web::GrpcWebLayer;
use tower::{
    layer::layer_fn,
    util::{MapResponseLayer, option_layer},
};

use super::{
    layer::{
        auth::{Auth, Guard},
        cors::{self, Origin},
        drain::Drain,
        http1_pacing::Http1Pacing,
        request_id::{RequestIds, WithRequestId},
        web_page::WebPage,
    },
    service::{Services, router::ServiceRouter},
    transport::{connection_limit::ConnectionLimit, listener::Listener, tls::Tls},
};
use crate::{
    grpc::status,
    proto::DESCRIPTORS,
    runtime::{Limits, Runtime},
};

/// How clients reach a server.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// With it the server speaks TLS only.
    pub tls: Option<Tls>,
    /// Other origins whose pages may call.
    pub allow_origins: Vec<Origin>,
    /// Answers GET and HEAD: the web page.
    pub page: Option<Router>,
}

/// Why a server failed.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket or a connection failed.
    #[error("the transport failed: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Reflection could not be set up.
    #[error("the compiled descriptors are unusable: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// [`serve_with`] the default [`Access`]: without TLS and without the page.
///
/// # Errors
/// As [`serve_with`].
pub async fn serve(runtime: Runtime, socket: TcpListener, shutdown: CancellationToken) -> Result<bool, ServeError> {
    serve_with(runtime, socket, Access::default(), shutdown).await
}

/// Serves `runtime` on `socket` until `shutdown` is cancelled and all streams have sent their last message, for at most half of
/// the limit `drain`. Returns whether the rooms and threads of the runtime then ended within the rest of it.
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
    let connections = ConnectionLimit::new(&limits);
    let end = CancellationToken::new();
    let health_service = health_service.max_decoding_message_size(limits.message_bytes);
    let others = others(&limits, &end)?.add_service(Drain { service: health_service, end: end.clone() });
    let services = Services { runtime: runtime.clone(), connections: Arc::clone(&connections) };
    let services = ServiceRouter::new(services, others);
    let listener = Listener { socket, tls: access.tls, connections, opening: limits.opening };

    let (draining, drained) = (shutdown.clone(), runtime.clone());
    let signal = async move {
        draining.cancelled().await;
        health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        drained.drain();
        end.cancel();
    };
    let ids = RequestIds::new((runtime.rooms.random.bits() >> 32) as u32);
    let guard = Guard { runtime: runtime.clone() };
    let server = transport(&limits)
        .layer(layer_fn(Http1Pacing))
        .layer(layer_fn(move |inner| WithRequestId { inner, ids: ids.clone() }))
        // Outside of gRPC-Web, which treats every request of HTTP/1.1 as a call.
        .layer(option_layer(access.page.map(|page| layer_fn(move |calls| WebPage { page: page.clone(), calls }))))
        // Outside of gRPC-Web, which does not answer preflight requests.
        .layer(option_layer(cors::layer(&access.allow_origins)))
        .layer(GrpcWebLayer::new())
        .layer(MapResponseLayer::new(add_reasons))
        .layer(layer_fn(move |inner| Auth { inner, guard: guard.clone() }))
        .serve_with_incoming_shutdown(services, listener.incoming(), signal);

    // One deadline for all: what the streams leave of it is for the rooms and the AI threads.
    let mut end = None;
    let late = async {
        shutdown.cancelled().await;
        let now = Instant::now();
        end = Some(now + limits.drain);
        tokio::time::sleep_until(now + limits.drain / 2).await;
    };
    tokio::select! {
        ended = server => ended?,
        // A client that does not read never gets the last message, and is not waited for.
        () = late => tracing::warn!("closing the connections of clients that do not end their streams"),
    }
    let left = end.map_or(limits.drain, |end| end.saturating_duration_since(Instant::now()));
    Ok(runtime.shut_down(left).await)
}

/// HTTP, with the limits of one connection.
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

/// Health and reflection.
fn others(limits: &Limits, end: &CancellationToken) -> Result<Routes, ServeError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?
        .max_decoding_message_size(limits.message_bytes);
    Ok(Routes::new(Drain { service: reflection, end: end.clone() }))
}

/// Adds the reason to refusals of the transport, which come before any service: a request that is too large, and one that
/// cannot be read.
fn add_reasons<B>(mut response: http::Response<B>) -> http::Response<B> {
    let headers = response.headers_mut();
    if headers.contains_key(status::REASON) {
        return response;
    }
    let refusal = Status::from_header_map(headers).and_then(|refusal| status::unreadable(&refusal));
    // Statuses made here always fit into headers.
    if let Some(Err(error)) = refusal.map(|refusal| refusal.add_header(headers)) {
        tracing::error!(%error, "a refusal does not fit into headers");
    }
    response
}
