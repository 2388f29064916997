//! Connecting, logging in and logging out.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{anyhow, bail};

use super::{
    kept_logins::{self, KeptLogin},
    leave,
    server_address::{Address, CONNECTION},
};
use crate::{
    cli::{random, warn},
    client::{Client, ClientError, Player, PlayerKind, Reader, RoomId, Session, Unreachable},
};

/// Generated names to try; they rarely collide.
const NAMES_TRIED: u32 = 5;

const LOG_OUT_TIMEOUT: Duration = Duration::from_secs(2);

/// Options for logging in.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = CONNECTION)]
#[group(skip)]
pub(in crate::cli) struct LoginOptions {
    /// Your name; a generated one if left out.
    #[arg(long, env = "REVERSI_NAME")]
    pub(in crate::cli) name: Option<String>,
    /// Keep the login in this file and use it again: your seat and your private games stay yours. One file serves any
    /// number of servers.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    pub(in crate::cli) keep: Option<PathBuf>,
    /// The seats of a new player at a time; 0 is 1.
    #[arg(skip)]
    pub(in crate::cli) seats: u16,
}

/// Connects; an error says how to start a server.
pub(in crate::cli) async fn connect(server: &Address) -> anyhow::Result<Client> {
    let tried = match Client::connect_trusting(&server.urls(), &server.trust()?).await {
        Err(ClientError::Unreachable(tried)) => tried,
        done => return Ok(done?),
    };
    let [Unreachable { url, cause }] = &tried[..] else {
        bail!("{}; name servers that serve with --server URL,URL", ClientError::Unreachable(tried))
    };
    if cause.contains("certificate") {
        bail!("the server at {url} is not to be trusted ({cause}); name its authority with --tls-ca FILE")
    }
    if let Some(address) = url.strip_prefix("https://")
        && Client::connect(&format!("http://{address}")).await.is_ok()
    {
        bail!("{url} is not a server with TLS ({cause}); for one without TLS: --server http://{address}")
    }
    bail!("no server at {url} ({cause}); start one with `reversi serve`, or name another with --server URL")
}

/// Logs in under `name`, or under a generated one that begins with `prefix`.
pub(in crate::cli) async fn log_in(
    client: &Client,
    name: Option<&str>,
    prefix: &str,
    kind: PlayerKind,
    seats: u16,
) -> anyhow::Result<Session> {
    let seats = seats.max(1).into();
    if let Some(name) = name {
        return client.log_in_for_seats(name, kind, seats).await.map_err(|error| match error {
            error if error.is("NAME_TAKEN") => anyhow!("cannot log in as `{name}`: {error} with --name"),
            error if error.is("BAD_NAME") => anyhow!("{}", error.to_string().replace("display_name", "--name")),
            error => explain_broken(client, error).context(format!("cannot log in as `{name}`")),
        });
    }
    for _ in 0..NAMES_TRIED {
        let name = format!("{prefix}-{:04x}", random::random() & 0xffff);
        match client.log_in_for_seats(&name, kind, seats).await {
            Err(error) if error.is("NAME_TAKEN") => {}
            done => return done.map_err(|error| explain_broken(client, error).context("cannot log in")),
        }
    }
    bail!("no free name was found; choose one with --name")
}

/// Resumes a login in the file `options.keep` if the server still knows it and it is of this kind; else
/// [logs in](log_in) and adds the login to the file.
pub(in crate::cli) async fn resume_or_log_in(
    client: &Client,
    options: &LoginOptions,
    prefix: &str,
    kind: PlayerKind,
) -> anyhow::Result<Session> {
    let session = resume_any_or_log_in(client, options, prefix, kind).await?;
    match &options.keep {
        Some(file) if session.player().kind != kind => {
            let name = &session.player().name;
            bail!("{} keeps the login of {name}, a player of another kind; name another file", file.display())
        }
        _ => Ok(session),
    }
}

