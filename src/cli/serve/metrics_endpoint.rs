//! The server's metrics as text for Prometheus. There is no authentication: the operator must choose a safe address.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
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
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{MissedTickBehavior, Sleep, interval, sleep, timeout},
};

use super::log::DroppedLines;
use crate::{
    grpc::ServedHosts,
    runtime::{Clock, Runtime, server_metrics},
};

/// The interval at which recorded times are sorted into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// Connections at a time, of the files that [`open_files`](super::open_files) reserves; others wait.
const CONNECTIONS: usize = 32;

/// How long a connection may last: as many requests as come in it, and an answer to a slow reader.
const CONNECTION_TIME: Duration = Duration::from_secs(10);

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
    server_metrics::describe_process(Clock::of_process().now());
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
        served = axum::serve(Limited::new(listener), page) => served.context("metrics cannot be served"),
        () = upkeep => Ok(()),
    }
}

/// A listener that holds few connections, each for a short time: a client that sends no request or reads no answer must
/// not take the files of the game's connections.
struct Limited {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Limited {
    fn new(listener: TcpListener) -> Self {
        Self { listener, free: Arc::new(Semaphore::new(CONNECTIONS)) }
    }
}

impl axum::serve::Listener for Limited {
    type Io = LimitedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedStream, SocketAddr) {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, peer) = axum::serve::Listener::accept(&mut self.listener).await;
        (LimitedStream { stream, end: Box::pin(sleep(CONNECTION_TIME)), _permit: permit }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

struct LimitedStream {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl LimitedStream {
    /// Fails at the end of its time if `polled` is pending.
    fn until_end<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_pending() && self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.until_end(cx, read)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.until_end(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.until_end(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut_down = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.until_end(cx, shut_down)
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
    #[cfg(target_os = "linux")]
    if let Ok(usage) = process_usage() {
        server_metrics::measure_process(&usage);
    }
    server_metrics::dropped_log_lines(sources.dropped.count());
    ([(CONTENT_TYPE, FORMAT)], sources.handle.render())
}

/// What this process uses, as far as the system shows it.
#[cfg(target_os = "linux")]
fn process_usage() -> procfs::ProcResult<server_metrics::ProcessUsage> {
    use procfs::process::{LimitValue, Process};

    let this = Process::myself()?;
    let stat = this.stat()?;
    Ok(server_metrics::ProcessUsage {
        cpu_seconds: (stat.utime + stat.stime) / procfs::ticks_per_second(),
        resident_bytes: stat.rss * procfs::page_size(),
        virtual_bytes: stat.vsize,
        open_files: this.fd_count()?,
        max_files: match this.limits()?.max_open_files.soft_limit {
            LimitValue::Value(max) => Some(max),
            LimitValue::Unlimited => None,
        },
    })
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        task::JoinSet,
        time::Instant,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn connections_without_requests_end_so_that_others_are_served() {
        let listener = Limited::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = axum::serve::Listener::local_addr(&listener).unwrap();
        let mut server = JoinSet::new();
        server.spawn(async { axum::serve(listener, Router::new().route("/", get(START))).await });
        let (began, mut idle) = (Instant::now(), Vec::new());
        for _ in 0..CONNECTIONS {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let mut other = TcpStream::connect(address).await.unwrap();
        other.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        timeout(2 * CONNECTION_TIME, other.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(began.elapsed() >= CONNECTION_TIME, "not before");
    }
}
