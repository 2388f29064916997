//! `reversi serve`: starts a server.

mod certificates;
mod limit_options;
mod line_limit;
mod listening;
mod log;
mod metrics_endpoint;
mod node;
pub(in crate::cli) mod open_files;
mod pools;
mod reload;
mod service_manager;
#[cfg(unix)]
mod unix_socket;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use clap::{ArgMatches, Id};
use serde_json::json;
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    connect::{
        server_address::{self, CONNECTION},
        token_file,
    },
    storage::{Exits, Joined, ServerStore, StorageOptions},
    terminal::{exit_status, interrupt::Signals},
};
use crate::{
    grpc::{self, Access, HostName, Origin, ServedHosts, Tls, TrustedProxy},
    runtime::{Clock, Limits, Parts, Pool, RandomSource, Runtime, Token},
    store::{BoxFuture, MemoryStore, NodeInfo, Retention, Store},
    web::page,
};
use certificates::Certificates;
pub(super) use limit_options::LimitOptions;
use listening::{BoundAddress, ListenAddress, Listening, bind, host_and_port};
use log::Log;
use metrics_endpoint::Sources;
use node::{ClusterMember, NodeOptions, NodeSocket, RunningMember};
use pools::{PoolOption, pools};
use reload::{Hangup, Reload, Reloadable};

/// The longest wait for other servers that take over the rooms.
const HAND_OVER: Duration = Duration::from_secs(5);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The options of `reversi serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The limits are options, too: `reversi help limits`. All: `reversi serve --help`.\n\
    Each option has a variable, such as REVERSI_MAX_ROOMS for --max-rooms. An option takes precedence over its variable, \
    and that over the file of --settings.")]
pub struct Args {
    /// Where to listen.
    ///
    /// A host and a port (0 takes any free one), or unix:PATH for a UNIX socket.
    #[arg(long, env = "REVERSI_LISTEN", default_value = "127.0.0.1:50051", value_name = "HOST:PORT", help_heading = CONNECTION)]
    listen: ListenAddress,
    /// Name under which clients call the server.
    ///
    /// May be repeated. Other names are then refused, except addresses and localhost. Needed on a loopback address, if a
    /// proxy in front passes on its own name.
    #[arg(long, env = "REVERSI_HOST", value_name = "NAME", value_delimiter = ',', help_heading = CONNECTION)]
    host: Vec<HostName>,
    /// Proxy that is believed about its clients.
    ///
    /// An address, a network such as 10.0.0.0/8, or unix; may be repeated. It names the addresses of its clients by
    /// X-Forwarded-For or the PROXY protocol, version 2.
    #[arg(long, env = "REVERSI_TRUSTED_PROXY", value_name = "ADDRESS", value_delimiter = ',', help_heading = CONNECTION)]
    trusted_proxy: Vec<TrustedProxy>,
    #[command(flatten)]
    storage: StorageOptions,
    /// Seconds without a renewal after which others take the rooms [default: 3].
    ///
    /// With --store; the same on all servers.
    #[arg(long, env = "REVERSI_LEASE", value_name = "SECONDS", requires = "store", conflicts_with_all = node::ELSEWHERE, hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=60))]
    lease: Option<u64>,
    /// Keep everything in memory: a restart loses it.
    #[arg(long, env = "REVERSI_EPHEMERAL", conflicts_with_all = ["data", "store"], value_parser = clap::builder::FalseyValueParser::new())]
    ephemeral: bool,
    /// Finished games to keep [default: all].
    ///
    /// A number, beyond which the oldest go first, unrated before rated; or the age of the oldest unrated game in days, as
    /// 90d.
    #[arg(long, env = "REVERSI_KEEP_GAMES", value_name = "N|DAYSd", value_parser = retention)]
    keep_games: Option<Retention>,
    /// Pool that the server keeps [default: 60+1].
    ///
    /// The clock of its games, and after colons who may join (bots, people or all; default bots) and unrated; may be
    /// repeated, as 60+1,180+2:all:unrated. Who joins plays whenever somebody is free. `none` for no pool.
    #[arg(
        long,
        env = "REVERSI_POOL",
        value_name = "CLOCK",
        value_delimiter = ',',
        default_value = "60+1",
        hide_default_value = true
    )]
    pool: Vec<PoolOption>,
    /// Threads that search for AI seats [default: cores].
    #[arg(long, env = "REVERSI_AI_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    ai_threads: Option<u16>,
    /// Let `expert` search during its opponents' turns.
    ///
    /// On idle threads only.
    #[arg(long, env = "REVERSI_PONDER", value_parser = clap::builder::FalseyValueParser::new())]
    ponder: bool,
    /// Certificate chain, in PEM: serve TLS.
    #[arg(long, env = "REVERSI_TLS_CERT", value_name = "FILE", requires = "tls_key", help_heading = CONNECTION)]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    #[arg(long, env = "REVERSI_TLS_KEY", value_name = "FILE", requires = "tls_cert", help_heading = CONNECTION)]
    tls_key: Option<PathBuf>,
    /// Authority of certificates that clients need.
    ///
    /// In PEM. Clients without a certificate of it are refused.
    #[arg(long, env = "REVERSI_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert", help_heading = CONNECTION)]
    tls_client_ca: Option<PathBuf>,
    /// Serve other machines without TLS.
    ///
    /// Clients, and with --node-listen other servers.
    #[arg(long, env = "REVERSI_INSECURE", value_parser = clap::builder::FalseyValueParser::new(), help_heading = CONNECTION)]
    insecure: bool,
    /// Origin whose pages may call the server.
    ///
    /// Such as `https://example.org`, or * for any; may be repeated.
    #[arg(long, env = "REVERSI_ALLOW_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', help_heading = CONNECTION)]
    allow_origin: Vec<Origin>,
    /// File with the administrators' secret.
    ///
    /// 64 hexadecimal digits; created if there is no such file.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: Option<PathBuf>,
    /// Where to serve metrics [default: nowhere].
    ///
    /// For Prometheus, at /metrics, without a token.
    #[arg(long, env = "REVERSI_METRICS", value_name = "HOST:PORT", value_parser = host_and_port)]
    metrics: Option<String>,
    /// File with settings, which SIGHUP reads again.
    ///
    /// A line KEY=VALUE for an option's variable, such as REVERSI_MAX_ROOMS=100. SIGHUP applies limits, certificates and
    /// --log.
    #[arg(long, env = "REVERSI_SETTINGS", value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    node: NodeOptions,
    #[command(flatten)]
    log: log::Args,
    #[command(flatten)]
    limits: LimitOptions,
    /// All options in words, to see at a reload which have changed.
    #[arg(skip)]
    pub(super) given: Given,
    /// Variables of the environment that seem to be for this program, and that no option has.
    #[arg(skip)]
    pub(super) unknown_variables: Vec<String>,
}

