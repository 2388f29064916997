//! The page before the calls: a browser asks for it by GET, which no call is made by.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use axum::Router;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use tonic::body::Body;
use tower::{BoxError, Layer, Service};

use super::permit_body::counted;
use crate::{
    grpc::transport::connection::Peer,
    runtime::{Address, Share, Taken},
};

/// Answers what is asked for by GET from a page.
#[derive(Clone)]
pub(crate) struct Front {
    pub(crate) page: Router,
}

/// A service with a page before it.
#[derive(Clone)]
pub(crate) struct Fronted<S> {
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
        let taken = match take(Peer::address(request.extensions())) {
            Ok(taken) => taken,
            Err(TooMuch) => return Either::Right(Box::pin(std::future::ready(Ok(refusal())))),
        };
        let answer = self.page.call(request);
        Either::Right(Box::pin(async move {
            match answer.await {
                Ok(answer) => Ok(answer.map(|body| counted(Body::new(body), taken))),
                Err(never) => match never {},
            }
        }))
    }
}

/// Counts a request at its address, as a call of nobody.
fn take(address: Option<&Arc<Address>>) -> Result<Option<Taken>, TooMuch> {
    let Some(address) = address else { return Ok(None) };
    let taken = address.admit().ok().and_then(|()| address.take(Share::Calls));
    taken.map(Some).ok_or(TooMuch)
}

/// The address asks more often, or for more at a time, than it may.
struct TooMuch;

fn refusal() -> Response<Body> {
    let mut refusal = Response::new(Body::empty());
    *refusal.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    refusal.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    refusal
}
