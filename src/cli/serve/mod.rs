//! `reversi serve`: starts a server.

mod limit_options;
mod line_limit;
mod log;
mod metrics_endpoint;
pub(in crate::cli) mod open_files;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use tokio::{
    net::{TcpListener, TcpSocket},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    connect::{
        server_address::{self, CONNECTION},
        token_file,
    },
    terminal::interrupt::Signals,
};
use crate::{
    grpc::{self, Access, Origin, Tls},
    runtime::{Clock, Parts, RandomSource, Runtime, Token},
    store::{MemoryStore, SqliteStore, Store},
    web::page,
};
use limit_options::LimitOptions;
use log::Log;
use metrics_endpoint::Sources;

/// The listen backlog. Many bots may connect at once: with the usual 128 most would have to retry a second later.
const BACKLOG: u32 = 4_096;

/// The options of `reversi serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, env = "REVERSI_LISTEN", default_value = "127.0.0.1:50051", value_name = "HOST:PORT", value_parser = host_and_port, help_heading = CONNECTION)]
    listen: String,
    /// Folder of the database file [default: this system's folder for application data].
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR", conflicts_with = "ephemeral")]
    data: Option<PathBuf>,
    /// Keep everything in memory: a restart loses it.
    #[arg(long, env = "REVERSI_EPHEMERAL", value_parser = clap::builder::FalseyValueParser::new())]
    ephemeral: bool,
    /// Threads that search for AI seats [default: one for each core].
    #[arg(long, env = "REVERSI_AI_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    ai_threads: Option<u16>,
    /// Let `expert` search during its opponents' turns, on idle threads.
    #[arg(long, env = "REVERSI_PONDER", value_parser = clap::builder::FalseyValueParser::new())]
    ponder: bool,
    /// The server's certificate chain, in PEM: serve TLS.
    #[arg(long, env = "REVERSI_TLS_CERT", value_name = "FILE", requires = "tls_key", help_heading = CONNECTION)]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    #[arg(long, env = "REVERSI_TLS_KEY", value_name = "FILE", requires = "tls_cert", help_heading = CONNECTION)]
    tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate of this authority, in PEM.
    #[arg(long, env = "REVERSI_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert", help_heading = CONNECTION)]
    tls_client_ca: Option<PathBuf>,
    /// Accept connections from other machines without TLS.
    #[arg(long, env = "REVERSI_INSECURE", value_parser = clap::builder::FalseyValueParser::new(), help_heading = CONNECTION)]
    insecure: bool,
    /// Allow calls from pages of this origin, such as `https://example.org`, or of any (*); may be repeated.
    #[arg(long, env = "REVERSI_ALLOW_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', help_heading = CONNECTION)]
    allow_origin: Vec<Origin>,
    /// File with the administrators' secret: 64 hexadecimal digits; created if there is no such file.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: Option<PathBuf>,
    /// Address on which to serve metrics for Prometheus, at /metrics, without a token [default: none].
    #[arg(long, env = "REVERSI_METRICS", value_name = "HOST:PORT", value_parser = host_and_port)]
    metrics: Option<String>,
    #[command(flatten)]
    log: log::Args,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Runs a server until a signal stops it.
///
/// # Errors
/// The server cannot be started, its transport fails, or it does not stop in time.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let log = Log::start(&args.log)?;
    let limits = args.limits.0;
    open_files::permit(limits.connections)?;
    let access = Access { tls: tls(&args)?, allow_origins: args.allow_origin.clone(), page: Some(page()) };
    let admin = args.admin_token.as_deref().map(admin).transpose()?;
    let listener = bind(&args.listen, access.tls.is_none() && !args.insecure).await?;
    let address = listener.local_addr()?;
    let scheme = if access.tls.is_some() { "https" } else { "http" };
    let metrics = match &args.metrics {
        Some(metrics) => Some((bind(metrics, false).await?, metrics_endpoint::install()?)),
        None => None,
    };
    let parts = Parts {
        limits,
        clock: Clock::of_process(),
        ai_threads: args.ai_threads.map(usize::from),
        ponder: args.ponder,
        admin,
        ..Parts::new(store(&args)?, grpc::encode)
    };
    let runtime = Runtime::start(parts).await.context("the server cannot start")?;
    let sources = |handle| Sources { handle, runtime: runtime.clone(), dropped: log.dropped_lines() };
    let metrics = metrics.map(|(listener, handle)| (listener, sources(handle)));

    // Registered before the address is printed, after which a signal may arrive.
    let mut signals = Signals::of_server()?;
    super::say(format_args!("reversi is listening on {address}"));
    if address.ip().is_loopback() {
        super::say(format_args!("page:  {scheme}://{address}"));
        super::say(format_args!("play:  reversi play --server {scheme}://{address}"));
        super::say(format_args!("watch: reversi rooms --server {scheme}://{address}"));
    }
    if let Some((listener, _)) = &metrics {
        super::say(format_args!("metrics: http://{}/metrics", listener.local_addr()?));
    }
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let served = serve(runtime, listener, access, metrics, shutdown);
    tokio::pin!(served);
    let stopped = async {
        tokio::select! {
            clean = &mut served => return clean,
            () = signals.next() => {}
        }
        tracing::info!("stopping; a second signal stops at once");
        stop.cancel();
        tokio::select! {
            clean = &mut served => clean,
            () = signals.next() => Ok(false),
        }
    };
    let clean = tokio::select! {
        clean = stopped => clean?,
        never = log.report_missing_lines() => match never {},
    };
    if clean {
        tracing::info!("stopped: clean");
    }
    log.end().await;
    anyhow::ensure!(clean, "stopped; some tasks did not end in time");
    Ok(())
}