/// The words of each option, by its name.
pub(super) type Given = BTreeMap<String, Vec<OsString>>;

pub(super) fn given(matches: &ArgMatches) -> Given {
    let words = |option: &Id| {
        let words = matches.try_get_raw(option.as_str()).ok()??;
        Some((option.as_str().replace('_', "-"), words.map(OsString::from).collect()))
    };
    matches.ids().filter_map(words).collect()
}

/// Runs a server until a signal stops it, or another server takes over. `reread` reads the options again, for a reload.
///
/// # Errors
/// The server cannot be started, its transport fails, it does not stop in time, or another server has taken over. With a
/// log in JSON the error is a line of it.
pub async fn run(args: Args, reread: fn() -> Result<Args, clap::Error>) -> anyhow::Result<ExitCode> {
    // Registered first, so that no signal for a reload ends the process.
    let hangup = Hangup::listen()?;
    let (log, is_json) = (Log::start(&args.log)?, args.log.is_json());
    if !args.unknown_variables.is_empty() {
        tracing::warn!(variables = args.unknown_variables.join(" "), "no option has these variables");
    }
    let status = match run_logged(args, reread, hangup, &log).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if is_json => {
            tracing::error!("{error:#}");
            Ok(exit_status::of_error(&error))
        }
        Err(error) => Err(error),
    };
    log.end().await;
    status.map(exit_status::unless_interrupted)
}

