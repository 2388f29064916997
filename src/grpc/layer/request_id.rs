//! An id for each call, in the response and in the log. A call that panics is answered with INTERNAL and the id.

use std::{
    any::Any,
    cell::Cell,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use futures_util::FutureExt as _;
use http::HeaderValue;
use tonic::body::Body;
use tower::Service;
use tracing::Instrument as _;

use crate::{grpc::status, room::GameId};

/// The response header with the id of the call.
pub(crate) const REQUEST_ID: &str = "reversi-request-id";

tokio::task_local! {
    static CURRENT: CurrentCall;
}

struct CurrentCall {
    id: Arc<str>,
    game: Cell<Option<GameId>>,
}

/// The ids of calls: a random number of the process, and the number of the call. Nothing in them comes from the client.
#[derive(Clone)]
pub(crate) struct RequestIds {
    process: u32,
    calls: Arc<AtomicU64>,
}

/// A service that gives each call an id, in a header of the response and in a span of the log.
#[derive(Clone)]
pub(crate) struct WithRequestId<S> {
    pub(crate) inner: S,
    pub(crate) ids: RequestIds,
}

impl RequestIds {
    pub(crate) fn new(process: u32) -> Self {
        Self { process, calls: Arc::default() }
    }

    fn next(&self) -> Arc<str> {
        format!("{:08x}-{:x}", self.process, self.calls.fetch_add(1, Relaxed)).into()
    }
}

impl<S, Request, Answer> Service<http::Request<Request>> for WithRequestId<S>
where
    S: Service<http::Request<Request>, Response = http::Response<Answer>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Request>) -> Self::Future {
        let id = self.ids.next();
        // At info level, so that each log line has it. Without a subscriber nothing is formatted.
        let span = tracing::info_span!("call", method = request.uri().path(), request = &*id);
        let header = HeaderValue::from_str(&id);
        let response =
            CURRENT.scope(CurrentCall { id, game: Cell::new(None) }, self.inner.call(request)).instrument(span);
        Box::pin(async move {
            let mut response = response.await?;
            // Always succeeds: the id has hexadecimal digits only.
            if let Ok(header) = header {
                response.headers_mut().insert(REQUEST_ID, header);
            }
            Ok(response)
        })
    }
}

/// The id of the current call; empty outside of a call.
pub(crate) fn current() -> String {
    CURRENT.try_with(|call| call.id.to_string()).unwrap_or_default()
}

/// Notes the game that the current call is about, for its refusal. The layers see only the answer.
pub(crate) fn note_game(game: GameId) {
    // Not in a stream, which is read after its call.
    let _ = CURRENT.try_with(|call| call.game.set(Some(game)));
}

/// The game that the current call is about, if it has named one.
pub(crate) fn game() -> Option<GameId> {
    CURRENT.try_with(|call| call.game.get()).ok().flatten()
}

/// Answers INTERNAL for a call that panics. Otherwise a panic would end the connection and all streams on it.
pub(crate) async fn catch_panic<E>(
    response: impl Future<Output = Result<http::Response<Body>, E>>,
) -> Result<http::Response<Body>, E> {
    AssertUnwindSafe(response).catch_unwind().await.unwrap_or_else(|panic| Ok(internal(&*panic)))
}

/// Logs the panic; the client gets only the id of the call.
fn internal(panic: &(dyn Any + Send)) -> http::Response<Body> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let trace_id = current();
    tracing::error!(trace_id, panic = text.unwrap_or("no message"), "a call panicked");
    status::internal(trace_id).into_http()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_with_the_id_of_the_call() {
        let broken = service_fn(|request: http::Request<()>| {
            catch_panic(async move {
                assert!(request.uri() == "/fine", "a bug");
                Ok::<_, Infallible>(http::Response::new(Body::empty()))
            })
        });
        let service = WithRequestId { inner: broken, ids: RequestIds::new(7) };
        let ask = |uri| service.clone().oneshot(http::Request::builder().uri(uri).body(()).unwrap());
        let fine = ask("/fine").await.unwrap();
        assert!(!fine.headers().contains_key("grpc-status"));
        let response = ask("/broken").await.unwrap();
        let (first, second) = (&fine.headers()[REQUEST_ID], &response.headers()[REQUEST_ID]);
        assert_ne!(first, second);
        assert_eq!(response.headers()["grpc-status"], "13");
        assert_eq!(response.headers()[status::REASON], "INTERNAL");
        let message = response.headers()["grpc-message"].to_str().unwrap();
        assert!(!message.contains("bug"), "details are hidden");
        let status = tonic::Status::from_header_map(response.headers()).unwrap();
        let details = tonic_types::StatusExt::get_details_error_info(&status).unwrap();
        assert_eq!(details.metadata["trace_id"], second.to_str().unwrap());
    }
}
