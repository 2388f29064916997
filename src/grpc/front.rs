//! The page before the calls: a browser asks for it by GET, which no call is made by.

use std::task::{Context, Poll};

use axum::Router;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either};
use http::{Method, Request, Response};
use tonic::body::Body;
use tower::{BoxError, Layer, Service};

/// Answers what is asked for by GET from a page.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) page: Router,
}

/// A service with a page before it.
#[derive(Clone)]
pub(super) struct Fronted<S> {
    page: Router,
    calls: S,
}

impl<S> Layer<S> for Front {
    type Service = Fronted<S>;

    fn layer(&self, calls: S) -> Fronted<S> {
        Fronted { page: self.page.clone(), calls }
    }
}

type Answered<S, B> = Result<Response<Body>, <S as Service<Request<B>>>::Error>;

impl<S, B> Service<Request<B>> for Fronted<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Error: Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, BoxFuture<'static, Answered<S, B>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.calls.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Either::Left(self.calls.call(request));
        }
        let answer = self.page.call(request);
        Either::Right(Box::pin(async move {
            match answer.await {
                Ok(answer) => Ok(answer.map(Body::new)),
                Err(never) => match never {},
            }
        }))
    }
}
