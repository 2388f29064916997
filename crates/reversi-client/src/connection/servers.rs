//! The servers of a client, and the one in use.
//!
//! They share players and rooms, so that a token is valid at each, and any may be used. A client stays at one, and goes
//! on to the next when
//!
//! - the connection breaks, or none can be made;
//! - a stream is silent, or ends with `Closing` and a time after which to open it again;
//! - two calls in a row are refused with `UNAVAILABLE`.
//!
//! Each address of a host name counts as a server. After the last comes the first. A server without another is not
//! left.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::client::legacy::connect::HttpConnector;
use tonic::{
    Code, Status,
    body::Body,
    codegen::{BoxFuture, Service, http},
    transport::{Channel, Endpoint, Error},
};

use super::{address_lookup::AddressLookup, trust::Trust};
use crate::{
    error::{ClientError, Unreachable, innermost},
    v1::{self, lobby_service_client::LobbyServiceClient},
};

/// The time without data after which a connection is pinged, and that for the answer: then it is closed, and the next
/// call opens another one. Together not longer than [`HEARTBEATS_MISSED`](crate::HEARTBEATS_MISSED) heartbeats.
const KEEP_ALIVE: Duration = Duration::from_secs(3);
/// The time for the answer to a call, or for the start of a stream.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter if there are other servers: the clock of a player runs.
const CONNECT_TIMEOUT_OF_SEVERAL: Duration = Duration::from_secs(3);

/// A server that is only busy for a moment is not left.
const REFUSALS: u32 = 2;

/// The list of servers, and the one in use.
pub(crate) struct Servers {
    list: Vec<Server>,
    in_use: Mutex<InUse>,
}

struct Server {
    url: String,
    endpoint: Endpoint,
    connect_timeout: Duration,
    /// The number of addresses of its host at the last connection; 1 before the first.
    addresses: Arc<AtomicUsize>,
}

struct InUse {
    /// Counts through the list, and with each round through the addresses of its hosts.
    turn: usize,
    channel: Channel,
    /// The number of calls in a row that were refused with `UNAVAILABLE`.
    refusals: u32,
}

impl Servers {
    /// Connects to the first of these servers, separated by commas, that can be reached. Of several, it must also
    /// answer a call: those that drain, or stand by, are passed over.
    pub(super) async fn connect(urls: &str, trust: &Trust) -> Result<Self, ClientError> {
        let urls: Vec<&str> = urls.split(',').map(str::trim).collect();
        let timeout = if urls.len() > 1 { CONNECT_TIMEOUT_OF_SEVERAL } else { CONNECT_TIMEOUT };
        let list = urls.into_iter().map(|url| Server::new(url, trust, timeout)).collect::<Result<Vec<_>, _>>()?;
        let (turn, channel) = first_that_serves(&list).await.map_err(ClientError::Unreachable)?;
        Ok(Self { list, in_use: Mutex::new(InUse { turn, channel, refusals: 0 }) })
    }

    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|server| server.url.as_str())
    }

    /// The URL of the server in use.
    pub(super) fn url(&self) -> &str {
        self.url_at(self.in_use().turn)
    }

    fn url_at(&self, turn: usize) -> &str {
        &self.list[turn % self.list.len()].url
    }

    /// A channel to the server that is now in use. Each call and stream takes a new one.
    pub(crate) fn channel(self: &Arc<Self>) -> ServerChannel {
        let in_use = self.in_use();
        let server = UsedServer { servers: Arc::clone(self), turn: in_use.turn };
        ServerChannel { channel: in_use.channel.clone(), server }
    }

    fn in_use(&self) -> MutexGuard<'_, InUse> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.urls()).finish()
    }
}

/// A server, as long as it is the one in use.
#[derive(Clone, Debug)]
pub(crate) struct UsedServer {
    servers: Arc<Servers>,
    turn: usize,
}

impl UsedServer {
    /// Notes that a stream failed. Returns the error with the names of this server and the next one.
    pub(crate) fn stream_failed(&self, error: ClientError) -> ClientError {
        if !error.is_transient() {
            return error;
        }
        match (error, self.leave()) {
            (ClientError::Broken(cause), Some(next)) => ClientError::Broken(self.named(&cause, next)),
            (error, _) => error,
        }
    }

    /// Notes that the server ends a stream, and after which time it may be opened there again.
    pub(crate) fn stream_closing(&self, retry_after: Option<Duration>) {
        if retry_after.is_some() {
            self.leave();
        }
    }

    fn call_failed(&self, error: Error) -> Status {
        let status = Status::from_error(error.into());
        match self.leave() {
            Some(next) => Status::new(status.code(), self.named(&innermost(&status), next)),
            None => status,
        }
    }

