//! The health service of gRPC. The server is ready while it runs, is in service and can write; it is alive as long as it
//! answers.

use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, codec::CompressionEncoding::Gzip};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse,
    health_check_response::ServingStatus,
    health_server::{self, HealthServer},
};
use tonic_reflection::pb::{v1, v1alpha};

use super::router;

/// The services beside those of the router.
const OTHERS: [&str; 3] = [
    health_server::SERVICE_NAME,
    v1::server_reflection_server::SERVICE_NAME,
    v1alpha::server_reflection_server::SERVICE_NAME,
];

/// The name that is asked whether the process is alive. A server that only cannot write need not be restarted.
const LIVENESS: &str = "liveness";

/// The health of the whole server, whose name is empty, and of each of its services.
#[derive(Clone)]
pub(crate) struct Health {
    /// Cancelled when the server is about to end.
    pub(crate) stop: CancellationToken,
    /// Whether the server may serve clients.
    pub(crate) in_service: Receiver<bool>,
    /// Whether the store can be written.
    pub(crate) writable: Receiver<bool>,
}

impl Health {
    /// Requests have at most `max` bytes.
    pub(crate) fn service(self, max: usize) -> HealthServer<Self> {
        HealthServer::new(self).max_decoding_message_size(max).accept_compressed(Gzip)
    }

    fn status(&self, service: &str) -> ServingStatus {
        let ready = !self.stop.is_cancelled() && *self.in_service.borrow() && *self.writable.borrow();
        if ready || service == LIVENESS { ServingStatus::Serving } else { ServingStatus::NotServing }
    }

    /// The next status that differs from `known`.
    async fn next(&mut self, service: &str, known: ServingStatus) -> ServingStatus {
        loop {
            self.in_service.mark_unchanged();
            self.writable.mark_unchanged();
            let status = self.status(service);
            if status != known {
                return status;
            }
            let changed = tokio::select! {
                biased;
                () = self.stop.cancelled(), if !self.stop.is_cancelled() => true,
                changed = self.in_service.changed() => changed.is_ok(),
                changed = self.writable.changed() => changed.is_ok(),
            };
            if !changed {
                return std::future::pending().await;
            }
        }
    }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        if is_known(&request.get_ref().service) {
            return Ok(Response::new(response(self.status(&request.get_ref().service))));
        }
        Err(Status::not_found("no such service; leave the name empty to ask for the whole server"))
    }

    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    /// Sends the status, and each change. As the protocol demands, an unknown service is no error but a status.
    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let service = request.into_inner().service;
        if !is_known(&service) {
            let unknown = stream::iter([Ok(response(ServingStatus::ServiceUnknown))]);
            return Ok(Response::new(unknown.chain(stream::pending()).boxed()));
        }
        let changes = stream::unfold((self.clone(), None), move |(mut health, known)| {
            let service = service.clone();
            async move {
                let status = match known {
                    None => health.status(&service),
                    Some(known) => health.next(&service, known).await,
                };
                Some((Ok(response(status)), (health, Some(status))))
            }
        });
        Ok(Response::new(changes.boxed()))
    }
}

fn is_known(service: &str) -> bool {
    service.is_empty() || service == LIVENESS || router::NAMES.contains(&service) || OTHERS.contains(&service)
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
