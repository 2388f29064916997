//! The answers of a server that stands by for another one.

use std::time::Duration;

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use super::health::Health;
use crate::{
    grpc::{layer::end_streams::EndStreams, status},
    runtime::Limits,
};

/// The wait before a refusal, so that a client that repeats calls at once costs little.
const REFUSAL_DELAY: Duration = Duration::from_millis(250);

/// Health, and the refusal of every other call. Streams end once `end` is cancelled.
pub(crate) fn standby(limits: &Limits, end: CancellationToken) -> Routes {
    // Nothing can be written yet.
    let (_, writable) = watch::channel(false);
    let health = Health { stop: end.clone(), in_service: writable.clone(), writable }.service(limits.message_bytes);
    let refuse = || async {
        sleep(REFUSAL_DELAY).await;
        status::standing_by().into_http::<axum::body::Body>()
    };
    Routes::from(axum::Router::new().fallback(refuse)).add_service(EndStreams { service: health, end })
}