    fn answered(&self, is_refused: bool) {
        let mut in_use = self.servers.in_use();
        if in_use.turn != self.turn {
            return;
        }
        in_use.refusals = if is_refused { in_use.refusals.saturating_add(1) } else { 0 };
        let is_failing = in_use.refusals >= REFUSALS;
        drop(in_use);
        if is_failing {
            self.leave();
        }
    }

    fn named(&self, cause: &str, next: &str) -> String {
        format!("{cause} (at {}, next {next})", self.servers.url_at(self.turn))
    }

    /// Goes on to the next server, if another user of this one has not. Returns the one then in use; `None` if there is
    /// no other.
    fn leave(&self) -> Option<&str> {
        let list = &self.servers.list;
        if !has_several(list) {
            return None;
        }
        let mut in_use = self.servers.in_use();
        if in_use.turn == self.turn {
            let turn = self.turn.wrapping_add(1);
            let channel = list[turn % list.len()].connect_later(turn / list.len());
            *in_use = InUse { turn, channel, refusals: 0 };
        }
        Some(self.servers.url_at(in_use.turn))
    }
}

/// A channel that notes failures of its server. Answers have their [`UsedServer`] as an extension.
#[derive(Clone, Debug)]
pub(crate) struct ServerChannel {
    pub(super) channel: Channel,
    server: UsedServer,
}

impl Service<http::Request<Body>> for ServerChannel {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = BoxFuture<Self::Response, Status>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.channel.poll_ready(cx).map_err(|error| self.server.call_failed(error))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (call, server) = (self.channel.call(request), self.server.clone());
        Box::pin(async move {
            let mut response = call.await.map_err(|error| server.call_failed(error))?;
            server.answered(is_unavailable(&response));
            response.extensions_mut().insert(server);
            Ok(response)
        })
    }
}

/// Whether the server, or a proxy before it, has refused the call.
fn is_unavailable<T>(response: &http::Response<T>) -> bool {
    let refusal = Status::from_header_map(response.headers());
    refusal.is_some_and(|status| status.code() == Code::Unavailable) || response.status().is_server_error()
}

impl Server {
    fn new(url: &str, trust: &Trust, connect_timeout: Duration) -> Result<Self, ClientError> {
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
        // Also bounds the handshake of TLS.
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .timeout(CALL_TIMEOUT)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true);
        Ok(Self { url: url.to_owned(), endpoint, connect_timeout, addresses: Arc::new(AtomicUsize::new(1)) })
    }

    fn addresses(&self) -> usize {
        self.addresses.load(Ordering::Relaxed)
    }

    /// Connects to one of its addresses, the first of which depends on `round`.
    async fn connect(&self, round: usize) -> Result<Channel, Error> {
        match self.connector(round) {
            Some(connector) => self.endpoint.connect_with_connector(connector).await,
            None => self.endpoint.connect().await,
        }
    }

    /// As [`Self::connect`], with the first call.
    fn connect_later(&self, round: usize) -> Channel {
        match self.connector(round) {
            Some(connector) => self.endpoint.connect_with_connector_lazy(connector),
            None => self.endpoint.connect_lazy(),
        }
    }

    /// `None` for a UNIX socket.
    fn connector(&self, round: usize) -> Option<HttpConnector<AddressLookup>> {
        if self.url.starts_with("unix:") {
            return None;
        }
        let lookup = AddressLookup { round, found: Arc::clone(&self.addresses) };
        let mut connector = HttpConnector::new_with_resolver(lookup);
        connector.enforce_http(false);
        connector.set_nodelay(true);
        // For all addresses together.
        connector.set_connect_timeout(Some(self.connect_timeout));
        Some(connector)
    }
}

fn has_several(list: &[Server]) -> bool {
    list.len() > 1 || list.iter().any(|server| server.addresses() > 1)
}

/// The turn of the first server that serves, and a connection to it; or what failed at each.
async fn first_that_serves(list: &[Server]) -> Result<(usize, Channel), Vec<Unreachable>> {
    let (mut tried, mut reachable) = (Vec::new(), None);
    for (index, server) in list.iter().enumerate() {
        for round in 0.. {
            let failed = |cause| Unreachable { url: server.url.clone(), cause };
            let channel = match server.connect(round).await {
                Ok(channel) => channel,
                Err(error) => {
                    // None of its addresses can be reached.
                    tried.push(failed(innermost(&error)));
                    break;
                }
            };
            let refusal = if has_several(list) { refusal_of(channel.clone()).await } else { None };
            let found = (index + round * list.len(), channel);
            let Some(refusal) = refusal else { return Ok(found) };
            tried.push(failed(refusal.to_string()));
            reachable.get_or_insert(found);
            if round + 1 >= server.addresses() {
                break;
            }
        }
    }
    // With one name in the list, an address that refused is used all the same: the first call returns the refusal.
    reachable.filter(|_| list.len() == 1).ok_or(tried)
}