async fn run_logged(
    args: Args,
    reread: fn() -> Result<Args, clap::Error>,
    hangup: Hangup,
    log: &Log,
) -> anyhow::Result<()> {
    open_files::permit(args.limits.0.connections)?;
    let certificates = certificates(&args)?;
    let tls = &certificates.public;
    let admin = args.admin_token.as_deref().map(admin).transpose()?;
    let pools = pools(&args.pool)?;
    let listening = Listening::bind(&args.listen, tls.is_none() && !args.insecure).await?;
    let access = access(&args, tls.clone(), listening.address.ip());
    let started = Arc::<OnceLock<Runtime>>::default();
    let mut metrics = JoinSet::new();
    let metrics_address = serve_metrics(&args, log, &started, &mut metrics).await?;
    certificates.check();
    let node_socket = args.node.bind(certificates.node.clone(), args.insecure).await?;
    let Joined { active, mut drain_asked, opened } = join(&args, &listening.address, node_socket.as_ref()).await?;
    // Registered before the address is printed, after which a signal may arrive.
    let mut signals = Signals::of_server()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let announce = || {
        announce(args.log.is_json(), &listening.address, scheme, metrics_address);
        service_manager::ready();
    };
    let (is_standby, taken_over) = (active.is_some(), CancellationToken::new());
    let mut standby = JoinSet::new();
    if let Some(active) = active {
        tracing::info!("this server stands by for {active}, and takes over when that ends");
        standby.spawn(grpc::stand_by(args.limits.0, listening.socket.clone(), access.clone(), taken_over.clone()));
        announce();
    }
    let limits = Cell::new(args.limits.0);
    let reload = Reload {
        options: &|| reloadable(&args.given, reread),
        log,
        certificates: &certificates,
        runtime: &started,
        limits: &limits,
    };
    let mut reloading = Box::pin(reload.run(hangup));
    let start = start(opened, node_socket, |store| parts(&args, limits.get(), store, admin, pools));
    let (runtime, mut member, exits) = tokio::select! {
        start = start => start?,
        () = ended_early(&mut signals, &mut drain_asked) => {
            drop(reloading);
            end_early();
            return Ok(());
        }
        Some(failed) = standby.join_next() => return Ok(failed??),
        never = log.report_missing_lines() => match never {},
        never = &mut reloading => match never {},
        never = service_manager::report_alive() => match never {},
    };
    let runtime = started.get_or_init(|| runtime).clone();
    if is_standby {
        // Clients that are connected to the standby are told to connect again.
        taken_over.cancel();
        tracing::info!("this server has taken over");
    } else {
        announce();
    }
    let Exits { lost, hand_over, leave } = exits;
    let served = |shutdown| serve(runtime, listening, access, metrics, &mut member, shutdown);
    let ended = tokio::select! {
        ended = serve_until_stopped(signals, drain_asked, lost, hand_over, served) => ended?,
        never = log.report_missing_lines() => match never {},
        never = &mut reloading => match never {},
        never = service_manager::report_alive() => match never {},
    };
    drop(reloading);
    leave.await;
    member.end().await;
    finish(ended)
}

/// Logs how the server has ended, as the last line.
fn finish(ended: Ended) -> anyhow::Result<()> {
    match ended {
        Ended::Clean => {
            tracing::info!("stopped: clean");
            Ok(())
        }
        Ended::Late => bail!("stopped; some tasks did not end in time"),
        Ended::Lost => {
            bail!("another server has taken over, or can, as this one has lost its rooms; started again, it stands by")
        }
    }
}

/// Starts the runtime once the store is opened, and its part among other servers if it has a socket for them.
async fn start(
    opened: BoxFuture<'static, anyhow::Result<ServerStore>>,
    socket: Option<NodeSocket>,
    parts: impl FnOnce(Store) -> Parts,
) -> anyhow::Result<(Runtime, RunningMember, Exits)> {
    let ServerStore { store, cluster, exits } = opened.await?;
    let mut parts = parts(store);
    let member = socket.zip(cluster.clone()).map(|(socket, store)| {
        let (member, place) = ClusterMember::new(socket, store);
        parts.cluster = Some(place);
        member
    });
    let runtime = Runtime::start(parts).await.context("the server cannot start")?;
    let member = match (member, cluster) {
        (Some(member), _) => member.start(runtime.node()),
        (None, Some(store)) => RunningMember::by_itself(runtime.node(), store),
        (None, None) => RunningMember::default(),
    };
    member.wait_for_service(&runtime).await;
    let (leaving, hand_over) = (runtime.leaving(), exits.hand_over);
    let hand_over = Box::pin(async move {
        leaving.cancel();
        hand_over.await;
    });
    Ok((runtime, member, Exits { hand_over, ..exits }))
}

/// Waits for a signal, or a request to end.
async fn ended_early(signals: &mut Signals, drain_asked: &mut BoxFuture<'static, ()>) {
    tokio::select! {
        interruption = signals.next() => interruption.ends_command(),
        () = drain_asked => {}
    }
}

