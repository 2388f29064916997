//! Serves a runtime on a socket, or on open streams: combines the connections, the layers and the services.

use std::{convert::Infallible, io, sync::Arc, time::UNIX_EPOCH};

use axum::Router;
use http::{HeaderValue, Request, Response, header::DATE};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch::{self, Receiver},
};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{Status, body::Body, codec::CompressionEncoding::Gzip, service::Routes, transport::Server};
use tonic_web::GrpcWebLayer;
use tower::{
    Service,
    layer::layer_fn,
    util::{MapResponseLayer, option_layer},
};

use super::{
    drain::{drain, run_to_end},
    layer::{
        auth::{Auth, Guard},
        cors::{self, Origin},
        deadline::Deadline,
        end_streams::EndStreams,
        forwarded_for::ForwardedFor,
        host::{HostCheck, ServedHosts},
        http1_pacing::Http1Pacing,
        request_id::{RequestIds, WithRequestId},
        web_page::WebPage,
    },
    service::{Services, health::Health, router::ServiceRouter, standby::standby},
    transport::{
        connection::Connection,
        connection_limit::ConnectionLimit,
        listener::{Listener, Socket},
        open_streams::open_streams,
        period_offset::PeriodOffsets,
        server_socket::ServerSocket,
        tls::Tls,
        trusted_proxy::{TrustedProxies, TrustedProxy},
    },
};
use crate::{
    grpc::status,
    proto::DESCRIPTORS,
    room::Timestamp,
    runtime::{Clock, Limits, LimitsInForce, RandomSource, RateLimiter, Runtime},
};

/// The access of clients to a server.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// If set, the server accepts TLS connections only.
    pub tls: Option<Tls>,
    /// Other origins whose pages may call the server.
    pub allow_origins: Vec<Origin>,
    /// The hosts whose requests are served; all if not set.
    pub hosts: Option<ServedHosts>,
    /// Proxies that are believed about the addresses of their clients.
    pub trusted_proxies: Vec<TrustedProxy>,
    /// The web page, served to GET and HEAD requests.
    pub page: Option<Router>,
}

/// The error of a server that failed.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket or a connection failed.
    #[error("the transport failed: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Reflection could not be set up.
    #[error("the compiled descriptors are unusable: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// [`serve_with`] with the default [`Access`]: without TLS and without the web page.
///
/// # Errors
/// As [`serve_with`].
pub async fn serve(
    runtime: Runtime,
    socket: impl Into<ServerSocket>,
    shutdown: CancellationToken,
) -> Result<bool, ServeError> {
    serve_with(runtime, socket, Access::default(), shutdown).await
}

/// Serves `runtime` on `socket` until `shutdown` is cancelled and all streams have ended, for at most half of the limit
/// `drain`. Returns whether the runtime's rooms and threads ended within the rest of it. While the runtime is out of
/// service, all calls of players are refused, and clients are told to call over another connection.
///
/// # Errors
/// When the transport fails.
pub async fn serve_with(
    runtime: Runtime,
    socket: impl Into<ServerSocket>,
    access: Access,
    shutdown: CancellationToken,
) -> Result<bool, ServeError> {
    let offsets = offsets(&runtime.rooms.random);
    let front = Front::new(runtime.limits_in_force().clone(), access, &runtime.rooms.random, runtime.clock());
    let incoming = front.incoming(socket.into(), offsets, runtime.in_service());
    serve_connections(runtime, incoming, front, shutdown).await
}

/// As [`serve`], but on connections that are already open, such as [`tokio::io::DuplexStream`]s in memory. They count
/// as those of the loopback address, and are closed without an answer beyond the limits on open connections.
///
/// # Errors
/// As [`serve_with`].
pub async fn serve_streams<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    runtime: Runtime,
    streams: impl Stream<Item = S>,
    shutdown: CancellationToken,
) -> Result<bool, ServeError> {
    let offsets = offsets(&runtime.rooms.random);
    let front =
        Front::new(runtime.limits_in_force().clone(), Access::default(), &runtime.rooms.random, runtime.clock());
    let connections = Arc::clone(&front.connections);
    let incoming = open_streams(streams, connections, *runtime.limits(), offsets, runtime.in_service());
    serve_connections(runtime, incoming, front, shutdown).await
}

/// Answers calls on `socket` as a server that stands by for another one, until `end` is cancelled and all connections
/// are closed. Health is that of a server that is not ready, and the page is served.
///
/// # Errors
/// When the transport fails.
pub async fn stand_by(
    limits: Limits,
    socket: ServerSocket,
    access: Access,
    end: CancellationToken,
) -> Result<(), ServeError> {
    let random = RandomSource::default();
    let front = Front::new(limits.into(), access, &random, Clock::of_process());
    // Its connections stay open, as it soon serves them itself.
    let in_service = watch::channel(true).1;
    let incoming = front.incoming(socket, offsets(&random), in_service);
    let service = standby(&limits, end.clone());
    Ok(front.serve(incoming, service, end.cancelled_owned()).await?)
}

fn offsets(random: &RandomSource) -> PeriodOffsets {
    PeriodOffsets::new(random.bits() as u32)
}

/// Serves connections that are within the limits and open for HTTP.
async fn serve_connections<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    runtime: Runtime,
    incoming: impl Stream<Item = io::Result<Connection<S>>>,
    front: Front,
    shutdown: CancellationToken,
) -> Result<bool, ServeError> {
    let end = CancellationToken::new();
    let others = others(&runtime, &end)?;
    let services = Services { runtime: runtime.clone(), connections: Arc::clone(&front.connections) };
    let services = ServiceRouter::new(services, others);
    let admitted = Auth { inner: services, guard: Guard { runtime: runtime.clone() } };
    let signal = drain(shutdown.clone(), runtime.clone(), end);
    Ok(run_to_end(front.serve(incoming, admitted, signal), &shutdown, &runtime).await?)
}

