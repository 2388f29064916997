//! Services of other crates, whose streams know of no end: here they end with the server.
//!
//! Stopping waits for every open stream, so one that goes on for ever would hold it up to its deadline.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Status, body::Body, server::NamedService};
use tower::Service;

use crate::grpc::{service::streaming::RETURN_AFTER_DRAIN, status};

/// A service whose streams end soon after `end` is cancelled: what they have to say by then is said first.
#[derive(Clone)]
pub(crate) struct Farewell<S> {
    pub(crate) service: S,
    pub(crate) end: CancellationToken,
}

impl<S: NamedService> NamedService for Farewell<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Farewell<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Questions end as well: whoever waits for more of them lives on without listeners.
        let questions = request.map(|body| Ending::of(body, &self.end, || None));
        let answer = self.service.call(questions);
        let end = self.end.clone();
        let told = || Some(status::draining(RETURN_AFTER_DRAIN));
        Box::pin(async move { Ok(answer.await?.map(|body| Ending::of(body, &end, told))) })
    }
}

struct Ending {
    body: Body,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    ended: bool,
    /// What is said last.
    told: fn() -> Option<Status>,
}

impl Ending {
    fn of(body: Body, end: &CancellationToken, told: fn() -> Option<Status>) -> Body {
        Body::new(Self { body, end: Box::pin(end.clone().cancelled_owned()), ended: false, told })
    }
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        ready!(self.end.as_mut().poll(context));
        self.ended = true;
        // Whoever is at its other end sees at once that nobody is here any more.
        self.body = Body::empty();
        let Some(status) = (self.told)() else { return Poll::Ready(None) };
        let mut trailers = HeaderMap::new();
        Poll::Ready(Some(status.add_header(&mut trailers).map(|()| Frame::trailers(trailers))))
    }
}
