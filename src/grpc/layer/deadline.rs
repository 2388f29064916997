//! Ends a call that is not answered within the time that its client gave, or within that of the server.
//!
//! The transport does so, too, but says CANCELLED, as if the client had given up.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use tokio::time::timeout;
use tonic::body::Body;
use tower::Service;

use crate::grpc::status;

/// A service whose calls end in time.
#[derive(Clone)]
pub(crate) struct Deadline<S> {
    pub(crate) inner: S,
    /// The longest time for an answer to begin.
    pub(crate) most: Duration,
}

/// Before the transport, whose timer starts earlier by less than the grain of timers.
const AHEAD: Duration = Duration::from_millis(2);

impl<S> Service<Request<Body>> for Deadline<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let time = given(request.headers()).map_or(self.most, |given| given.min(self.most));
        let answer = timeout(time.saturating_sub(AHEAD), self.inner.call(request));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Ok(status::deadline_exceeded().into_http())) })
    }
}

/// The time in `grpc-timeout`: up to eight digits and a unit. None if there is none; the transport ignores others, too.
fn given(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3_600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_digits_and_a_unit() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", text.parse().unwrap());
            given(&headers)
        };
        assert_eq!(read("3H"), Some(Duration::from_secs(10_800)));
        assert_eq!(["2M", "120S", "120000m"].map(read), [Some(Duration::from_secs(120)); 3]);
        assert_eq!(["1m", "1000u", "1000000n"].map(read), [Some(Duration::from_millis(1)); 3]);
        assert_eq!(read("99999999H").map(|time| time.as_secs()), Some(99_999_999 * 3_600));
        assert_eq!(["", "S", "1", "-1S", "+1S", "1.5S", "123456789S", "1D"].map(read), [None; 8]);
    }
}
