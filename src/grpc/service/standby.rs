//! The answers of a server that serves no clients: it stands by for another one, or is out of service.

use std::time::Duration;

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tonic::{Status, service::Routes};

use super::health::Health;
use crate::{grpc::layer::end_streams::EndStreams, runtime::Limits};

/// The wait before a refusal, so that a client that repeats calls at once costs little.
const REFUSAL_DELAY: Duration = Duration::from_millis(250);

/// Health, and the refusal of every other call. Streams end once `end` is cancelled.
pub(crate) fn refuse_all(limits: &Limits, end: CancellationToken, refusal: fn() -> Status) -> Routes {
    let (_, not_yet) = watch::channel(false);
    let health = Health { stop: end.clone(), in_service: not_yet.clone(), writable: not_yet };
    let health = health.service(limits.message_bytes);
    let refuse = move || async move {
        sleep(REFUSAL_DELAY).await;
        refusal().into_http::<axum::body::Body>()
    };
    Routes::from(axum::Router::new().fallback(refuse)).add_service(EndStreams { service: health, end })
}
