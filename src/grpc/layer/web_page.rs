//! The web page: GET and HEAD requests, which gRPC does not use, get its files.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use axum::Router;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use tonic::body::Body;
use tower::{BoxError, Service};

use super::permit_body::with_permit;
use crate::{
    grpc::transport::connection::Peer,
    runtime::{AddressPermit, ClientAddress, Resource},
};

/// A service that answers GET and HEAD requests with the files of the page.
#[derive(Clone)]
pub(crate) struct WebPage<S> {
    pub(crate) page: Router,
    pub(crate) calls: S,
}

type Answer<S, B> = Result<Response<Body>, <S as Service<Request<B>>>::Error>;

impl<S, B> Service<Request<B>> for WebPage<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Error: Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, BoxFuture<'static, Answer<S, B>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.calls.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Either::Left(self.calls.call(request));
        }
        let Some(permit) = admit(Peer::address(request.extensions())) else {
            return Either::Right(Box::pin(std::future::ready(Ok(too_many_requests()))));
        };
        let response = self.page.call(request);
        Either::Right(Box::pin(async move {
            match response.await {
                Ok(response) => Ok(response.map(|body| with_permit(Body::new(body), permit))),
                Err(never) => match never {},
            }
        }))
    }
}

/// Counts a request, as a call without a player, at its address if known. None if the address is above its limits.
fn admit(address: Option<&Arc<ClientAddress>>) -> Option<Option<AddressPermit>> {
    let Some(address) = address else { return Some(None) };
    address.admit().ok()?;
    address.acquire(Resource::Calls).map(Some)
}

fn too_many_requests() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
