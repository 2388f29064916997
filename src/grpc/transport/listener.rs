//! Accepts connections up to the limits, and performs their TLS handshakes.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinSet, yield_now},
    time::{Instant, sleep, sleep_until, timeout_at},
};
use tokio_stream::Stream;

use super::{
    connection::{Connection, Socket},
    connection_limit::{ConnectionLimit, ConnectionPermit},
    tls::Tls,
};

/// Pause when no file descriptor or memory is left; new connections wait in the kernel's queue.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) tls: Option<Tls>,
    pub(crate) connections: Arc<ConnectionLimit>,
    /// Maximum time from connecting to the complete head of the first request.
    pub(crate) opening: Duration,
}

impl Listener {
    /// The connections that are open for HTTP. The stream never ends and has no errors.
    pub(crate) fn incoming(self) -> impl Stream<Item = io::Result<Connection>> {
        let openings = JoinSet::new();
        futures_util::stream::unfold((self, openings), |(listener, mut openings)| async move {
            let connection = listener.next(&mut openings).await;
            Some((Ok(connection), (listener, openings)))
        })
    }

    /// The next connection. Connections that are being opened hold permits, which bound their number.
    async fn next(&self, openings: &mut JoinSet<Option<Connection>>) -> Connection {
        loop {
            // Yields to connections with new messages: hundreds may arrive at once, and first requests cost the most.
            yield_now().await;
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, address)) => {
                        let Some(permit) = self.admit(address) else { continue };
                        let deadline = Instant::now() + self.opening;
                        openings.spawn(open(self.tls.clone(), stream, (permit, address), deadline));
                    }
                    Err(error) => wait_after(&error).await,
                },
                Some(done) = openings.join_next() => if let Ok(Some(connection)) = done {
                    return connection;
                },
            }
        }
    }

    fn admit(&self, address: SocketAddr) -> Option<ConnectionPermit> {
        let permit = self.connections.admit(address.ip());
        if permit.is_none() {
            tracing::debug!(%address, "connection closed: too many are open");
        }
        permit
    }
}

/// Waits for the first bytes of a connection and for the rate limit of its address, then performs the TLS handshake.
async fn open(
    tls: Option<Tls>,
    stream: TcpStream,
    (permit, address): (ConnectionPermit, SocketAddr),
    deadline: Instant,
) -> Option<Connection> {
    let opened = timeout_at(deadline, async {
        stream.readable().await?;
        let turn = permit.taken.address.opening_slot(Instant::now());
        sleep_until(turn.start).await;
        turn.mark_used();
        if tls.is_none() && !begins_like_http(&stream).await? {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Small messages are sent immediately. A socket without this option works, too.
        let _ = stream.set_nodelay(true);
        Ok(match tls {
            None => Socket::Left(stream),
            Some(tls) => Socket::Right(Box::new(tls.acceptor.accept(stream).await?)),
        })
    });
    let error: io::Error = match opened.await {
        Ok(Ok(socket)) => return Some(Connection::new(socket, permit, deadline)),
        Ok(Err(error)) => error,
        Err(late) => late.into(),
    };
    tracing::debug!(%error, %address, "connection closed before its first request");
    None
}

/// Whether the first bytes can be a method's name or the HTTP/2 preface (capitals). Checked before any allocation.
async fn begins_like_http(stream: &TcpStream) -> io::Result<bool> {
    // As long as the shortest method, GET.
    let mut first = [0; 3];
    let length = stream.peek(&mut first).await?;
    Ok(length > 0 && first[..length].iter().all(u8::is_ascii_uppercase))
}

/// Waits after an error of `accept`, such as missing file descriptors; not for a connection that was reset meanwhile.
async fn wait_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        return;
    }
    tracing::warn!(%error, "cannot accept connections for the moment");
    sleep(PAUSE).await;
}
