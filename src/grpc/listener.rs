//! Takes in connections: as many as may be, those of each address counted, and over TLS where that is spoken.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};
use tokio_stream::Stream;

use super::{
    connection::{Connection, Wire},
    crowd::{Crowd, Place},
    tls::Tls,
};

/// How long the listener waits when there is no file descriptor or memory for another connection. Those that wait for it
/// are in the kernel's queue, and lose little.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that is listened on.
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) crowd: Arc<Crowd>,
    /// How long a connection may take to say what it wants.
    pub(super) patience: Duration,
}

impl Listener {
    /// The connections as they come. It never ends, and never fails.
    pub(super) fn incoming(self) -> impl Stream<Item = io::Result<Connection>> {
        let handshakes = JoinSet::new();
        futures_util::stream::unfold((self, handshakes), |(listener, mut handshakes)| async move {
            let connection = listener.next(&mut handshakes).await;
            Some((Ok(connection), (listener, handshakes)))
        })
    }

    /// Each handshake holds a place in the crowd, which bounds their number.
    async fn next(&self, handshakes: &mut JoinSet<Option<Connection>>) -> Connection {
        loop {
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, address)) => {
                        let Some(place) = self.place(address) else { continue };
                        let deadline = Instant::now() + self.patience;
                        match self.tls.clone() {
                            None => return Connection::new(Wire::Plain(prompt(stream)), place, deadline),
                            Some(tls) => drop(handshakes.spawn(shake_hands(tls, stream, (place, address), deadline))),
                        }
                    }
                    Err(error) => recover(&error).await,
                },
                Some(done) = handshakes.join_next() => if let Ok(Some(connection)) = done {
                    return connection;
                },
            }
        }
    }

    /// A place for a connection, which is closed at once when there is none.
    fn place(&self, address: SocketAddr) -> Option<Place> {
        let place = self.crowd.admit(address.ip());
        if place.is_none() {
            tracing::debug!(%address, "closed at once: there are as many connections as may be");
        }
        place
    }
}

async fn shake_hands(
    tls: Tls,
    stream: TcpStream,
    (place, address): (Place, SocketAddr),
    deadline: Instant,
) -> Option<Connection> {
    match timeout_at(deadline, tls.acceptor.accept(prompt(stream))).await {
        Ok(Ok(stream)) => Some(Connection::new(Wire::Tls(Box::new(stream)), place, deadline)),
        Ok(Err(error)) => {
            tracing::debug!(%error, %address, "closed: no TLS was agreed on");
            None
        }
        Err(_) => None,
    }
}

/// Small messages are not held back. A socket that cannot be told so works all the same.
fn prompt(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}

/// One connection that broke before it was accepted concerns no other. What else goes wrong, such as a lack of file
/// descriptors, passes when connections end.
async fn recover(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        return;
    }
    tracing::warn!(%error, "no connection can be taken in for the moment");
    sleep(PAUSE).await;
}
