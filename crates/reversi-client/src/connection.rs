//! A connection to a server.

use std::time::Duration;

use tonic::{
    Request,
    metadata::{Ascii, MetadataValue},
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};

use super::{
    ClientError, Malformed, PlayerKind, Session,
    error::innermost,
    parse,
    session::{ADMIN, Bearer},
    settings::wire_count,
};
use crate::v1::{self, session_service_client::SessionServiceClient};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time without data after which a connection is pinged, and that for the answer: then it is closed, and the next call
/// opens another one. Together not longer than [`HEARTBEATS_MISSED`](super::stream::HEARTBEATS_MISSED) heartbeats.
const KEEP_ALIVE: Duration = Duration::from_secs(3);
/// The time for the answer to a call, or for the start of a stream.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to a server, for any number of players. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    channel: Channel,
    admin: Option<MetadataValue<Ascii>>,
}

/// The TLS certificates of a client. By default it trusts the system's authorities.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Certificates of the only trusted authorities, in PEM.
    pub authority: Option<Vec<u8>>,
    /// The client's own certificate chain and its key, both in PEM, for a server that requires one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Trust {
    fn config(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new();
        let config = match &self.authority {
            Some(authority) => config.ca_certificate(Certificate::from_pem(authority)),
            None => config.with_native_roots(),
        };
        match &self.identity {
            Some((chain, key)) => config.identity(Identity::from_pem(chain, key)),
            None => config,
        }
    }
}

impl Client {
    /// Connects to a server such as `http://127.0.0.1:50051`. A connection that breaks or falls silent later fails its
    /// calls and streams within seconds; the next ones open another connection.
    pub async fn connect(url: &str) -> Result<Self, ClientError> {
        Self::connect_trusting(url, &Trust::default()).await
    }

    /// Like [`Client::connect`], with the certificates for an `https` URL.
    pub async fn connect_trusting(url: &str, trust: &Trust) -> Result<Self, ClientError> {
        let endpoint = Endpoint::from_shared(url.to_owned())
            .ok()
            .filter(|endpoint| endpoint.uri().host().is_some())
            .ok_or_else(|| ClientError::Address(url.to_owned()))?;
        let endpoint = match endpoint.uri().scheme_str() {
            Some("http") => endpoint,
            Some("https") => {
                let secured = endpoint.tls_config(trust.config());
                secured.map_err(|error| ClientError::Certificates(innermost(&error)))?
            }
            _ => return Err(ClientError::Address(url.to_owned())),
        }
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .timeout(CALL_TIMEOUT)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true);
        let unreachable = |error| ClientError::Unreachable { url: url.to_owned(), cause: innermost(&error) };
        let channel = endpoint.connect().await.map_err(unreachable)?;
        Ok(Self { url: url.to_owned(), channel, admin: None })
    }

    /// Adds an administrator's rights to its sessions: to kick, close and abort anywhere, to see private rooms, to ban, and
    /// [`Session::log_out_player`]. `secret` is that of `reversi serve --admin-token`; the first call checks it.
    ///
    /// # Errors
    /// The secret is not a valid header value.
    pub fn as_admin(self, secret_text: &str) -> Result<Self, ClientError> {
        Ok(Self { admin: Some(secret(secret_text)?), ..self })
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The connection, for generated clients of other services, such as health.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Creates a player with a free name. Refused with `NAME_TAKEN` and `BAD_NAME`.
    pub async fn log_in(&self, name: &str, kind: PlayerKind) -> Result<Session, ClientError> {
        self.log_in_for_seats(name, kind, 1).await
    }

    /// Like [`Client::log_in`], for a bot that needs up to `seats` seats at a time.
    pub async fn log_in_for_seats(&self, name: &str, kind: PlayerKind, seats: u32) -> Result<Session, ClientError> {
        let request = v1::LogInRequest { display_name: name.to_owned(), kind: kind.into(), seats: wire_count(seats) };
        let mut request = Request::new(request);
        self.admin.iter().for_each(|admin| drop(request.metadata_mut().insert(ADMIN, admin.clone())));
        let answer = SessionServiceClient::new(self.channel.clone()).log_in(request).await?.into_inner();
        let player = parse::required(answer.player, "player")?.try_into()?;
        Ok(Session::new(self.channel.clone(), player, self.bearer(&answer.token)?))
    }

    /// Resumes the session of the player with this token. Refused with `TOKEN_INVALID`.
    pub async fn resume(&self, token: &str) -> Result<Session, ClientError> {
        Session::resume(self.channel.clone(), self.bearer(token)?).await
    }

    fn bearer(&self, token: &str) -> Result<Bearer, Malformed> {
        Ok(Bearer { player: secret(&format!("Bearer {token}"))?, admin: self.admin.clone() })
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
        assert!(matches!(error, ClientError::Unreachable { .. }) && error.is_transient(), "{error}");
    }
}