/// Why the server cannot serve now.
async fn refusal_of(channel: Channel) -> Option<ClientError> {
    let answer = LobbyServiceClient::new(channel).get_server_info(v1::GetServerInfoRequest {}).await;
    answer.err().map(ClientError::from).filter(ClientError::is_transient)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list without a connection: the first call connects.
    fn servers(urls: &[&str]) -> Arc<Servers> {
        let server = |url: &&str| Server::new(url, &Trust::default(), CONNECT_TIMEOUT).unwrap();
        let list: Vec<_> = urls.iter().map(server).collect();
        let channel = list[0].connect_later(0);
        Arc::new(Servers { list, in_use: Mutex::new(InUse { turn: 0, channel, refusals: 0 }) })
    }

    fn broken() -> ClientError {
        ClientError::Broken("gone".into())
    }

    #[tokio::test]
    async fn a_failure_leads_to_the_next_server_once() {
        let servers = servers(&["http://a:1", "http://b:2", "http://c:3"]);
        let (first, same) = (servers.channel().server, servers.channel().server);
        let error = first.stream_failed(broken());
        assert!(
            matches!(&error, ClientError::Broken(cause) if cause == "gone (at http://a:1, next http://b:2)"),
            "{error}"
        );
        same.stream_failed(broken());
        assert_eq!(servers.url(), "http://b:2");
        for next in ["http://c:3", "http://a:1"] {
            servers.channel().server.stream_failed(broken());
            assert_eq!(servers.url(), next);
        }
        servers.channel().server.stream_failed(ClientError::Address("wrong".into()));
        assert_eq!(servers.url(), "http://a:1", "it would fail at the next one as well");
    }

    #[tokio::test]
    async fn two_refusals_in_a_row_lead_to_the_next_server() {
        let servers = servers(&["http://a:1", "http://b:2"]);
        let at_first = servers.channel().server;
        for (is_refused, url) in
            [(true, "http://a:1"), (false, "http://a:1"), (true, "http://a:1"), (true, "http://b:2")]
        {
            at_first.answered(is_refused);
            assert_eq!(servers.url(), url);
        }
        for _ in 0..REFUSALS {
            at_first.answered(true);
        }
        assert_eq!(servers.url(), "http://b:2", "they were refused by the server that was left");
    }

    #[test]
    fn refusals_of_servers_and_of_proxies_are_seen() {
        let answer = |code: u16, grpc: &str| {
            http::Response::builder().status(code).header("grpc-status", grpc).body(()).unwrap()
        };
        assert!(is_unavailable(&answer(200, "14")) && !is_unavailable(&answer(200, "8")));
        assert!(is_unavailable(&http::Response::builder().status(503).body(()).unwrap()));
        assert!(!is_unavailable(&http::Response::new(())));
    }

    #[tokio::test]
    async fn a_stream_that_may_be_opened_again_is_opened_at_the_next_server() {
        let servers = servers(&["http://a:1", "http://b:2"]);
        for (retry_after, url) in [(None, "http://a:1"), (Some(Duration::ZERO), "http://b:2")] {
            servers.channel().server.stream_closing(retry_after);
            assert_eq!(servers.url(), url);
        }
    }

    #[tokio::test]
    async fn a_server_without_another_is_not_left() {
        let servers = servers(&["http://a:1"]);
        let server = servers.channel().server;
        assert_eq!(server.leave(), None);
        assert!(matches!(server.stream_failed(broken()), ClientError::Broken(cause) if cause == "gone"));
        assert_eq!(servers.in_use().turn, 0);
        // As after a connection to a name with two addresses.
        servers.list[0].addresses.store(2, Ordering::Relaxed);
        assert_eq!(server.leave(), Some("http://a:1"));
        assert_eq!(servers.in_use().turn, 1);
    }

    #[tokio::test]
    async fn an_error_names_each_server_that_was_tried() {
        let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let urls = listeners.map(|listener| format!("http://{}", listener.local_addr().unwrap()));
        let error = Servers::connect(&urls.join(", "), &Trust::default()).await.unwrap_err().to_string();
        let [first, second] = urls;
        assert!(error.starts_with(&format!("no server at {first}: ")), "{error}");
        assert!(error.contains(&format!(", nor at {second}: ")), "{error}");
        assert!(matches!(Servers::connect("http://a:1,", &Trust::default()).await, Err(ClientError::Address(_))));
    }
}
