//! Cross-origin requests (CORS). By default pages of other origins may not call the server.

use std::{str::FromStr, time::Duration};

use http::{HeaderName, HeaderValue, Method, Uri, header};
use thiserror::Error;
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::request_id;
use crate::grpc::status;

/// The request headers that a page may send.
const REQUEST_HEADERS: [HeaderName; 5] = [
    header::CONTENT_TYPE,
    header::AUTHORIZATION,
    HeaderName::from_static("x-grpc-web"),
    HeaderName::from_static("x-user-agent"),
    HeaderName::from_static("grpc-timeout"),
];

/// The response headers that a page may read; they have the status of a refused call.
const RESPONSE_HEADERS: [HeaderName; 5] = [
    HeaderName::from_static("grpc-status"),
    HeaderName::from_static("grpc-message"),
    HeaderName::from_static("grpc-status-details-bin"),
    HeaderName::from_static(status::REASON),
    HeaderName::from_static(request_id::REQUEST_ID),
];

/// Time for which a browser may cache the answer to a preflight request: the longest that browsers accept.
const MAX_AGE: Duration = Duration::from_secs(2 * 60 * 60);

/// An origin whose pages may call: a scheme, a host and an optional port, or `*` for all origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(HeaderValue);

/// A text that is not an origin.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("an origin is like https://example.org, without a path; or *")]
pub struct ParseOriginError;

impl FromStr for Origin {
    type Err = ParseOriginError;

    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        let uri = || text.parse::<Uri>().ok();
        // Without a path, and in lower case, as browsers send it.
        let is_origin = |uri: Uri| {
            let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
            !authority.as_str().contains('@') && text == format!("{scheme}://{authority}").to_lowercase()
        };
        let good = text == "*" || uri().is_some_and(is_origin);
        good.then(|| HeaderValue::from_str(text).ok()).flatten().map(Self).ok_or(ParseOriginError)
    }
}

/// The layer that allows calls from pages of `origins`; none if there are no origins.
pub(crate) fn layer(origins: &[Origin]) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    let any = origins.iter().any(|origin| origin.0 == "*");
    let origins =
        if any { AllowOrigin::any() } else { AllowOrigin::list(origins.iter().map(|origin| origin.0.clone())) };
    let layer = CorsLayer::new().allow_origin(origins).allow_methods([Method::POST]);
    Some(layer.allow_headers(REQUEST_HEADERS).expose_headers(RESPONSE_HEADERS).max_age(MAX_AGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_like_browsers_send_it() {
        for good in ["*", "https://example.org", "http://localhost:5173", "https://[::1]:8443"] {
            assert!(good.parse::<Origin>().is_ok(), "{good}");
        }
        for bad in ["", "example.org", "https://example.org/", "https://example.org/page", "https://Example.org", "a b"]
        {
            assert_eq!(bad.parse::<Origin>(), Err(ParseOriginError), "{bad}");
        }
    }
}
