//! The server's metrics as text for Prometheus. There is no authentication: the operator must choose a safe address.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::CONTENT_TYPE},
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::{
    net::TcpListener,
    time::{MissedTickBehavior, interval, timeout},
};

use super::log::DroppedLines;
use crate::{
    grpc::ServedHosts,
    runtime::{Runtime, server_metrics},
};

/// The interval at which recorded times are sorted into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// The most that a request waits for the store.
const PATIENCE: Duration = Duration::from_secs(1);

/// The page at `/`.
const START: Html<&str> =
    Html("<!DOCTYPE html>\n<title>Reversi metrics</title>\n<a href=\"/metrics\">Metrics for Prometheus</a>\n");

const FORMAT: &str = "text/plain; version=0.0.4";

/// Installs the recorder; must be called before the server starts, to count everything.
pub(super) fn install() -> anyhow::Result<PrometheusHandle> {
    let mut builder = PrometheusBuilder::new();
    for (name, buckets) in server_metrics::BUCKETS {
        builder = builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), buckets)?;
    }
    let handle = builder.install_recorder().context("metrics cannot be counted")?;
    server_metrics::describe();
    Ok(handle)
}

/// Where the metrics come from.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) handle: PrometheusHandle,
    /// None while the server stands by.
    pub(super) runtime: Arc<OnceLock<Runtime>>,
    pub(super) dropped: DroppedLines,
}

/// Serves the metrics until dropped, to requests for these hosts if given.
pub(super) async fn serve(listener: TcpListener, hosts: Option<ServedHosts>, sources: Sources) -> anyhow::Result<()> {
    let handle = sources.handle.clone();
    let mut page = Router::new().route("/", get(START)).route("/metrics", get(render)).with_state(sources);
    if let Some(hosts) = hosts {
        page = page.layer(from_fn_with_state(hosts, check_host));
    }
    let upkeep = async {
        let mut beat = interval(UPKEEP);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            handle.run_upkeep();
        }
    };
    tokio::select! {
        served = axum::serve(listener, page) => served.context("metrics cannot be served"),
        () = upkeep => Ok(()),
    }
}

async fn check_host(State(hosts): State<ServedHosts>, request: Request, next: Next) -> Response {
    if hosts.serves(&request) { next.run(request).await } else { StatusCode::MISDIRECTED_REQUEST.into_response() }
}

async fn render(State(sources): State<Sources>) -> impl IntoResponse {
    if let Some(runtime) = sources.runtime.get() {
        server_metrics::measure(&runtime.census());
        // While the store cannot be read or is busy, the last size stays.
        if let Ok(Ok(size)) = timeout(PATIENCE, runtime.games.archive_size()).await {
            server_metrics::measure_archive(size);
        }
    }
    server_metrics::dropped_log_lines(sources.dropped.count());
    ([(CONTENT_TYPE, FORMAT)], sources.handle.render())
}
