//! How fast requests of HTTP/1.1 are taken in: those from one place wait for each other.
//!
//! On such a connection a client can send thousands of requests without waiting for an answer, at next to no cost, and
//! each of them costs the server as much as a call. Calls over HTTP/2 have their bounds in streams and players.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use http::Version;
use tokio::time::{Instant, sleep_until};
use tower::{Layer, Service};

use super::remote::Remote;
use crate::runtime::Limits;

/// Makes the requests of HTTP/1.1 of a server wait for their turns.
#[derive(Clone)]
pub(super) struct Pace(Arc<Turns>);

/// A service whose requests do.
#[derive(Clone)]
pub(super) struct Paced<S> {
    inner: S,
    pace: Pace,
}

impl Pace {
    pub(super) fn new(limits: &Limits) -> Self {
        let every = Duration::from_secs(1) / limits.http1_requests_per_second.max(1);
        Self(Arc::new(Turns { every, ahead: every * limits.http1_request_burst, next: Mutex::default() }))
    }

    async fn wait(&self, remote: Remote) {
        let now = Instant::now();
        let turn = self.0.take(remote, now);
        if turn > now {
            sleep_until(turn).await;
        } else {
            // One request at a time, so that a connection with many of them does not keep all others waiting.
            tokio::task::yield_now().await;
        }
    }
}

impl<S> Layer<S> for Pace {
    type Service = Paced<S>;

    fn layer(&self, inner: S) -> Paced<S> {
        Paced { inner, pace: self.clone() }
    }
}

impl<S, B> Service<http::Request<B>> for Paced<S>
where
    S: Service<http::Request<B>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let remote = request.extensions().get::<Remote>().copied();
        let (Version::HTTP_11 | Version::HTTP_10, Some(remote)) = (request.version(), remote) else {
            return Box::pin(self.inner.call(request));
        };
        // The one that is ready; its copy may not be.
        let copy = self.inner.clone();
        let (mut inner, pace) = (std::mem::replace(&mut self.inner, copy), self.pace.clone());
        Box::pin(async move {
            pace.wait(remote).await;
            inner.call(request).await
        })
    }
}

/// When it is whose turn.
struct Turns {
    /// The time between two turns of a place.
    every: Duration,
    /// How much earlier than that they may come.
    ahead: Duration,
    /// When the next turn would be, of those who have asked of late.
    next: Mutex<HashMap<Remote, Instant>>,
}

/// Fewer places are not worth looking through.
const LEAST_SWEPT: usize = 1_024;

impl Turns {
    /// Takes the next turn of a place. As each turn is one request's, and a connection has one at a time, nobody waits
    /// longer than the connections of its place take together.
    fn take(&self, remote: Remote, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.len() >= LEAST_SWEPT && next.len() == next.capacity() {
            next.retain(|_, turn| *turn > now);
        }
        let turn = next.entry(remote).or_insert(now);
        *turn = now.max(*turn) + self.every;
        turn.checked_sub(self.every + self.ahead).map_or(now, |turn| turn.max(now))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn turns() -> Turns {
        let limits = Limits { http1_requests_per_second: 10, http1_request_burst: 3, ..Limits::default() };
        Arc::into_inner(Pace::new(&limits).0).unwrap()
    }

    fn remote(number: u32) -> Remote {
        IpAddr::V4(Ipv4Addr::from_bits(number)).into()
    }

    #[test]
    fn turns_come_at_once_and_then_one_by_one() {
        let (turns, now) = (turns(), Instant::now());
        let after = |now: Instant| turns.take(remote(1), now).duration_since(now).as_millis();
        assert_eq!([(); 6].map(|()| after(now)), [0, 0, 0, 0, 100, 200]);
        assert_eq!(turns.take(remote(2), now), now, "others do not wait for them");
        let later = now + Duration::from_secs(60);
        assert_eq!([(); 5].map(|()| after(later)), [0, 0, 0, 0, 100]);
    }

    #[test]
    fn those_whose_turns_are_over_are_forgotten() {
        let (turns, mut now) = (turns(), Instant::now());
        for number in 0..100_000 {
            turns.take(remote(number), now);
            now += turns.every / 100;
        }
        assert!(turns.next.lock().unwrap().len() < 4 * LEAST_SWEPT);
    }
}