/// Like [`resume_or_log_in`], but resumes the login of a human or a bot; `kind` is for a new one.
pub(in crate::cli) async fn resume_any_or_log_in(
    client: &Client,
    options: &LoginOptions,
    prefix: &str,
    kind: PlayerKind,
) -> anyhow::Result<Session> {
    let name = options.name.as_deref();
    let Some(file) = &options.keep else { return log_in(client, name, prefix, kind, options.seats).await };
    if let Some(session) = resume(client, file).await? {
        let kept = &session.player().name;
        if name.is_some_and(|name| name != kept) {
            warn(format_args!("{} keeps the login of {kept}: --name is not used", file.display()));
        }
        return Ok(session);
    }
    let servers: Vec<_> = client.urls().collect();
    if kept_logins::read(file)?.iter().any(|login| login.may_be_sent_to(&servers) && login.is_limited_to_playing()) {
        bail!(
            "the login in {}, which was limited to playing, is no longer valid: its player has a new token; make the file \
             again, by `reversi name play-token`",
            file.display()
        );
    }
    let session = log_in(client, name, prefix, kind, options.seats).await?;
    if !kept_logins::read(file)?.is_empty() {
        let (server, shown) = (client.url(), file.display());
        warn(format_args!(
            "{server} does not know the login in {shown}: a new one was added, and what was there stays"
        ));
    }
    match kept_logins::put(file, KeptLogin::new(client.urls(), &session)) {
        Ok(()) => Ok(session),
        Err(error) => {
            log_out(session).await;
            Err(error)
        }
    }
}

/// Resumes the login in a file that the server knows; `None` if it knows none of them.
pub(in crate::cli) async fn resume(client: &Client, file: &Path) -> anyhow::Result<Option<Session>> {
    let (server, servers): (_, Vec<_>) = (client.url(), client.urls().collect());
    let mut logins = kept_logins::read(file)?;
    logins.sort_by_key(|login| !login.is_of(&servers));
    for login in logins.iter().filter(|login| login.may_be_sent_to(&servers)) {
        match client.resume(&login.token).await {
            Ok(session) => {
                let mut used = KeptLogin::new(servers.iter().copied(), &session);
                if login.is_of(&servers) {
                    used.also_of(login);
                }
                if !used.has_servers_of(login)
                    && let Err(error) = kept_logins::put(file, used)
                {
                    warn(format_args!("{error:#}"));
                }
                return Ok(Some(session));
            }
            Err(error) if error.is_session_lost() => {}
            Err(error) => return Err(explain_broken(client, error).context("cannot come back")),
        }
    }
    if logins.iter().any(|login| !login.may_be_sent_to(&servers)) {
        let shown = file.display();
        warn(format_args!(
            "the logins for other hosts in {shown} are not sent to {server}; if one is of it, edit {shown}"
        ));
    }
    Ok(None)
}

/// As [`resume`], for a command that needs a kept login.
pub(in crate::cli) async fn resume_kept(client: &Client, file: &Path) -> anyhow::Result<Session> {
    resume(client, file).await?.ok_or_else(|| {
        let shown = file.display();
        if file.exists() {
            anyhow!("the server does not know the login in {shown}")
        } else {
            anyhow!("there is no file {shown}; `reversi play --keep {shown}` makes one")
        }
    })
}

/// Logs out, unless the login is kept.
pub(in crate::cli) async fn log_out_unless_kept(session: Session, file: Option<&Path>) {
    if file.is_none() {
        log_out(session).await;
    }
}

/// Adds to the error that the server is not a Reversi server, if that is its cause.
pub(in crate::cli) fn explain_broken(client: &Client, error: ClientError) -> anyhow::Error {
    match (&error, client.url().strip_prefix("http://")) {
        (ClientError::Broken(_), Some(address)) => anyhow!(error).context(format!(
            "http://{address} is not a Reversi server without TLS; for one with TLS: --server https://{address}"
        )),
        _ if error.is_foreign() => anyhow!(error).context(format!("{} is not a Reversi server", client.url())),
        _ => anyhow!(error),
    }
}

/// Leaves every room and frees the name. Errors are ignored: the process ends.
pub(in crate::cli) async fn log_out(session: Session) {
    let _ = tokio::time::timeout(LOG_OUT_TIMEOUT, session.log_out()).await;
}

/// Leaves a room, so that others see that the player left, not a lost connection; a player in a game only if it
/// `resigns`. Errors are ignored: the process ends.
pub(in crate::cli) async fn leave(session: &Session, room: &RoomId, resigns: bool) {
    let left = async { if resigns { session.leave(room).await } else { leave::unless_playing(session, room).await } };
    let _ = tokio::time::timeout(LOG_OUT_TIMEOUT, left).await;
}

