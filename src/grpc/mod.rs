//! The services of `reversi.v1` over a runtime: each method is convert, call, convert.
//!
//! One port speaks gRPC, gRPC-Web and reflection. [`serve`] runs it on a socket that the caller owns.

mod caller;
mod feed;
mod game;
mod json;
mod lobby;
mod page;
mod record;
mod room;
mod session;
mod status;

use std::{any::Any, time::Duration};

use bytes::Bytes;
use prost::Message as _;
use thiserror::Error;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{
    Status,
    body::Body,
    transport::{Server, server::TcpIncoming},
};
use tonic_web::GrpcWebLayer;
use tower::util::MapResponseLayer;
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    proto::{
        DESCRIPTORS, convert,
        server::{
            game_service_server::GameServiceServer, lobby_service_server::LobbyServiceServer,
            record_service_server::RecordServiceServer, room_service_server::RoomServiceServer,
            session_service_server::SessionServiceServer,
        },
        v1,
    },
    room::{Event, Room},
    runtime::{self, Runtime},
};

/// The largest request. Every field has a bound of its own far below it.
pub const MOST_MESSAGE: usize = 64 * 1024;

/// Streams of one connection; a proxy may carry many players over one.
const STREAMS_PER_CONNECTION: u32 = 1_024;

/// How often a silent connection is asked whether it lives: a vanished client is noticed within half a minute.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// How long it may take to answer.
const KEEPALIVE_ANSWER: Duration = Duration::from_secs(10);

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

/// An event as watchers are sent it.
#[must_use]
pub fn encode(event: &Event, after: &Room) -> Bytes {
    let event = convert::room_event(event, after);
    let message = v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Event(event)) };
    message.encode_to_vec().into()
}

/// Serves `runtime` on `listener` until `shutdown` is cancelled and every stream has said goodbye, or the drain
/// deadline has passed. Returns whether all of it ended in time.
///
/// # Errors
/// When the transport fails.
pub async fn serve(runtime: Runtime, listener: TcpListener, shutdown: CancellationToken) -> Result<bool, ServeError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status("", tonic_health::ServingStatus::Serving).await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let drain = runtime.limits().drain;

    let (draining, drained) = (shutdown.clone(), runtime.clone());
    let signal = async move {
        draining.cancelled().await;
        health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        drained.drain();
    };
    let own = || runtime.clone();
    let server = Server::builder()
        .accept_http1(true)
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE_ANSWER))
        .layer(GrpcWebLayer::new())
        .layer(MapResponseLayer::new(name_refusals_of_transport))
        .layer(CatchPanicLayer::custom(report_bug as fn(Box<dyn Any + Send>) -> http::Response<Body>))
        .add_service(health_service)
        .add_service(reflection)
        .add_service(
            SessionServiceServer::new(session::Session { runtime: own() }).max_decoding_message_size(MOST_MESSAGE),
        )
        .add_service(LobbyServiceServer::new(lobby::Lobby { runtime: own() }).max_decoding_message_size(MOST_MESSAGE))
        .add_service(RoomServiceServer::new(room::Rooms { runtime: own() }).max_decoding_message_size(MOST_MESSAGE))
        .add_service(GameServiceServer::new(game::Games { runtime: own() }).max_decoding_message_size(MOST_MESSAGE))
        .add_service(
            RecordServiceServer::new(record::Records { runtime: own() }).max_decoding_message_size(MOST_MESSAGE),
        )
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), signal);

    // One deadline for all: what streams leave of it belongs to the rooms and the AI threads.
    let mut end = None;
    let late = async {
        shutdown.cancelled().await;
        let now = Instant::now();
        end = Some(now + drain);
        tokio::time::sleep_until(now + drain / 4 * 3).await;
    };
    let streams_ended = tokio::select! {
        ended = server => {
            ended?;
            true
        }
        () = late => false,
    };
    let left = end.map_or(drain, |end| end.saturating_duration_since(Instant::now()));
    Ok(runtime.shut_down(left).await && streams_ended)
}

/// A call that panicked is a bug: the client gets a trace id, and the log the rest.
fn report_bug(panic: Box<dyn Any + Send>) -> http::Response<Body> {
    let trace_id = format!("{:x}", runtime::Clock::system().now().0);
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(trace_id, panic = text.unwrap_or("without a text"), "a call panicked");
    status::internal(trace_id).into_http()
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{Layer as _, ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_with_a_trace_id() {
        let broken = service_fn(async |request: http::Request<()>| {
            assert!(request.uri() == "/fine", "a bug");
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let guarded = CatchPanicLayer::custom(report_bug as fn(_) -> _).layer(broken);
        let ask = |uri| guarded.oneshot(http::Request::builder().uri(uri).body(()).unwrap());
        assert!(!ask("/fine").await.unwrap().headers().contains_key("grpc-status"));
        let answer = ask("/broken").await.unwrap();
        assert_eq!(answer.headers()["grpc-status"], "13");
        assert_eq!(answer.headers()[status::REASON], "INTERNAL");
        assert!(!answer.headers()["grpc-message"].to_str().unwrap().contains("bug"), "details are hidden");
    }
}
