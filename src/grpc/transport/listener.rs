//! Takes in connections: as many as may be, those of each address counted, and over TLS where that is spoken.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinSet, yield_now},
    time::{Instant, sleep, sleep_until, timeout_at},
};
use tokio_stream::Stream;

use super::{
    connection::{Connection, Wire},
    connection_limit::{Crowd, Place},
    tls::Tls,
};

/// How long the listener waits when there is no file descriptor or memory for another connection. Those that wait for it
/// are in the kernel's queue, and lose little.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that is listened on.
pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) tls: Option<Tls>,
    pub(crate) crowd: Arc<Crowd>,
    /// How long a connection may take to say what it wants.
    pub(crate) patience: Duration,
}

impl Listener {
    /// The connections as they come. It never ends, and never fails.
    pub(crate) fn incoming(self) -> impl Stream<Item = io::Result<Connection>> {
        let openings = JoinSet::new();
        futures_util::stream::unfold((self, openings), |(listener, mut openings)| async move {
            let connection = listener.next(&mut openings).await;
            Some((Ok(connection), (listener, openings)))
        })
    }

    /// Each opening holds a place in the crowd, which bounds their number.
    async fn next(&self, openings: &mut JoinSet<Option<Connection>>) -> Connection {
        loop {
            // Hundreds may come, or begin to speak, at once, and what a new connection says costs most of all. Between one
            // and the next those have their turns whose messages have arrived.
            yield_now().await;
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, address)) => {
                        let Some(place) = self.place(address) else { continue };
                        let deadline = Instant::now() + self.patience;
                        openings.spawn(open(self.tls.clone(), stream, (place, address), deadline));
                    }
                    Err(error) => recover(&error).await,
                },
                Some(done) = openings.join_next() => if let Ok(Some(connection)) = done {
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

/// Waits until the other side speaks and its turn has come; over TLS also until both sides have agreed on it.
async fn open(
    tls: Option<Tls>,
    stream: TcpStream,
    (place, address): (Place, SocketAddr),
    deadline: Instant,
) -> Option<Connection> {
    let opened = timeout_at(deadline, async {
        stream.readable().await?;
        let turn = place.address().turn_of_opening(Instant::now());
        sleep_until(turn.at()).await;
        turn.is_used();
        if tls.is_none() && !speaks_http(&stream).await? {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let stream = prompt(stream);
        Ok(match tls {
            None => Wire::Plain(stream),
            Some(tls) => Wire::Tls(Box::new(tls.acceptor.accept(stream).await?)),
        })
    });
    let error: io::Error = match opened.await {
        Ok(Ok(wire)) => return Some(Connection::new(wire, place, deadline)),
        Ok(Err(error)) => error,
        Err(late) => late.into(),
    };
    tracing::debug!(%error, %address, "closed before anything was asked for");
    None
}

/// Whether it begins as HTTP does: with the name of a method, or the preface of HTTP/2, which looks like one. It is looked
/// at before anything is set up for it.
async fn speaks_http(stream: &TcpStream) -> io::Result<bool> {
    let mut said = [0; METHOD];
    let length = stream.peek(&mut said).await?;
    Ok(length > 0 && said[..length].iter().all(u8::is_ascii_uppercase))
}

/// Letters of the shortest method.
const METHOD: usize = 3;

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
