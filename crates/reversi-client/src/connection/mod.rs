//! A connection to a server, or to one of several that share their players.

mod address_lookup;
mod servers;
mod trust;

use std::sync::Arc;

use tonic::{
    Request,
    metadata::{Ascii, MetadataValue},
    transport::Channel,
};

use super::{
    ClientError, Malformed, PlayerKind, Session, parse,
    reader::{ADMIN, Bearer, Reader},
    settings::wire_count,
};
use crate::v1::{self, session_service_client::SessionServiceClient};
pub(crate) use servers::{ServerChannel, Servers, UsedServer};
pub use trust::Trust;

/// A connection to a server, for any number of players. Clones share it, and all go on to another server together.
#[derive(Clone, Debug)]
pub struct Client {
    servers: Arc<Servers>,
    admin: Option<MetadataValue<Ascii>>,
}

impl Client {
    /// Connects to a server such as `http://127.0.0.1:50051`. A connection that breaks or falls silent later fails its
    /// calls and streams within seconds; the next ones open another connection.
    ///
    /// Several servers that share their players are separated by commas: `http://a:50051,http://b:50051`. Then this
    /// connects to the first that serves, and calls and streams that follow a failure use the next server, with the
    /// same token. A host name with several addresses is as many servers.
    pub async fn connect(urls: &str) -> Result<Self, ClientError> {
        Self::connect_trusting(urls, &Trust::default()).await
    }

    /// Like [`Client::connect`], with the certificates for `https` URLs.
    pub async fn connect_trusting(urls: &str, trust: &Trust) -> Result<Self, ClientError> {
        Ok(Self { servers: Arc::new(Servers::connect(urls, trust).await?), admin: None })
    }

    /// Adds an administrator's rights to its sessions: to kick, close and abort anywhere, to see private rooms, to ban,
    /// and [`Session::log_out_player`]. `secret` is that of `reversi serve --admin-token`; the first call checks it.
    ///
    /// # Errors
    /// The secret is not a valid header value.
    pub fn as_admin(self, secret_text: &str) -> Result<Self, ClientError> {
        Ok(Self { admin: Some(secret(secret_text)?), ..self })
    }

    /// The URL of the server in use.
    #[must_use]
    pub fn url(&self) -> &str {
        self.servers.url()
    }

    /// The URLs of all its servers.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.servers.urls()
    }

    /// The connection to the server in use, for generated clients of other services, such as health.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.servers.channel().channel
    }

    /// Reads from the server without being a player.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader { bearer: Bearer::default(), servers: Arc::clone(&self.servers) }
    }

    /// Creates a player with a free name. Refused with `NAME_TAKEN` and `BAD_NAME`.
    pub async fn log_in(&self, name: &str, kind: PlayerKind) -> Result<Session, ClientError> {
        self.log_in_for_seats(name, kind, 1).await
    }

    /// Like [`Client::log_in`], for a bot that needs up to `seats` seats at a time.
    pub async fn log_in_for_seats(&self, name: &str, kind: PlayerKind, seats: u32) -> Result<Session, ClientError> {
        let (display_name, seats) = (name.to_owned(), wire_count(seats));
        let request = v1::LogInRequest { display_name, kind: kind.into(), seats, ..Default::default() };
        let mut request = Request::new(request);
        self.admin.iter().for_each(|admin| drop(request.metadata_mut().insert(ADMIN, admin.clone())));
        let answer = SessionServiceClient::new(self.servers.channel()).log_in(request).await?.into_inner();
        let player = parse::required(answer.player, "player")?.try_into()?;
        Ok(Session::new(Arc::clone(&self.servers), player, self.bearer(&answer.token)?))
    }

    /// Resumes the session of the player with this token. Refused with `TOKEN_INVALID`.
    pub async fn resume(&self, token: &str) -> Result<Session, ClientError> {
        Session::resume(Arc::clone(&self.servers), self.bearer(token)?).await
    }

    fn bearer(&self, token: &str) -> Result<Bearer, Malformed> {
        Ok(Bearer { player: Some(secret(&format!("Bearer {token}"))?), admin: self.admin.clone() })
    }
}

/// A header value that is not logged or compressed.
fn secret(text: &str) -> Result<MetadataValue<Ascii>, Malformed> {
    let mut value: MetadataValue<Ascii> =
        text.parse().map_err(|_| Malformed::new("token", "it does not fit into a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_invalid_address_is_refused() {
        for url in ["", "127.0.0.1:50051", "localhost", "ftp://x", "http://"] {
            assert!(matches!(Client::connect(url).await, Err(ClientError::Address(_))), "{url:?}");
        }
    }

    #[tokio::test]
    async fn invalid_certificates_are_refused() {
        let identity = Some((b"no chain".to_vec(), b"no key".to_vec()));
        let trust = Trust { authority: Some(b"".to_vec()), identity };
        let error = Client::connect_trusting("https://127.0.0.1:1", &trust).await.unwrap_err();
        assert!(matches!(error, ClientError::Certificates(_)) && !error.is_transient(), "{error}");
    }

    #[tokio::test]
    async fn an_address_without_a_server_is_unreachable() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let error = Client::connect(&url).await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable(_)) && error.is_transient(), "{error}");
    }
}
