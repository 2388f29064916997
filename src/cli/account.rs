//! Getting to a server and being somebody there.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};

use super::entropy;
use crate::client::{Client, ClientError, PlayerKind, ServerInfo, Session};

/// How many made-up names are tried; two of a million meet rarely.
const NAMES_TRIED: u32 = 5;
/// Leaving politely is not worth waiting longer for.
const FAREWELL: Duration = Duration::from_secs(2);

/// Connects, or says how to get a server.
pub(super) async fn connect(url: &str) -> anyhow::Result<Client> {
    Client::connect(url).await.map_err(|error| match error {
        ClientError::Unreachable { url, cause } => {
            anyhow!("no server at {url} ({cause}); start one with `reversi serve`, or name another with --server URL")
        }
        other => other.into(),
    })
}

/// Logs in under this name, or under a made-up one that begins with `prefix`.
pub(super) async fn log_in(
    client: &Client,
    name: Option<&str>,
    prefix: &str,
    kind: PlayerKind,
) -> anyhow::Result<Session> {
    if let Some(name) = name {
        return client.log_in(name, kind).await.map_err(|error| {
            if error.is("NAME_TAKEN") {
                anyhow!("somebody is already called `{name}`; choose another name with --name")
            } else {
                anyhow!(error).context(format!("cannot log in as `{name}`"))
            }
        });
    }
    for _ in 0..NAMES_TRIED {
        let name = format!("{prefix}-{:04x}", entropy::random() & 0xffff);
        match client.log_in(&name, kind).await {
            Err(error) if error.is("NAME_TAKEN") => {}
            done => return done.context("cannot log in"),
        }
    }
    bail!("no free name was found; choose one with --name")
}

/// Leaves every room and frees the name. Whether it succeeds matters to nobody who is leaving.
pub(super) async fn log_out(session: Session) {
    let _ = tokio::time::timeout(FAREWELL, session.log_out()).await;
}

/// Somebody who only looks: when the server has forgotten them, they come in again.
#[derive(Clone)]
pub(super) struct Visitor {
    client: Client,
    session: Arc<Mutex<Session>>,
}

impl Visitor {
    /// Connects and logs in, as [`log_in`] does.
    pub(super) async fn enter(server: &str, name: Option<&str>, prefix: &str) -> anyhow::Result<Self> {
        let client = connect(server).await?;
        let session = log_in(&client, name, prefix, PlayerKind::Human).await?;
        Ok(Self { client, session: Arc::new(Mutex::new(session)) })
    }

    /// Who they are now.
    pub(super) fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `look` sees, after coming in again if need be.
    pub(super) async fn look<T, F>(&self, look: impl Fn(Session) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        match look(self.session()).await {
            Err(error) if error.is_session_lost() => {
                let name = self.session().player().name.clone();
                let session = self.client.log_in(&name, PlayerKind::Human).await?;
                *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
                look(session).await
            }
            done => done,
        }
    }

    /// Leaves, politely.
    pub(super) async fn leave(self) {
        log_out(self.session()).await;
    }
}

/// The refusal of an AI, with those that there are.
pub(super) fn no_such_ai(error: ClientError, info: &ServerInfo) -> anyhow::Error {
    let kinds = info.ai_kinds.iter().map(|kind| format!("{} (level 1-{})", kind.kind, kind.levels));
    anyhow!("{error}; this server has {}", kinds.collect::<Vec<_>>().join(", "))
}
