//! Requests for hosts that the server does not have are refused. A page of any site may give its own name the address
//! of this machine (DNS rebinding), and the browser then lets it call a server that only this machine can reach. Such a
//! request names the site as its host.

use std::{
    net::IpAddr,
    str::FromStr,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{Either, Ready, ready};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header, uri::Authority};
use thiserror::Error;
use tonic::body::Body;
use tower::Service;

use crate::grpc::status;

const REFUSAL: &str =
    "This server does not serve the host of the request. Its operator can add the name with --host NAME.\n";

/// A name under which clients call the server, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

/// A text that is not a [`HostName`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a host is a name such as reversi.example.org, without a scheme and a port")]
pub struct ParseHostNameError;

impl FromStr for HostName {
    type Err = ParseHostNameError;

    fn from_str(text: &str) -> Result<Self, ParseHostNameError> {
        let authority: Authority = text.parse().map_err(|_| ParseHostNameError)?;
        (authority.host() == text).then(|| Self(canonical(text))).ok_or(ParseHostNameError)
    }
}

/// The hosts of a server. Besides its names these are `localhost` and all addresses, since DNS rebinding needs a name.
#[derive(Clone, Debug)]
pub struct ServedHosts(Arc<[HostName]>);

impl ServedHosts {
    /// The hosts of a server with these names.
    #[must_use]
    pub fn new(names: &[HostName]) -> Self {
        Self(names.into())
    }

    /// Whether a request is for one of them. A request without a host is.
    #[must_use]
    pub fn serves<B>(&self, request: &Request<B>) -> bool {
        match request.uri().host() {
            Some(host) => self.contains(host),
            None => self.serves_header(request.headers()),
        }
    }

    fn serves_header(&self, headers: &HeaderMap) -> bool {
        let Some(header) = headers.get(header::HOST) else { return true };
        let authority = header.to_str().ok().and_then(|text| text.parse::<Authority>().ok());
        authority.is_some_and(|authority| self.contains(authority.host()))
    }

    fn contains(&self, host: &str) -> bool {
        let host = canonical(host);
        host == "localhost"
            || host.ends_with(".localhost")
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || self.0.iter().any(|name| name.0 == host)
    }
}

fn canonical(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// A service that refuses requests for other hosts.
#[derive(Clone)]
pub(crate) struct HostCheck<S> {
    pub(crate) inner: S,
    pub(crate) hosts: ServedHosts,
}

impl<S, B> Service<Request<B>> for HostCheck<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.hosts.serves(&request) {
            return Either::Left(self.inner.call(request));
        }
        Either::Right(ready(Ok(refusal(request.headers()))))
    }
}

/// A gRPC error for a call of gRPC, otherwise 421 Misdirected Request.
fn refusal(headers: &HeaderMap) -> Response<Body> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind == "application/grpc" || kind.starts_with("application/grpc+") {
        return status::host_not_served(REFUSAL.trim_end()).into_http();
    }
    let mut response = Response::new(Body::new(axum::body::Body::from(REFUSAL)));
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_given_names_are_served() {
        let hosts = ServedHosts::new(&["Reversi.Example.org".parse().unwrap()]);
        let by_uri = |host: &str| hosts.serves(&Request::get(format!("http://{host}/")).body(()).unwrap());
        let by_header = |host: &str| hosts.serves(&Request::get("/").header("host", host).body(()).unwrap());
        for good in [
            "localhost:50051",
            "LOCALHOST",
            "a.localhost",
            "127.0.0.1:50051",
            "[::1]:50051",
            "[::1]",
            "192.0.2.1",
            "reversi.example.org",
            "REVERSI.example.org.:443",
        ] {
            assert!(by_uri(good) && by_header(good), "{good}");
        }
        for bad in ["evil.example", "reversi.example.org.evil.example", "localhost.evil.example:50051", "x"] {
            assert!(!by_uri(bad) && !by_header(bad), "{bad}");
        }
        assert!(!by_header("a b") && hosts.serves(&Request::get("/").body(()).unwrap()));
    }

    #[test]
    fn a_host_name_has_no_scheme_and_no_port() {
        for bad in ["", "http://x", "x:1", "a@x", "x/y", "a b"] {
            assert_eq!(bad.parse::<HostName>(), Err(ParseHostNameError), "{bad}");
        }
        assert_eq!("X.org.".parse::<HostName>(), Ok(HostName("x.org".into())));
    }
}