/// Ends a server that stands by, or starts.
fn end_early() {
    service_manager::stopping();
    tracing::info!("stopped: clean");
}

fn access(args: &Args, tls: Option<Tls>, address: Option<IpAddr>) -> Access {
    Access {
        tls,
        allow_origins: args.allow_origin.clone(),
        hosts: hosts(&args.host, address),
        trusted_proxies: args.trusted_proxy.clone(),
        page: Some(page()),
    }
}

/// Serves metrics in a task, if an address is given. Returns the bound address.
async fn serve_metrics(
    args: &Args,
    log: &Log,
    runtime: &Arc<OnceLock<Runtime>>,
    tasks: &mut JoinSet<anyhow::Result<()>>,
) -> anyhow::Result<Option<SocketAddr>> {
    let Some(address) = &args.metrics else { return Ok(None) };
    let listener = bind("--metrics", address, false).await?;
    let address = listener.local_addr()?;
    let handle = metrics_endpoint::install()?;
    let sources = Sources { handle, runtime: Arc::clone(runtime), dropped: log.dropped_lines() };
    tasks.spawn(metrics_endpoint::serve(listener, hosts(&args.host, Some(address.ip())), sources));
    Ok(Some(address))
}

fn parts(args: &Args, limits: Limits, store: Store, admin: Option<Token>, pools: Vec<Pool>) -> Parts {
    Parts {
        limits,
        clock: Clock::of_process(),
        ai_threads: args.ai_threads.map(usize::from),
        ponder: args.ponder,
        retention: args.keep_games,
        admin,
        pools,
        ..Parts::new(store, grpc::encode)
    }
}

/// Prints where clients reach the server: for people, or as a line of a log in JSON.
fn announce(is_json: bool, address: &BoundAddress, scheme: &str, metrics: Option<SocketAddr>) {
    if is_json {
        let message = format!("reversi is listening on {address}");
        let fields = json!({ "message": message, "url": address.local_url(scheme), "metrics": metrics });
        let line = json!({ "timestamp": log::now(), "level": "INFO", "fields": fields, "target": module_path!() });
        return super::say(line);
    }
    super::say(format_args!("reversi is listening on {address}"));
    if let Some(url) = address.local_url(scheme) {
        if address.ip().is_some() {
            super::say(format_args!("page:  {url}"));
        }
        super::say(format_args!("play:  reversi play --server {url}"));
        super::say(format_args!("watch: reversi rooms --server {url}"));
    }
    if let Some(address) = metrics {
        super::say(format_args!("metrics: http://{address}/metrics"));
    }
}

/// How a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Clean,
    /// Some tasks did not end in time.
    Late,
    /// Another server has taken over, or can.
    Lost,
}

