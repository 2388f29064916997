//! `reversi serve`: starts a server.

use std::{
    io::IsTerminal as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use super::keep;
use crate::{
    grpc,
    runtime::{Chance, Limits, Parts, Runtime, Token},
    store::{MemoryStore, SqliteStore, Store},
};

/// How the server runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, env = "REVERSI_LISTEN", default_value = "127.0.0.1:50051", value_name = "HOST:PORT", value_parser = host_and_port)]
    listen: String,
    /// Folder of the file in which everything is kept [default: this system's place for programs' data].
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR", conflicts_with = "ephemeral")]
    data: Option<PathBuf>,
    /// Keep everything in memory, for as long as the server runs.
    #[arg(long, env = "REVERSI_EPHEMERAL")]
    ephemeral: bool,
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
    /// Seconds after which a player is forgotten who has no room and asks nothing.
    #[arg(long, env = "REVERSI_PLAYER_IDLE", default_value_t = Limits::default().player_idle.as_secs(), value_name = "SECONDS")]
    player_idle: u64,
    /// Requests a second that one player may make, on average.
    #[arg(long, env = "REVERSI_RATE", default_value_t = Limits::default().requests_per_second, value_name = "N")]
    rate: u32,
    /// Seconds that stopping may take.
    #[arg(long, env = "REVERSI_DRAIN", default_value_t = Limits::default().drain.as_secs(), value_name = "SECONDS")]
    drain: u64,
    /// File with the secret that makes its bearer an administrator: 64 hexadecimal digits, made if there is no such file.
    #[arg(long, env = "REVERSI_ADMIN_TOKEN", value_name = "FILE")]
    admin_token: Option<PathBuf>,
    /// What to log: error, warn, info, debug or trace, for all or by module.
    #[arg(long, env = "REVERSI_LOG", default_value = "info", value_name = "FILTER")]
    log: String,
}

/// Runs a server until it is told to stop.
///
/// # Errors
/// When the server cannot be started, or its transport fails.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&args.log).context("--log must be a level such as info, or module=level,...")?;
    let ansi = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(ansi).with_writer(std::io::stderr).init();

    let admin = args.admin_token.as_deref().map(admin).transpose()?;
    let listener = bind(&args.listen).await?;
    let address = listener.local_addr()?;
    let parts = Parts {
        limits: limits(&args),
        ai_threads: args.ai_threads.map(usize::from),
        admin,
        ..Parts::new(store(&args)?, grpc::encode)
    };
    let runtime = Runtime::start(parts).await.context("the server cannot start")?;

    super::say(format_args!("reversi is listening on {address}"));
    if address.ip().is_loopback() {
        super::say(format_args!("play:  reversi --server http://{address} play"));
        super::say(format_args!("watch: reversi --server http://{address} rooms"));
    }
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let served = grpc::serve(runtime, listener, shutdown);
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
    if clean {
        tracing::info!("stopped: clean");
        Ok(())
    } else {
        anyhow::bail!("stopped: not clean, something did not end in time")
    }
}

/// The administrator's token in the file; where there is none, a new one.
fn admin(file: &Path) -> anyhow::Result<Token> {
    if let Some(text) = keep::read(file)? {
        let no_token = || format!("{} holds no administrator's token; move it away to get a new one", file.display());
        return text.parse().with_context(no_token);
    }
    let token = Token::drawn(&Chance::default());
    keep::write(file, &token.reveal())?;
    tracing::info!(file = %file.display(), "a new administrator's token was made");
    Ok(token)
}

/// Where everything is kept.
fn store(args: &Args) -> anyhow::Result<Store> {
    if args.ephemeral {
        return Ok(Store::of(MemoryStore::default()));
    }
    let folder = match &args.data {
        Some(folder) => folder.clone(),
        None => directories::ProjectDirs::from("", "", "reversi")
            .context("this system has no place for programs' data; name a folder with --data, or use --ephemeral")?
            .data_dir()
            .to_owned(),
    };
    let store = SqliteStore::open(&folder).with_context(|| {
        let file = folder.join(SqliteStore::FILE);
        format!("cannot keep anything in {} (--data names another folder, --ephemeral uses none)", file.display())
    })?;
    tracing::info!(folder = %folder.display(), "everything is kept");
    Ok(Store::of(store))
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
        player_idle: Duration::from_secs(args.player_idle),
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
    fn where_to_listen_is_a_host_and_a_port() {
        for good in ["127.0.0.1:0", "localhost:50172", "[::1]:50051"] {
            assert_eq!(host_and_port(good), Ok(good.to_owned()));
        }
        for (bad, example) in [("50171", "127.0.0.1:50171"), (":7", "127.0.0.1:7"), ("localhost", "127.0.0.1:50051")] {
            assert_eq!(host_and_port(bad), Err(format!("it needs a host and a port, as {example}")));
        }
    }
}
