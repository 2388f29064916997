//! The answers of a server that stands by for another one.

use std::{
    convert::Infallible,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::{body::Body, codec::CompressionEncoding::Gzip};
use tonic_health::pb::health_server::{self, HealthServer};
use tower::Service;

use super::health::Health;
use crate::{
    grpc::{layer::end_streams::EndStreams, status},
    runtime::Limits,
};

/// The wait before a refusal, so that a client that repeats calls at once costs little.
const REFUSAL_DELAY: Duration = Duration::from_millis(250);

/// Health, and the refusal of every other call.
#[derive(Clone)]
pub(crate) struct Standby {
    health: EndStreams<HealthServer<Health>>,
}

impl Standby {
    /// Streams end once `end` is cancelled.
    pub(crate) fn new(limits: &Limits, end: CancellationToken) -> Self {
        // Nothing can be written yet.
        let (_, writable) = watch::channel(false);
        let health = HealthServer::new(Health { stop: end.clone(), writable });
        let service = health.max_decoding_message_size(limits.message_bytes).accept_compressed(Gzip);
        Self { health: EndStreams { service, end } }
    }
}

impl Service<Request<Body>> for Standby {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.uri().path().split('/').nth(1) == Some(health_server::SERVICE_NAME) {
            return self.health.call(request);
        }
        Box::pin(async {
            tokio::time::sleep(REFUSAL_DELAY).await;
            Ok(status::standing_by().into_http())
        })
    }
}