/// Serves until a signal, until a drain is asked for, or until the rooms are `lost`. Unless they are, others first take
/// over the rooms, and clients follow them; a second signal does not wait for the end.
async fn serve_until_stopped<F: Future<Output = anyhow::Result<bool>>>(
    mut signals: Signals,
    drain_asked: impl Future<Output = ()>,
    lost: impl Future<Output = ()>,
    hand_over: impl Future<Output = ()>,
    serve: impl FnOnce(CancellationToken) -> F,
) -> anyhow::Result<Ended> {
    let end = |clean| if clean { Ended::Clean } else { Ended::Late };
    let shutdown = CancellationToken::new();
    let served = serve(shutdown.clone());
    tokio::pin!(served);
    let (is_lost, by_signal) = tokio::select! {
        clean = &mut served => return clean.map(end),
        interruption = signals.next() => {
            interruption.ends_command();
            (false, true)
        }
        () = drain_asked => (false, false),
        () = lost => (true, false),
    };
    // The first signal only asks for what goes on already.
    let hurry = async {
        if !by_signal && !is_lost {
            signals.next().await;
        }
        signals.next().await;
    };
    tokio::pin!(hurry);
    if is_lost {
        tracing::error!("this server has lost its rooms; it stops");
    } else {
        tracing::info!("stopping; another signal stops at once");
    }
    service_manager::stopping();
    let hand_over = async {
        if !is_lost && timeout(HAND_OVER, hand_over).await.is_err() {
            tracing::warn!("the other servers have not taken all rooms over");
        }
    };
    let is_hurried = tokio::select! {
        clean = &mut served => return clean.map(end),
        () = hand_over => false,
        () = &mut hurry => true,
    };
    shutdown.cancel();
    if is_hurried {
        return Ok(end(false));
    }
    let clean = tokio::select! {
        clean = &mut served => clean?,
        () = &mut hurry => false,
    };
    Ok(if is_lost { Ended::Lost } else { end(clean) })
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

async fn join(args: &Args, address: &BoundAddress, node: Option<&NodeSocket>) -> anyhow::Result<Joined> {
    if args.ephemeral {
        return Ok(Joined::alone(Store::of(MemoryStore::default())));
    }
    let advice = "--data names another folder, --ephemeral uses none";
    let info = NodeInfo {
        listens: Some(address.to_string()),
        address: node.map(|node| node.url.clone()),
        clock: Some(|| Clock::of_process().now()),
    };
    args.storage.join(advice, info, args.lease).await
}

/// Serves players; returns whether everything ended in time. Fails when the metrics or the other servers cannot be
/// served.
async fn serve(
    runtime: Runtime,
    listening: Listening,
    access: Access,
    mut metrics: JoinSet<anyhow::Result<()>>,
    member: &mut RunningMember,
    shutdown: CancellationToken,
) -> anyhow::Result<bool> {
    // As a task it runs on a worker thread; on the main thread it would contend with those.
    let mut server = JoinSet::new();
    server.spawn(grpc::serve_with(runtime, listening.socket, access, shutdown));
    tokio::select! {
        Some(ended) = server.join_next() => Ok(ended??),
        Some(failed) = metrics.join_next() => failed?.map(|()| false),
        failed = member.failed() => Err(failed),
    }
}

/// The hosts that are served: all on an address of other machines or a UNIX socket, unless names are given.
fn hosts(names: &[HostName], address: Option<IpAddr>) -> Option<ServedHosts> {
    let checked = !names.is_empty() || address.is_some_and(|address| address.is_loopback());
    checked.then(|| ServedHosts::new(names))
}

/// Reads the options again, and checks those that a reload takes over.
fn reloadable(given: &Given, reread: fn() -> Result<Args, clap::Error>) -> anyhow::Result<Reloadable> {
    let args = reread().map_err(|error| anyhow!("{}", error.to_string().trim().replace('\n', " ")))?;
    let is_limit = |option: &str| Limits::TABLE.iter().any(|limit| limit.name.replace('_', "-") == option);
    let is_fixed = |option: &str| !is_reloaded(option) && !is_limit(option);
    let changed = |option: &&String| args.given.get(*option) != given.get(*option) && is_fixed(option);
    let all: BTreeSet<_> = given.keys().chain(args.given.keys()).collect();
    let fixed = all.into_iter().filter(changed).cloned().collect();
    let (filter, certificates) = (log::filter(&args.log.log)?, certificates(&args)?);
    Ok(Reloadable { filter, certificates, limits: args.limits.0, fixed })
}

/// Whether a reload takes over this option, which is no limit.
pub(super) fn is_reloaded(option: &str) -> bool {
    ["log", "tls-cert", "tls-key", "tls-client-ca", "node-cert", "node-key", "node-ca"].contains(&option)
}

fn certificates(args: &Args) -> anyhow::Result<Certificates> {
    Ok(Certificates { public: tls(args)?, node: args.node.tls()? })
}

/// Reads the TLS files if given.
fn tls(args: &Args) -> anyhow::Result<Option<Tls>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let authority = args.tls_client_ca.as_deref().map(server_address::read).transpose()?;
    let tls = Tls::from_pem(&server_address::read(chain)?, &server_address::read(key)?, authority.as_deref());
    Ok(Some(tls.with_context(|| format!("TLS is not possible with {} and {}", chain.display(), key.display()))?))
}

fn retention(text: &str) -> Result<Retention, String> {
    let (number, days) = text.strip_suffix('d').map_or((text, false), |days| (days, true));
    match number.parse() {
        Ok(days_kept @ 1..=1_000_000) if days => Ok(Retention::Age(DAY * days_kept)),
        Ok(games @ 1..) if !days => Ok(Retention::Games(games.into())),
        _ => Err("it needs a number of games, as 100000, or of days, as 90d".to_owned()),
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
    fn games_are_kept_by_number_or_by_age() {
        assert_eq!(retention("100000"), Ok(Retention::Games(100_000)));
        assert_eq!(retention("90d"), Ok(Retention::Age(DAY * 90)));
        for bad in ["0", "0d", "-1", "d", "", "90 d", "1000001d"] {
            assert!(retention(bad).is_err(), "{bad}");
        }
    }
}
