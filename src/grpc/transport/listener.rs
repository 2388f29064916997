//! Accepts connections up to the limits, and performs their TLS handshakes.

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use tokio::{
    sync::watch::Receiver,
    task::{JoinSet, yield_now},
    time::{Instant, sleep, sleep_until, timeout_at},
};
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tokio_util::either::Either;

use super::{
    connection::{Connection, Http1Input},
    connection_limit::{ConnectionLimit, ConnectionPermit, ConnectionSlot},
    http2::Http2,
    period_offset::PeriodOffsets,
    server_socket::{ClientStream, PeerAddress, ServerSocket, peek, set_nodelay},
    tls::Tls,
    trusted_proxy::{ProxiedPeer, TrustedProxies, read_proxy_header},
};
use crate::runtime::{Limits, server_metrics};

/// Pause after an error such as no free file descriptor; new connections wait in the kernel's queue.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection before HTTP.
pub(crate) type Socket = Either<ClientStream, Box<TlsStream<ClientStream>>>;

pub(crate) struct Listener {
    pub(crate) socket: ServerSocket,
    pub(crate) tls: Option<Tls>,
    pub(crate) proxies: TrustedProxies,
    pub(crate) connections: Arc<ConnectionLimit>,
    pub(crate) limits: Limits,
    pub(crate) offsets: PeriodOffsets,
    /// Whether the server serves clients.
    pub(crate) in_service: Receiver<bool>,
}

impl Listener {
    /// The connections that are ready for HTTP. The stream never ends and has no errors.
    pub(crate) fn incoming(self) -> impl Stream<Item = io::Result<Connection<Socket>>> {
        let openings = JoinSet::new();
        futures_util::stream::unfold((self, openings), |(listener, mut openings)| async move {
            let connection = listener.next(&mut openings).await;
            Some((Ok(connection), (listener, openings)))
        })
    }

    /// The next connection. Connections that are being opened hold permits, which bound their number.
    async fn next(&self, openings: &mut JoinSet<Option<Connection<Socket>>>) -> Connection<Socket> {
        loop {
            // Yields to connections with new messages: hundreds may arrive at once, and first requests cost the most.
            yield_now().await;
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let Some(admitted) = self.admit(peer) else { continue };
                        let deadline = Instant::now() + self.limits.opening;
                        let http2 = Http2::new(&self.limits, self.offsets.next(), self.in_service.clone());
                        let limits = (Http1Input::new(&self.limits), http2);
                        openings.spawn(open(self.tls.clone(), (stream, peer), admitted, deadline, limits));
                    }
                    Err(error) => wait_after(&error).await,
                },
                Some(done) = openings.join_next() => if let Ok(Some(connection)) = done {
                    return connection;
                },
            }
        }
    }

    fn admit(&self, peer: PeerAddress) -> Option<Admitted> {
        let slot = self.connections.admit();
        let admitted = if self.proxies.trusts(peer) {
            slot.map(|slot| Admitted::Proxy(slot, peer.ip()))
        } else {
            slot.and_then(|slot| slot.of_client(peer.ip())).map(Admitted::Client)
        };
        if admitted.is_none() {
            note_too_many(peer);
        }
        admitted
    }
}

/// Notes that a connection is closed because of the limits on open ones.
pub(super) fn note_too_many(peer: PeerAddress) {
    server_metrics::connection_closed("too_many");
    tracing::debug!(?peer, "connection closed: too many are open");
}

/// An accepted connection, counted as far as its client is known before its first bytes.
enum Admitted {
    Client(ConnectionPermit),
    /// Of a trusted proxy with this address. A PROXY header may still name a client.
    Proxy(ConnectionSlot, IpAddr),
}

impl Admitted {
    /// Reads a trusted proxy's PROXY header, and counts the connection at the client's address; fails at the limit.
    async fn identify(self, stream: &mut ClientStream) -> io::Result<ConnectionPermit> {
        let (slot, proxy) = match self {
            Self::Client(permit) => return Ok(permit),
            Self::Proxy(slot, proxy) => (slot, proxy),
        };
        let client = match read_proxy_header(stream).await? {
            ProxiedPeer::Proxy => return Ok(slot.of_proxy(proxy)),
            ProxiedPeer::Client(client) => client,
            ProxiedPeer::UnknownClient => proxy,
        };
        slot.of_client(client).ok_or_else(|| io::Error::other("too many connections of the client"))
    }
}

/// Waits for a connection's first bytes and its address's rate limit, then performs the TLS handshake. None if it
/// fails.
async fn open(
    tls: Option<Tls>,
    (mut stream, peer): (ClientStream, PeerAddress),
    admitted: Admitted,
    deadline: Instant,
    inputs: (Http1Input, Http2),
) -> Option<Connection<Socket>> {
    let opened = timeout_at(deadline, async {
        let mut first = [0; SHORTEST_METHOD];
        peek(&stream, &mut first).await?;
        let permit = admitted.identify(&mut stream).await?;
        if !permit.is_of_proxy() {
            let turn = permit.address.opening_slot(Instant::now());
            sleep_until(turn.start).await;
            turn.mark_used();
        }
        let length = peek(&stream, &mut first).await?;
        if tls.is_none() && !begins_like_http(&first[..length]) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        set_nodelay(&stream);
        let socket = match tls {
            None => Socket::Left(stream),
            Some(tls) => Socket::Right(Box::new(tls.acceptor().accept(stream).await?)),
        };
        Ok(Connection::new(socket, peer, permit, deadline, inputs))
    });
    let error: io::Error = match opened.await {
        Ok(Ok(connection)) => return Some(connection),
        Ok(Err(error)) => error,
        Err(late) => late.into(),
    };
    tracing::debug!(%error, "connection closed before its first request");
    None
}

/// The length of GET.
const SHORTEST_METHOD: usize = 3;

/// True if the first bytes can be a method's name or the HTTP/2 preface: capitals. Checked before any allocation.
fn begins_like_http(first: &[u8]) -> bool {
    !first.is_empty() && first.iter().all(u8::is_ascii_uppercase)
}

/// Waits [`PAUSE`] after an error of `accept`, but not if only the connection failed.
pub(crate) async fn wait_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        return;
    }
    tracing::warn!(%error, "cannot accept connections for the moment");
    sleep(PAUSE).await;
}
