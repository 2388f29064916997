//! `reversi serve`: starts a server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::log::{self, Log};
use crate::{
    grpc,
    runtime::{Limits, Parts, Runtime},
    store::MemoryJournal,
};

/// How the server runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, env = "REVERSI_LISTEN", default_value = "127.0.0.1:50051", value_name = "HOST:PORT", value_parser = host_and_port)]
    listen: String,
    /// Threads on which AI seats think [default: one for each core].
    #[arg(long, env = "REVERSI_AI_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    ai_threads: Option<u16>,
    /// Rooms open at a time.
    #[arg(long, env = "REVERSI_MAX_ROOMS", default_value_t = Limits::default().rooms, value_name = "N")]
    max_rooms: usize,
    /// Players known at a time.
    #[arg(long, env = "REVERSI_MAX_PLAYERS", default_value_t = Limits::default().players, value_name = "N")]
    max_players: usize,
    /// Seconds for which a lost connection keeps its place.
    #[arg(long, env = "REVERSI_GRACE", default_value_t = Limits::default().presence_grace.as_secs(), value_name = "SECONDS")]
    grace: u64,
    /// Seconds after which a room closes in which nothing happens.
    #[arg(long, env = "REVERSI_IDLE_CLOSE", default_value_t = Limits::default().idle_close.as_secs(), value_name = "SECONDS")]
    idle_close: u64,
    /// Requests a second that one player may make, on average.
    #[arg(long, env = "REVERSI_RATE", default_value_t = Limits::default().requests_per_second, value_name = "N")]
    rate: u32,
    /// Seconds that stopping may take.
    #[arg(long, env = "REVERSI_DRAIN", default_value_t = Limits::default().drain.as_secs(), value_name = "SECONDS")]
    drain: u64,
    /// Where to serve metrics for Prometheus, at /metrics, to anyone who asks: no token is needed [default: nowhere].
    #[arg(long, env = "REVERSI_METRICS", value_name = "HOST:PORT", value_parser = host_and_port)]
    metrics: Option<String>,
    #[command(flatten)]
    log: log::Args,
}

/// Runs a server until it is told to stop.
///
/// # Errors
/// When the server cannot be started, or its transport fails.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let log = Log::begin(&args.log)?;
    let listener = bind(&args.listen).await?;
    let address = listener.local_addr()?;
    let metrics = match &args.metrics {
        Some(metrics) => Some((bind(metrics).await?, super::scrape::install()?)),
        None => None,
    };
    let parts = Parts {
        limits: limits(&args),
        ai_threads: args.ai_threads.map(usize::from),
        ..Parts::new(Arc::new(MemoryJournal::default()), grpc::encode)
    };
    let runtime = Runtime::start(parts).await.context("the server cannot start")?;

    super::say(format_args!("reversi is listening on {address}"));
    if address.ip().is_loopback() {
        super::say(format_args!("play:  reversi --server http://{address} play"));
        super::say(format_args!("watch: reversi --server http://{address} rooms"));
    }
    if let Some((listener, _)) = &metrics {
        super::say(format_args!("metrics: http://{}/metrics", listener.local_addr()?));
    }
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let served = serve(runtime, listener, metrics, shutdown);
    tokio::pin!(served);
    let clean = tokio::select! {
        clean = &mut served => clean?,
        () = told_to_stop() => {
            tracing::info!("stopping; a second signal stops at once");
            stop.cancel();
            tokio::select! {
                clean = &mut served => clean?,
                () = told_to_stop() => false,
            }
        }
    };
    log.end().await;
    if clean {
        tracing::info!("stopped: clean");
        Ok(())
    } else {
        anyhow::bail!("stopped: not clean, something did not end in time")
    }
}

/// Serves players and, beside them, metrics; whether it stopped clean.
async fn serve(
    runtime: Runtime,
    listener: TcpListener,
    metrics: Option<(TcpListener, PrometheusHandle)>,
    shutdown: CancellationToken,
) -> anyhow::Result<bool> {
    let counted = runtime.clone();
    let scraped = async {
        match metrics {
            Some((listener, handle)) => super::scrape::serve(listener, handle, counted).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        clean = grpc::serve(runtime, listener, shutdown) => Ok(clean?),
        failed = scraped => failed.map(|()| false),
    }
}

/// A name may have several addresses: those come first to which the clients' default belongs.
async fn bind(listen: &str) -> anyhow::Result<TcpListener> {
    let found =
        tokio::net::lookup_host(listen).await.with_context(|| format!("nothing is known of the host of {listen}"))?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    TcpListener::bind(addresses.as_slice()).await.with_context(|| {
        format!("cannot listen on {listen}; is a server running there? `--listen 127.0.0.1:0` takes a free port")
    })
}

fn host_and_port(text: &str) -> Result<String, String> {
    let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
    match (text.rsplit_once(':'), port) {
        (Some((host, _)), Some(_)) if !host.is_empty() => Ok(text.to_owned()),
        (_, port) => Err(format!("it needs a host and a port, as 127.0.0.1:{}", port.unwrap_or(50051))),
    }
}

fn limits(args: &Args) -> Limits {
    Limits {
        rooms: args.max_rooms,
        players: args.max_players,
        presence_grace: Duration::from_secs(args.grace),
        idle_close: Duration::from_secs(args.idle_close),
        requests_per_second: args.rate,
        request_burst: args.rate.saturating_mul(2),
        drain: Duration::from_secs(args.drain),
        ..Limits::default()
    }
}

/// Waits for Ctrl-C or SIGTERM.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler there is nothing to wait for but the default action.
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_to_listen_is_a_host_and_a_port() {
        for good in ["127.0.0.1:0", "localhost:50172", "[::1]:50051"] {
            assert_eq!(host_and_port(good), Ok(good.to_owned()));
        }
        for (bad, example) in [("50171", "127.0.0.1:50171"), (":7", "127.0.0.1:7"), ("localhost", "127.0.0.1:50051")] {
            assert_eq!(host_and_port(bad), Err(format!("it needs a host and a port, as {example}")));
        }
    }
}
