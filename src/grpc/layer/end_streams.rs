//! Ends the streams of health and reflection when the server stops, which waits for all open streams.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Status, body::Body, server::NamedService};
use tower::Service;

use crate::grpc::status;

/// A service whose streams end once `end` is cancelled. Messages that are ready by then are sent first.
#[derive(Clone)]
pub(crate) struct EndStreams<S> {
    pub(crate) service: S,
    pub(crate) end: CancellationToken,
}

impl<S: NamedService> NamedService for EndStreams<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for EndStreams<S>
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
        // The request body ends as well: a task that reads it would outlive the response.
        let request = request.map(|body| EndingBody::wrap(body, &self.end, || None));
        let response = self.service.call(request);
        let end = self.end.clone();
        let status = || Some(status::draining(status::RETURN_AFTER_DRAIN));
        Box::pin(async move { Ok(response.await?.map(|body| EndingBody::wrap(body, &end, status))) })
    }
}

struct EndingBody {
    body: Body,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    ended: bool,
    /// The final status of a response body; returns none for a request body.
    status: fn() -> Option<Status>,
}

impl EndingBody {
    fn wrap(body: Body, end: &CancellationToken, status: fn() -> Option<Status>) -> Body {
        Body::new(Self { body, end: Box::pin(end.clone().cancelled_owned()), ended: false, status })
    }
}

impl http_body::Body for EndingBody {
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
        // Dropped now, so that its sender sees that it is closed.
        self.body = Body::empty();
        let Some(status) = (self.status)() else { return Poll::Ready(None) };
        let mut trailers = HeaderMap::new();
        Poll::Ready(Some(status.add_header(&mut trailers).map(|()| Frame::trailers(trailers))))
    }

    /// Without it an answer that is a status only would be sent as headers and an empty message.
    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    /// At most what the body has: it may end earlier.
    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        if let Some(upper) = self.body.size_hint().upper() {
            hint.set_upper(upper);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    #[test]
    fn a_body_that_can_end_early_does_not_hide_its_own_end() {
        let wrap = |body| EndingBody::wrap(body, &CancellationToken::new(), || None);
        let (empty, text) = (wrap(Body::empty()), wrap(Body::new("text".to_owned())));
        assert_eq!((empty.is_end_stream(), empty.size_hint().exact()), (true, Some(0)));
        assert_eq!((text.is_end_stream(), text.size_hint().upper(), text.size_hint().lower()), (false, Some(4), 0));
    }
}
