//! The health service of gRPC: serving, until the server stops.

use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_check_response::ServingStatus, health_server};

use tonic_reflection::pb::{v1, v1alpha};

use super::router;

/// The services beside those of the router.
const OTHERS: [&str; 3] = [
    health_server::SERVICE_NAME,
    v1::server_reflection_server::SERVICE_NAME,
    v1alpha::server_reflection_server::SERVICE_NAME,
];

/// The health of the whole server, whose name is empty, and of each of its services.
pub(crate) struct Health {
    /// Cancelled when the server begins to stop.
    pub(crate) stop: CancellationToken,
}

impl Health {
    fn status(&self) -> ServingStatus {
        if self.stop.is_cancelled() { ServingStatus::NotServing } else { ServingStatus::Serving }
    }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        if is_known(&request.get_ref().service) {
            return Ok(Response::new(response(self.status())));
        }
        Err(Status::not_found("no such service; leave the name empty to ask for the whole server"))
    }

    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    /// Sends the status, and each change. As the protocol demands, an unknown service is no error but a status.
    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        if !is_known(&request.get_ref().service) {
            let unknown = stream::iter([Ok(response(ServingStatus::ServiceUnknown))]);
            return Ok(Response::new(unknown.chain(stream::pending()).boxed()));
        }
        let stopped = self.stop.clone().cancelled_owned();
        let last = stream::once(async move {
            stopped.await;
            Ok(response(ServingStatus::NotServing))
        });
        let now = self.status();
        let first = (now == ServingStatus::Serving).then(|| Ok(response(now)));
        Ok(Response::new(stream::iter(first).chain(last).chain(stream::pending()).boxed()))
    }
}

fn is_known(service: &str) -> bool {
    service.is_empty() || router::NAMES.contains(&service) || OTHERS.contains(&service)
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