/// What is in front of the services.
struct Front {
    limits: LimitsInForce,
    access: Access,
    connections: Arc<ConnectionLimit>,
    ids: RequestIds,
    clock: Clock,
}

impl Front {
    fn new(limits: LimitsInForce, access: Access, random: &RandomSource, clock: Clock) -> Self {
        let ids = RequestIds::new((random.bits() >> 32) as u32);
        Self { connections: ConnectionLimit::new(limits.clone()), limits, access, ids, clock }
    }

    fn incoming(
        &self,
        socket: ServerSocket,
        offsets: PeriodOffsets,
        in_service: Receiver<bool>,
    ) -> impl Stream<Item = io::Result<Connection<Socket>>> + use<> {
        let listener = Listener {
            socket,
            tls: self.access.tls.clone(),
            proxies: TrustedProxies::new(&self.access.trusted_proxies),
            connections: Arc::clone(&self.connections),
            limits: *self.limits.get(),
            offsets,
            in_service,
        };
        listener.incoming()
    }

    /// Serves until `signal` has ended and all connections are closed.
    async fn serve<S, C>(
        self,
        incoming: impl Stream<Item = io::Result<Connection<S>>>,
        calls: C,
        signal: impl Future<Output = ()>,
    ) -> Result<(), tonic::transport::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        C: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
        C::Future: Send,
    {
        let Self { limits, access, connections, ids, clock } = self;
        let proxies = TrustedProxies::new(&access.trusted_proxies);
        let most = limits.get().call_time;
        let header_bytes = usize::try_from(limits.get().header_bytes).unwrap_or(usize::MAX);
        let lines = Arc::new(RateLimiter::per_minute(1, 1));
        transport(&limits.get())
            .layer(MapResponseLayer::new(move |response| add_date(response, clock)))
            .layer(layer_fn(move |inner| ForwardedFor {
                inner,
                proxies: proxies.clone(),
                connections: Arc::clone(&connections),
            }))
            .layer(layer_fn(move |inner| Http1Pacing { inner, header_bytes, lines: Arc::clone(&lines) }))
            .layer(layer_fn(move |inner| WithRequestId { inner, ids: ids.clone() }))
            .layer(option_layer(
                access.hosts.map(|hosts| layer_fn(move |inner| HostCheck { inner, hosts: hosts.clone() })),
            ))
            // Outside of gRPC-Web, which treats every HTTP/1.1 request as a call.
            .layer(option_layer(access.page.map(|page| layer_fn(move |calls| WebPage { page: page.clone(), calls }))))
            // Outside of gRPC-Web, which does not answer preflight requests.
            .layer(option_layer(cors::layer(&access.allow_origins)))
            .layer(GrpcWebLayer::new())
            .layer(layer_fn(move |inner| Deadline { inner, most }))
            .layer(MapResponseLayer::new(add_reasons))
            .serve_with_incoming_shutdown(calls, incoming, signal)
            .await
    }
}

/// The HTTP server, with the limits of one connection that the transport can enforce; [`Listener`] adds the others.
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
}

/// The health service, and reflection: also in its older version, which many tools still ask for.
fn others(runtime: &Runtime, end: &CancellationToken) -> Result<Routes, ServeError> {
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let max = runtime.limits().message_bytes;
    let reflection_v1 = reflection().build_v1()?.max_decoding_message_size(max).accept_compressed(Gzip);
    let reflection_v1alpha = reflection().build_v1alpha()?.max_decoding_message_size(max).accept_compressed(Gzip);
    let health =
        Health { stop: runtime.leaving(), in_service: runtime.in_service(), writable: runtime.writable() }.service(max);
    Ok(Routes::new(EndStreams { service: reflection_v1, end: end.clone() })
        .add_service(EndStreams { service: reflection_v1alpha, end: end.clone() })
        .add_service(EndStreams { service: health, end: end.clone() }))
}

/// Adds the date of the server's clock. The transport would add the system's: in a simulation the bytes of an answer, and
/// with them the order of messages, would change from run to run.
fn add_date<B>(mut response: Response<B>, clock: Clock) -> Response<B> {
    let date = httpdate::fmt_http_date(UNIX_EPOCH + clock.now().since(Timestamp(0)));
    if let Ok(date) = HeaderValue::try_from(date) {
        response.headers_mut().insert(DATE, date);
    }
    response
}

/// Adds a reason to errors that the transport itself returns: a request that is too large or cannot be
/// read, or whose method is not there.
fn add_reasons<B>(mut response: Response<B>) -> Response<B> {
    let headers = response.headers_mut();
    if headers.contains_key(status::REASON) {
        return response;
    }
    let refusal = Status::from_header_map(headers).and_then(|refusal| status::of_transport(&refusal));
    // Always succeeds: statuses made here fit into headers.
    if let Some(Err(error)) = refusal.map(|refusal| refusal.add_header(headers)) {
        tracing::error!(%error, "a refusal does not fit into headers");
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_have_the_date_of_the_servers_clock() {
        let response = add_date(Response::new(()), Clock::starting(Timestamp(1_800_000_000_000_000)));
        assert_eq!(response.headers()[DATE], "Fri, 15 Jan 2027 08:00:00 GMT");
    }
}
