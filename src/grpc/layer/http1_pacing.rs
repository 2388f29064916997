//! How fast requests of HTTP/1.1 are taken in: those from one address wait for each other.
//!
//! On such a connection a client can send thousands of requests without waiting for an answer, at next to no cost, and
//! each of them costs the server as much as a call. Calls over HTTP/2 have their bounds in streams and players.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{BoxFuture, Either};
use http::Version;
use tokio::time::{Instant, sleep_until};
use tower::{Layer, Service};

use crate::{grpc::transport::connection::Peer, runtime::Address};

/// Makes the requests of HTTP/1.1 wait for their turns.
#[derive(Clone)]
pub(crate) struct Throttle;

/// A service whose requests do.
#[derive(Clone)]
pub(crate) struct Throttled<S> {
    inner: S,
}

impl<S> Layer<S> for Throttle {
    type Service = Throttled<S>;

    fn layer(&self, inner: S) -> Throttled<S> {
        Throttled { inner }
    }
}

impl<S, B> Service<http::Request<B>> for Throttled<S>
where
    S: Service<http::Request<B>, Response: Send, Error: Send> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, BoxFuture<'static, Result<S::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let address = Peer::address(request.extensions()).cloned();
        let (Version::HTTP_11 | Version::HTTP_10, Some(address)) = (request.version(), address) else {
            return Either::Left(self.inner.call(request));
        };
        // The one that is ready; its copy may not be.
        let copy = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, copy);
        Either::Right(Box::pin(async move {
            wait(&address).await;
            inner.call(request).await
        }))
    }
}

/// Whoever hangs up gives the turn back, so that nobody waits for more than the connections that the address has.
async fn wait(address: &Arc<Address>) {
    let now = Instant::now();
    let turn = address.turn_of_http1(now);
    if turn.at() > now {
        sleep_until(turn.at()).await;
    } else {
        // One request at a time, so that a connection with many of them does not keep all others waiting.
        tokio::task::yield_now().await;
    }
    turn.is_used();
}
