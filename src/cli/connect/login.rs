//! Getting to a server and being somebody there.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{anyhow, bail};

use super::{server_address::Address, token_file};
use crate::{
    cli::random,
    client::{Client, ClientError, PlayerKind, Session},
};

/// How many made-up names are tried; two of a million meet rarely.
const NAMES_TRIED: u32 = 5;
/// Leaving politely is not worth waiting longer for.
const FAREWELL: Duration = Duration::from_secs(2);

/// Connects, or says how to get a server.
pub(in crate::cli) async fn connect(server: &Address) -> anyhow::Result<Client> {
    Client::connect_trusting(&server.url(), &server.trust()?).await.map_err(|error| match error {
        ClientError::Unreachable { url, cause } if cause.contains("certificate") => {
            anyhow!("the server at {url} is not to be trusted ({cause}); name its authority with --tls-ca FILE")
        }
        ClientError::Unreachable { url, cause } => {
            anyhow!("no server at {url} ({cause}); start one with `reversi serve`, or name another with --server URL")
        }
        other => other.into(),
    })
}

/// Logs in under this name, or under a made-up one that begins with `prefix`.
pub(in crate::cli) async fn log_in(
    client: &Client,
    name: Option<&str>,
    prefix: &str,
    kind: PlayerKind,
) -> anyhow::Result<Session> {
    if let Some(name) = name {
        return client.log_in(name, kind).await.map_err(|error| match error {
            error if error.is("NAME_TAKEN") => {
                anyhow!("somebody is already called `{name}`; choose another name with --name")
            }
            error if error.is("BAD_NAME") => anyhow!("{}", error.to_string().replace("display_name", "--name")),
            error => not_logged_in(client, error).context(format!("cannot log in as `{name}`")),
        });
    }
    for _ in 0..NAMES_TRIED {
        let name = format!("{prefix}-{:04x}", random::random() & 0xffff);
        match client.log_in(&name, kind).await {
            Err(error) if error.is("NAME_TAKEN") => {}
            done => return done.map_err(|error| not_logged_in(client, error).context("cannot log in")),
        }
    }
    bail!("no free name was found; choose one with --name")
}

/// Comes back as who is kept in the file, if there is one whom the server still knows; else logs in as [`log_in`] does,
/// and keeps that.
pub(in crate::cli) async fn enter(
    client: &Client,
    file: Option<&Path>,
    name: Option<&str>,
    prefix: &str,
    kind: PlayerKind,
) -> anyhow::Result<Session> {
    let Some(file) = file else { return log_in(client, name, prefix, kind).await };
    if let Some(token) = token_file::read(file)? {
        match client.resume(&token).await {
            Ok(session) if session.player().kind == kind => return Ok(session),
            Ok(session) => {
                let name = &session.player().name;
                bail!("{} keeps the login of {name}, who is of another kind; keep this one elsewhere", file.display())
            }
            Err(error) if error.is_session_lost() => {}
            Err(error) => return Err(not_logged_in(client, error).context("cannot come back")),
        }
    }
    let session = log_in(client, name, prefix, kind).await?;
    match token_file::write(file, session.token()) {
        Ok(()) => Ok(session),
        Err(error) => {
            log_out(session).await;
            Err(error)
        }
    }
}

/// Logs out, unless the login is kept.
pub(in crate::cli) async fn part(session: Session, file: Option<&Path>) {
    if file.is_none() {
        log_out(session).await;
    }
}

/// Whoever accepts connections, but does not answer the first call, is something else.
fn not_logged_in(client: &Client, error: ClientError) -> anyhow::Error {
    let strange = error.is_foreign();
    let error = anyhow!(error);
    if strange {
        return error.context(format!("what answers at {} is no Reversi server", client.url()));
    }
    error
}

/// Leaves every room and frees the name. Whether it succeeds matters to nobody who is leaving.
pub(in crate::cli) async fn log_out(session: Session) {
    let _ = tokio::time::timeout(FAREWELL, session.log_out()).await;
}

/// Somebody who only looks: when the server has forgotten them, they come in again.
#[derive(Clone)]
pub(in crate::cli) struct Visitor {
    client: Client,
    session: Arc<Mutex<Session>>,
    keep: Option<PathBuf>,
}

impl Visitor {
    /// Connects and logs in, as [`enter`] does.
    pub(in crate::cli) async fn enter(
        server: &Address,
        keep: Option<PathBuf>,
        name: Option<&str>,
        prefix: &str,
    ) -> anyhow::Result<Self> {
        let client = connect(server).await?;
        let session = enter(&client, keep.as_deref(), name, prefix, PlayerKind::Human).await?;
        Ok(Self { client, session: Arc::new(Mutex::new(session)), keep })
    }

    /// Who they are now.
    pub(in crate::cli) fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `look` sees, after coming in again if need be.
    pub(in crate::cli) async fn look<T, F>(&self, look: impl Fn(Session) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        match look(self.session()).await {
            Err(error) if error.is_session_lost() => {
                let name = self.session().player().name.clone();
                let session = self.client.log_in(&name, PlayerKind::Human).await?;
                // Without the file there is but a new login the next time.
                let _ = self.keep.as_ref().map(|file| token_file::write(file, session.token()));
                *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
                look(session).await
            }
            done => done,
        }
    }

    /// Leaves, politely.
    pub(in crate::cli) async fn leave(self) {
        part(self.session(), self.keep.as_deref()).await;
    }
}

/// A wrong or missing password, in the words of the command line.
pub(in crate::cli) fn asks_for_password() -> anyhow::Error {
    anyhow!("this room asks for a password; give the right one with --password")
}