/// Reads the administrator's token from the file, or generates one and writes it.
fn admin(file: &Path) -> anyhow::Result<Token> {
    if let Some(text) = token_file::read(file)? {
        let no_token = || format!("{} holds no administrator's token; move it away to get a new one", file.display());
        return text.parse().with_context(no_token);
    }
    let token = Token::generate(&RandomSource::default());
    token_file::write(file, &token.reveal())?;
    tracing::info!(file = %file.display(), "a new administrator's token was made");
    Ok(token)
}

fn store(args: &Args) -> anyhow::Result<Store> {
    if args.ephemeral {
        return Ok(Store::of(MemoryStore::default()));
    }
    let folder = folder(args.data.as_deref())
        .context("no data folder is known on this system; name a folder with --data, or use --ephemeral")?;
    let store = SqliteStore::open(&folder).with_context(|| {
        let file = folder.join(SqliteStore::FILE);
        format!("cannot keep anything in {} (--data names another folder, --ephemeral uses none)", file.display())
    })?;
    tracing::info!(folder = %folder.display(), "everything is kept");
    Ok(Store::of(store))
}

/// The data folder: the given one, or this system's folder for application data.
pub(super) fn folder(given: Option<&Path>) -> Option<PathBuf> {
    let default = || Some(directories::ProjectDirs::from("", "", "reversi")?.data_dir().to_owned());
    given.map(Path::to_owned).or_else(default)
}

/// Serves players and metrics; returns whether everything ended in time.
async fn serve(
    runtime: Runtime,
    listener: TcpListener,
    access: Access,
    metrics: Option<(TcpListener, Sources)>,
    shutdown: CancellationToken,
) -> anyhow::Result<bool> {
    let scraped = async {
        match metrics {
            Some((listener, sources)) => metrics_endpoint::serve(listener, sources).await,
            None => std::future::pending().await,
        }
    };
    // As a task it runs on a worker thread; on the main thread it would contend with those.
    let mut server = JoinSet::new();
    server.spawn(grpc::serve_with(runtime, listener, access, shutdown));
    tokio::select! {
        Some(ended) = server.join_next() => Ok(ended??),
        failed = scraped => failed.map(|()| false),
    }
}

/// Reads the TLS files if given.
fn tls(args: &Args) -> anyhow::Result<Option<Tls>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let authority = args.tls_client_ca.as_deref().map(server_address::read).transpose()?;
    let tls = Tls::from_pem(&server_address::read(chain)?, &server_address::read(key)?, authority.as_deref());
    Ok(Some(tls.with_context(|| format!("TLS is not possible with {} and {}", chain.display(), key.display()))?))
}

/// Listens; fails if `private` and an address is not loopback. Of a name's addresses IPv4 is tried first, as in the
/// clients' default.
async fn bind(listen: &str, private: bool) -> anyhow::Result<TcpListener> {
    let found =
        tokio::net::lookup_host(listen).await.with_context(|| format!("cannot resolve the host of {listen}"))?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    if private && !addresses.iter().all(|address| address.ip().is_loopback()) {
        anyhow::bail!(
            "{listen} is open to other machines, and without TLS anyone on the network path can read tokens and passwords; \
             give --tls-cert FILE and --tls-key FILE, or --insecure if a proxy in front speaks TLS or the network is private"
        );
    }
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let mut listening = Err(std::io::ErrorKind::AddrNotAvailable.into());
    for address in addresses {
        listening = listen_on(address);
        if listening.is_ok() {
            break;
        }
    }
    listening.with_context(|| {
        format!("cannot listen on {listen}; is a server running there? `--listen 127.0.0.1:0` takes a free port")
    })
}

fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let another process take over the port.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn host_and_port(text: &str) -> Result<String, String> {
    let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
    match (text.rsplit_once(':'), port) {
        (Some((host, _)), Some(_)) if !host.is_empty() => Ok(text.to_owned()),
        (_, port) => Err(format!("it needs a host and a port, as 127.0.0.1:{}", port.unwrap_or(50051))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_administrators_token_is_made_once_and_kept() {
        let file = std::env::temp_dir().join(format!("reversi-admin-unit-{}", std::process::id()));
        let made = admin(&file).unwrap();
        assert_eq!(admin(&file).unwrap(), made);
        std::fs::write(&file, "not a token").unwrap();
        let error = format!("{:#}", admin(&file).unwrap_err());
        assert!(error.contains("holds no administrator's token") && !error.contains("not a token"), "{error}");
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_listen_address_is_a_host_and_a_port() {
        for good in ["127.0.0.1:0", "localhost:50172", "[::1]:50051"] {
            assert_eq!(host_and_port(good), Ok(good.to_owned()));
        }
        for (bad, example) in [("50171", "127.0.0.1:50171"), (":7", "127.0.0.1:7"), ("localhost", "127.0.0.1:50051")] {
            assert_eq!(host_and_port(bad), Err(format!("it needs a host and a port, as {example}")));
        }
    }
}
