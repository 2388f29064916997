//! A name for each call, by which a client, an operator and the log can speak of it.

use std::{
    any::Any,
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
use tower::{Layer, Service};
use tracing::Instrument as _;

use crate::grpc::status;

/// The header of every answer that has the name of the call.
pub(crate) const REQUEST_ID: &str = "reversi-request-id";

tokio::task_local! {
    static CURRENT: RequestId;
}

/// The name of a call: this process, and the number of the call. Nothing that a client sends is in it.
#[derive(Clone, Debug)]
struct RequestId(Arc<str>);

/// Names the calls of one server, in their answers and in a span of the log.
#[derive(Clone)]
pub(crate) struct NameCalls {
    process: u32,
    calls: Arc<AtomicU64>,
}

/// A service whose calls have names.
#[derive(Clone)]
pub(crate) struct Named<S> {
    inner: S,
    names: NameCalls,
}

impl NameCalls {
    pub(crate) fn new(process: u32) -> Self {
        Self { process, calls: Arc::default() }
    }

    fn next(&self) -> RequestId {
        RequestId(format!("{:08x}-{:x}", self.process, self.calls.fetch_add(1, Relaxed)).into())
    }
}

impl<S> Layer<S> for NameCalls {
    type Service = Named<S>;

    fn layer(&self, inner: S) -> Named<S> {
        Named { inner, names: self.clone() }
    }
}

impl<S, Request, Answer> Service<http::Request<Request>> for Named<S>
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
        let id = self.names.next();
        // At the usual level: without it no line of a call would say which. Nothing is formatted where nobody listens.
        let span = tracing::info_span!("call", method = request.uri().path(), request = &*id.0);
        let name = HeaderValue::from_str(&id.0);
        let answer = CURRENT.scope(id, self.inner.call(request)).instrument(span);
        Box::pin(async move {
            let mut answer = answer.await?;
            // Hexadecimal digits always fit.
            if let Ok(name) = name {
                answer.headers_mut().insert(REQUEST_ID, name);
            }
            Ok(answer)
        })
    }
}

/// The name of the call that is being answered; empty outside of one.
pub(crate) fn current() -> String {
    CURRENT.try_with(|id| id.0.to_string()).unwrap_or_default()
}

/// Answers a call even when that panics, which is a bug: it costs that call, and not its connection.
pub(crate) async fn caught<E>(
    answer: impl Future<Output = Result<http::Response<Body>, E>>,
) -> Result<http::Response<Body>, E> {
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|panic| Ok(report(&*panic)))
}

/// The client gets the name of the call, and the log the rest.
fn report(panic: &(dyn Any + Send)) -> http::Response<Body> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let trace_id = current();
    tracing::error!(trace_id, panic = text.unwrap_or("without a text"), "a call panicked");
    status::internal(trace_id).into_http()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_by_the_name_of_the_call() {
        let broken = service_fn(|request: http::Request<()>| {
            caught(async move {
                assert!(request.uri() == "/fine", "a bug");
                Ok::<_, Infallible>(http::Response::new(Body::empty()))
            })
        });
        let named = NameCalls::new(7).layer(broken);
        let ask = |uri| named.clone().oneshot(http::Request::builder().uri(uri).body(()).unwrap());
        let fine = ask("/fine").await.unwrap();
        assert!(!fine.headers().contains_key("grpc-status"));
        let answer = ask("/broken").await.unwrap();
        let (first, second) = (&fine.headers()[REQUEST_ID], &answer.headers()[REQUEST_ID]);
        assert_ne!(first, second);
        assert_eq!(answer.headers()["grpc-status"], "13");
        assert_eq!(answer.headers()[status::REASON], "INTERNAL");
        let message = answer.headers()["grpc-message"].to_str().unwrap();
        assert!(!message.contains("bug"), "details are hidden");
        let told = tonic::Status::from_header_map(answer.headers()).unwrap();
        let details = tonic_types::StatusExt::get_details_error_info(&told).unwrap();
        assert_eq!(details.metadata["trace_id"], second.to_str().unwrap());
    }
}
