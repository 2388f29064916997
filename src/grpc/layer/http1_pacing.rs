//! Delays HTTP/1.1 requests above the rate of their address, and refuses calls of gRPC, which needs HTTP/2, among them.
//!
//! On an HTTP/1.1 connection a client can send thousands of requests without waiting for a response, and each costs the
//! server as much as a call; `benches/abuse` measures the effect on other clients. Calls over HTTP/2 are bounded by
//! the number of streams of a connection and by the rates of players.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{BoxFuture, Either};
use http::{StatusCode, Version, header::CONTENT_TYPE};
use tokio::time::{Instant, sleep_until};
use tower::Service;

use crate::{
    grpc::{status, transport::connection::Peer},
    runtime::{ClientAddress, RateLimiter},
};

/// A service whose HTTP/1.1 requests are delayed, and refused if their heads are longer than those of HTTP/2 may be.
#[derive(Clone)]
pub(crate) struct Http1Pacing<S> {
    pub(crate) inner: S,
    pub(crate) header_bytes: usize,
    /// The rate of lines in the log about calls of gRPC.
    pub(crate) lines: Arc<RateLimiter>,
}

impl<S, B, A> Service<http::Request<B>> for Http1Pacing<S>
where
    S: Service<http::Request<B>, Response = http::Response<A>, Error: Send> + Clone + Send + 'static,
    S::Future: Send,
    A: Default + Send + 'static,
    B: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, BoxFuture<'static, Result<S::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        if !matches!(request.version(), Version::HTTP_11 | Version::HTTP_10) {
            return Either::Left(self.inner.call(request));
        }
        let address = Peer::address(request.extensions()).cloned();
        let lines = is_grpc(&request).then(|| Arc::clone(&self.lines));
        // The clone may not be ready; the polled service is.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let is_too_long = head_bytes(&request) > self.header_bytes;
        Either::Right(Box::pin(async move {
            if is_too_long {
                let mut refusal = http::Response::new(A::default());
                *refusal.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                return Ok(refusal);
            }
            if let Some(address) = &address {
                wait(address).await;
            }
            match lines {
                Some(lines) => Ok(refuse_grpc(&lines)),
                None => inner.call(request).await,
            }
        }))
    }
}

fn is_grpc<B>(request: &http::Request<B>) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.strip_prefix("application/grpc").is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
}

/// A status in the headers, which a proxy passes on to its client of gRPC.
fn refuse_grpc<A: Default>(lines: &RateLimiter) -> http::Response<A> {
    if lines.admit().is_ok() {
        tracing::warn!(
            "a gRPC call came over HTTP/1, and was refused: let the proxy call this server over HTTP/2, in nginx by \
             grpc_pass instead of proxy_pass"
        );
    }
    status::needs_http2().into_http()
}

/// About the length of a request's head as it was sent.
fn head_bytes<B>(request: &http::Request<B>) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let fields = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.method().as_str().len() + target + "  HTTP/1.1\r\n\r\n".len() + fields.sum::<usize>()
}

/// Waits until a request may start. A closed connection frees its slot, so each has at most one request waiting.
async fn wait(address: &Arc<ClientAddress>) {
    let now = Instant::now();
    let turn = address.http1_slot(now);
    if turn.start > now {
        sleep_until(turn.start).await;
    } else {
        // One request at a time, so that a connection with many requests does not delay other connections.
        tokio::task::yield_now().await;
    }
    turn.mark_used();
}