/// Whether the player is in a running game; as `seen` if the server does not answer.
pub(in crate::cli) async fn is_playing(session: &Session, seen: bool) -> bool {
    let me = tokio::time::timeout(LOG_OUT_TIMEOUT, session.me()).await;
    me.map_or(seen, |me| me.map_or(seen, |me| !me.games.is_empty()))
}

/// The answer to the first Ctrl-C during a game, where a line leaves it.
pub(in crate::cli) fn asks_to_leave(command: &str, keep: Option<&Path>) -> String {
    let then = if keep.is_some() { " and keeps the seat" } else { ", and without --keep FILE there is no way back" };
    format!("the game goes on: `{command}` leaves and loses it, Ctrl-C again ends the program{then}")
}

/// What becomes of the seat in a running game when the process ends without leaving; `back` is the command that
/// returns.
pub(in crate::cli) fn seat_kept(keep: Option<&Path>, back: &str) -> String {
    match keep {
        Some(file) => format!("the game goes on, and your seat is kept for a while; {back} --keep {}", file.display()),
        None => {
            "the game goes on; your seat is kept for a while, but only a login of --keep FILE can return to it".into()
        }
    }
}

/// A connection that reads: as a player if a name or a kept login is given, else without a login.
#[derive(Clone)]
pub(in crate::cli) struct Visitor {
    client: Client,
    /// It logs in again when the server has forgotten it.
    session: Option<Arc<Mutex<Session>>>,
    keep: Option<PathBuf>,
}

impl Visitor {
    /// Connects. With a name or a kept login, also logs in or resumes the login of a human or a bot, as
    /// [`resume_or_log_in`] does.
    pub(in crate::cli) async fn enter(server: &Address, options: &LoginOptions) -> anyhow::Result<Self> {
        let client = connect(server).await?;
        let session = match options {
            LoginOptions { name: None, keep: None, .. } => {
                // Asked first, so that all commands explain a wrong server in the same way.
                let asked = client.reader().server_info().await;
                asked.map_err(|error| explain_broken(&client, error).context("cannot ask the server"))?;
                None
            }
            _ => Some(resume_any_or_log_in(&client, options, "reader", PlayerKind::Human).await?),
        };
        let session = session.map(|session| Arc::new(Mutex::new(session)));
        Ok(Self { client, session, keep: options.keep.clone() })
    }

    pub(in crate::cli) fn session(&self) -> Option<Session> {
        self.session.as_ref().map(|session| session.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    pub(in crate::cli) fn reader(&self) -> Reader {
        self.session().map_or_else(|| self.client.reader(), |session| Reader::clone(&session))
    }

    /// Calls `read`, and again after a new log-in if the session is lost.
    pub(in crate::cli) async fn read<T, F>(&self, read: impl Fn(Reader) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        match (read(self.reader()).await, &self.session) {
            (Err(error), Some(place)) if error.is_session_lost() => {
                let known = place.lock().unwrap_or_else(PoisonError::into_inner).player().clone();
                let Player { name, kind, .. } = known;
                let session = self.client.log_in(&name, kind).await?;
                // If it cannot be written, the next start logs in again.
                let login = KeptLogin::new(self.client.urls(), &session);
                let _ = self.keep.as_ref().map(|file| kept_logins::put(file, login));
                *place.lock().unwrap_or_else(PoisonError::into_inner) = session;
                read(self.reader()).await
            }
            (done, _) => done,
        }
    }

    /// Logs out, unless the login is kept.
    pub(in crate::cli) async fn leave(self) {
        if let Some(session) = self.session() {
            log_out_unless_kept(session, self.keep.as_deref()).await;
        }
    }
}

/// `text` in place of the error that the session is lost.
pub(in crate::cli) fn explain_lost(error: anyhow::Error, text: &str) -> anyhow::Error {
    if error.downcast_ref().is_some_and(ClientError::is_session_lost) { anyhow!("{text}") } else { error }
}

/// The error for a wrong or missing password.
pub(in crate::cli) fn asks_for_password() -> anyhow::Error {
    anyhow!("this room asks for a password; give the right one with --password")
}
